// The "…" menu of a solution; on a phone it is a sheet at the bottom.

import { $, $$, h } from "./dom.js";
import { isGrading, scale } from "./grading.js";
import { gradeOf, whereabouts } from "./model.js";
import { LEVELS } from "./questions.js";
import { t } from "./words.js";

function item(text, action, { keys = "", isOff = false, checked = null } = {}) {
  const isChoice = checked !== null;
  return h(
    "button",
    {
      type: "button",
      role: isChoice ? "menuitemcheckbox" : "menuitem",
      "aria-checked": isChoice ? String(checked) : null,
      "aria-disabled": isOff ? "true" : null,
      "data-act": action,
      tabindex: "-1",
    },
    isChoice && h("span", { "aria-hidden": "true" }, checked ? "☑" : "☐"),
    h("span", {}, text),
    keys && h("kbd", { "aria-hidden": "true" }, keys),
  );
}

const separator = () => h("hr", { role: "separator" });

/** Choices of which one holds. */
const radio = (text, action, value, isChosen, keys = "") => h(
  "button",
  {
    type: "button",
    role: "menuitemradio",
    "aria-checked": String(isChosen),
    "data-act": action,
    "data-value": value,
    tabindex: "-1",
  },
  h("span", {}, text),
  keys && h("kbd", { "aria-hidden": "true" }, keys),
);

function items(app, label) {
  const { state } = app;
  const { area, group, tied } = whereabouts(state, label);
  const last = state.ranked.length - 1;
  const isTied = tied.length > 0;
  const others = state.ranked.flat().filter((other) => other !== label);
  const common = [
    separator(),
    item(state.comments[label] ? t("Edit comment") : t("Comment"), "comment"),
    !isGrading(app)
      && item(t("I recognize the author"), "recognized", { checked: state.recognized.includes(label) }),
    item(area === "cannot" ? t("Unrank") : t("Cannot judge"), area === "cannot" ? "tray" : "cannot"),
  ];
  if (isGrading(app)) {
    return [
      scale(app).map(({ grade, text }) => radio(text, "grade", grade, gradeOf(state, label) === grade, grade)),
      area === "ranked" && item(t("Take the grade back"), "tray"),
      ...common,
    ].flat();
  }
  if (area !== "ranked") {
    return [
      item(others.length ? t("Compare and place") : t("Place as first"), "place", { keys: "C" }),
      others.length > 0 && item(t("Add at top"), "best"),
      others.length > 0 && item(t("Add at bottom"), "worst"),
      ...common,
    ];
  }
  return [
    item(t("Move up"), "better", { keys: "Alt ↑", isOff: group === 0 && !isTied }),
    item(t("Move down"), "worse", { keys: "Alt ↓", isOff: group === last && !isTied }),
    item(t("Tie with above"), "tie", { isOff: group === 0 }),
    isTied && item(t("Untie"), "untie"),
    item(t("Unrank"), "tray"),
    separator(),
    item(t("Compare again"), "place", { keys: "C", isOff: !others.length }),
    item(t("Compare with…"), "with", { isOff: !others.length }),
    ...common,
    separator(),
    h("div.head", { role: "presentation" }, t("How sure are you of its place?")),
    h("div.levels", { role: "group", "aria-label": t("How sure are you of its place?") }, LEVELS.map(
      ([level, text]) => radio(text, "sure", level, state.sure[label] === level),
    )),
  ];
}

/** Open the menu of a solution under a button, which gets the focus back. */
export function openMenu(app, label, button) {
  closeMenu();
  const title = isGrading(app) ? t("Candidate {label}", { label }) : t("Solution {label}", { label });
  const menu = h(
    "div.menu", { role: "menu", "aria-label": title },
    h("div.head", { role: "presentation" }, title), items(app, label),
  );
  button.setAttribute("aria-expanded", "true");
  button.closest("aside, main").append(menu);
  put(menu, button.getBoundingClientRect());
  const choices = $$("[data-act]", menu);
  choices[0].tabIndex = 0;
  choices[0].focus();
  const leave = () => {
    closeMenu();
    button.focus();
  };
  menu.addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-act]");
    if (!chosen || chosen.getAttribute("aria-disabled")) return;
    leave();
    app.act(chosen.dataset.act, label, "menu", chosen.dataset.value);
  });
  menu.addEventListener("keydown", (event) => {
    const at = choices.indexOf(document.activeElement);
    const to = {
      ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: -1,
    }[event.key];
    if (to !== undefined) choices.at(to % choices.length).focus();
    else if (event.key === "Escape" || event.key === "Tab") leave();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  addEventListener("pointerdown", away, true);
}

/** Put a menu beside its button, inside the window. */
function put(menu, { left, top, bottom }) {
  const x = Math.max(8, Math.min(left, innerWidth - menu.offsetWidth - 8));
  const below = bottom + 4;
  const isAbove = below + menu.offsetHeight > innerHeight;
  menu.style.left = `${x}px`;
  menu.style.top = `${isAbove ? Math.max(8, top - menu.offsetHeight - 4) : below}px`;
}

function away(event) {
  if (!event.target.closest(".menu")) closeMenu();
}

export function closeMenu() {
  $(".menu")?.remove();
  $("[data-more][aria-expanded]")?.removeAttribute("aria-expanded");
  removeEventListener("pointerdown", away, true);
}
