// Keyboard shortcuts. Single keys work outside fields, menus, and dialogs, and can be switched off (WCAG 2.1.4).

import { act, DOING, menu } from "./actions.js";
import { scrollPanes } from "./comparing.js";
import { $, $$ } from "./dom.js";
import { go, next } from "./going.js";
import { answer, grade, step } from "./ordering.js";
import { keep, kept } from "./storage.js";

const SWITCH = "webjudge:single-keys";
// Elements that take text; radio buttons take arrows and the space bar only.
const FIELD = "textarea, select, input:not([type=radio], [type=checkbox])";
const INSIDE = `dialog, .menu, ${FIELD}`;

let keysAreOn = kept(SWITCH) !== "off";

/** The solution that a key acts on: the focused row's, else the open one. */
const labelAt = (page) => document.activeElement.closest("#ladder .chip")?.dataset.label ?? page.current;

const SINGLE = {
  j: (page) => go(page, 1),
  k: (page) => go(page, -1),
  n: next,
  c: (page) => act(page, "place", labelAt(page), "key"),
  p: DOING.problem,
  "?": DOING.help,
  ".": (page) => menu(page, labelAt(page)),
};
const SINGLE_COMPARING = { p: DOING.problem, s: DOING.together, "?": DOING.help, Backspace: DOING.back };
const SIDES = { ArrowLeft: "[data-side=left]", ArrowRight: "[data-side=right]", "=": "[data-verdict=equal]" };
const PANES = ["ArrowUp", "ArrowDown", "PageUp", "PageDown"];
const MOVES = { ArrowUp: "better", ArrowDown: "worse" };

export function listen(page) {
  $("#single-keys").checked = keysAreOn;
  $("#single-keys").addEventListener("change", ({ target }) => {
    keysAreOn = target.checked;
    keep(SWITCH, keysAreOn ? "on" : "off");
  });
  document.addEventListener("keydown", (event) => {
    if ($("dialog[open]") || document.body.matches(".is-dragging") || event.defaultPrevented) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && !event.altKey && (key === "z" || key === "y")) {
      if (event.target.matches(FIELD)) return;
      if (!event.repeat) step(page, key === "y" || event.shiftKey ? "redo" : "undo");
    } else if (isCommand || event.target.closest(INSIDE)) return;
    else if (!(page.isComparing ? whileComparing : otherwise)(page, key, event)) return;
    event.preventDefault();
  });
}

/** Handle keys during a comparison; returns whether the key was handled. */
function whileComparing(page, key, { altKey, repeat, target }) {
  if (altKey) return false;
  if (key === "Escape") DOING.stop(page);
  else if (PANES.includes(key) && target.matches("#compare-title, [data-verdict]")) scrollPanes(page, key);
  else if (repeat || !keysAreOn) return false;
  else if (key in SINGLE_COMPARING) SINGLE_COMPARING[key](page);
  // Arrows scroll a focused text.
  else if (key in SIDES && (key === "=" || !target.closest(".pane .body"))) {
    answer(page, $(SIDES[key]).dataset.verdict);
  } else return false;
  return true;
}

function otherwise(page, key, { altKey, repeat, target }) {
  const row = target.closest("#ladder .open-it, #ladder .more");
  const isSingle = keysAreOn && !repeat && !altKey;
  if (altKey && key in MOVES && labelAt(page)) act(page, MOVES[key], labelAt(page), "key");
  else if (!altKey && key in MOVES && row) goToRow(page, row, key === "ArrowDown" ? 1 : -1);
  else if (!altKey && key === "Escape" && page.isSheetOpen) {
    page.set({ isSheetOpen: false });
    $("#sheet-toggle").focus();
  } else if (isSingle && key in page.data.grades) grade(page, labelAt(page), key, "key");
  else if (isSingle && key in SINGLE) SINGLE[key](page);
  else return false;
  return true;
}

/** Move between rows of the ladder and their menus. */
function goToRow(page, row, by) {
  const rows = $$("#ladder .open-it");
  const there = rows[rows.indexOf($(".open-it", row.closest(".chip"))) + by];
  if (!there) return;
  page.set({ row: there.dataset.open });
  there.focus();
}

/** On a phone, close the ladder's sheet on a touch or focus outside it. */
export function closeWhenLeft(page) {
  const look = (element) => {
    const isOutside = element && !element.closest("#ladder, .menu, dialog, .toast");
    if (isOutside && page.isSheetOpen) page.set({ isSheetOpen: false });
  };
  addEventListener("pointerdown", ({ target }) => look(target));
  $("#ladder").addEventListener("focusout", ({ relatedTarget }) => look(relatedTarget));
}
