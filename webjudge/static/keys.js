// What keys do. Single keys work outside fields, menus, and dialogs, and can be switched off (WCAG 2.1.4).

import { $ } from "./dom.js";
import { scrollPanes } from "./comparing.js";
import { openSheet, rowBeside } from "./ladder.js";

const SWITCH = "webjudge:single-keys";
// Where keys write; a choice takes arrows and the space bar only.
const FIELD = "textarea, select, input:not([type=radio], [type=checkbox])";
const INSIDE = `dialog, .menu, ${FIELD}`;

/** Whether single keys are switched on; remembered in this browser. */
export function singleKeys() {
  try {
    return localStorage.getItem(SWITCH) !== "off";
  } catch {
    return true;
  }
}

export function switchKeys(isOn) {
  try {
    localStorage.setItem(SWITCH, isOn ? "on" : "off");
  } catch {
    // Where nothing can be kept, they stay as they are until the page is left.
  }
  keysAreOn = isOn;
}

let keysAreOn = singleKeys();

const SINGLE = {
  j: (app) => app.go(1),
  k: (app) => app.go(-1),
  n: (app) => app.next(),
  c: (app) => app.act("place", labelAt(app), "key"),
  p: (app) => app.doing.problem(),
  s: (app) => { if (app.isComparing) app.doing.together(); },
  "?": (app) => app.doing.help(),
  ".": (app) => app.menu(labelAt(app)),
};

/** The solution that a key is about: that of the row with the focus, else the one in hand. */
const labelAt = (app) => document.activeElement.closest("#ladder .chip")?.dataset.label ?? app.current;

/** Let the keyboard work. */
export function listen(app) {
  document.addEventListener("keydown", (event) => {
    if ($("dialog[open]") || document.body.matches(".is-dragging") || event.defaultPrevented) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && !event.altKey && (key === "z" || key === "y")) {
      if (event.target.matches(FIELD)) return;
      if (!event.repeat) app.step(key === "y" || event.shiftKey ? "redo" : "undo");
    } else if (isCommand || event.target.closest(INSIDE)) return;
    else if (!(app.isComparing ? whileComparing : otherwise)(app, key, event)) return;
    event.preventDefault();
  });
}

/** Keys while two are compared; gives whether the key was one of them. */
function whileComparing(app, key, event) {
  if (event.altKey) return false;
  if (key === "Escape") app.doing.stop();
  else if (key in PANES && event.target.matches("#compare-title, [data-verdict]")) scrollPanes(app, key);
  else if (event.repeat || !keysAreOn) return false;
  else if (key === "Backspace") app.doing.back();
  else if (key in SIDES || key === "=") {
    // In a text that has the focus arrows scroll.
    if (key !== "=" && event.target.closest(".pane .body")) return false;
    app.answer($(key === "=" ? "[data-verdict=equal]" : `[data-side=${SIDES[key]}]`).dataset.verdict);
  } else if (["p", "s", "?"].includes(key)) SINGLE[key](app);
  else return false;
  return true;
}

const SIDES = { ArrowLeft: "left", ArrowRight: "right" };
const PANES = { ArrowUp: 1, ArrowDown: 1, PageUp: 1, PageDown: 1 };
const MOVES = { ArrowUp: "better", ArrowDown: "worse" };

function otherwise(app, key, event) {
  const row = event.target.closest("#ladder .open-it, #ladder .more");
  if (event.altKey) {
    if (!(key in MOVES) || !labelAt(app)) return false;
    app.act(MOVES[key], labelAt(app), "key");
  } else if (key in MOVES && row) {
    rowBeside($(".open-it", row.closest(".chip")), key === "ArrowDown" ? 1 : -1);
  } else if (key === "Escape" && $("#ladder.is-open")) {
    openSheet(false);
    $("#sheet-toggle").focus();
  } else if (keysAreOn && !event.repeat && key in app.data.grades) app.grade(labelAt(app), key, "key");
  else if (keysAreOn && !event.repeat && key in SINGLE) SINGLE[key](app);
  else return false;
  return true;
}

/** Close the sheet that the ladder is on a phone when somebody turns to what is behind it. */
export function closeWhenLeft() {
  const isOutside = (element) => element && !element.closest("#ladder, .menu, dialog, .toast");
  addEventListener("pointerdown", ({ target }) => { if (isOutside(target)) openSheet(false); });
  $("#ladder").addEventListener("focusout", ({ relatedTarget }) => {
    if (isOutside(relatedTarget)) openSheet(false);
  });
}
