// The "…" menu of a solution; on a phone it is a sheet at the bottom.

import { $, $$, h } from "./dom.js";
import { scale } from "./grading.js";
import { gradeOf, whereabouts } from "./model.js";
import { named, put } from "./parts.js";
import { LEVELS } from "./questions.js";
import { html, nothing } from "./vendor/lit-html.js";
import { t } from "./words.js";

/** A menu item; `checked` makes it a checkbox, `value` a radio item. */
const item = (text, action, { keys = "", isOff = false, checked = nothing, value = nothing } = {}) => {
  const kind = (value !== nothing && "menuitemradio") || (checked !== nothing && "menuitemcheckbox") || "menuitem";
  return html`
    <button type="button" role=${kind} aria-checked=${checked} aria-disabled=${isOff || nothing} data-act=${action}
      data-value=${value} tabindex="-1">${kind === "menuitemcheckbox"
        ? html`<span aria-hidden="true">${checked ? "☑" : "☐"}</span>` : nothing}<span>${text}</span>${
      keys ? html`<kbd aria-hidden="true">${keys}</kbd>` : nothing}</button>`;
};

const separator = html`<hr role="separator">`;

function items(page, label) {
  const { state, isGrading } = page;
  const { area, group, tied } = whereabouts(state, label);
  const last = state.ranked.length - 1;
  const isTied = tied.length > 0;
  const hasOthers = state.ranked.flat().some((other) => other !== label);
  const common = [
    separator,
    item(state.comments[label] ? t("Edit comment") : t("Comment"), "comment"),
    !isGrading && item(t("I recognize the author"), "recognized", { checked: state.recognized.includes(label) }),
    area === "cannot" ? item(t("Unrank"), "tray") : item(t("Cannot judge"), "cannot"),
  ];
  if (isGrading) {
    return [
      ...scale(page).map(({ grade, text }) => item(text, "grade", {
        value: grade, checked: gradeOf(state, label) === grade, keys: grade,
      })),
      area === "ranked" && item(t("Take the grade back"), "tray"),
      ...common,
    ];
  }
  if (area !== "ranked") {
    return [
      item(hasOthers ? t("Compare and place") : t("Place as first"), "place", { keys: "C" }),
      hasOthers && item(t("Add at top"), "best"),
      hasOthers && item(t("Add at bottom"), "worst"),
      ...common,
    ];
  }
  return [
    item(t("Move up"), "better", { keys: "Alt ↑", isOff: group === 0 && !isTied }),
    item(t("Move down"), "worse", { keys: "Alt ↓", isOff: group === last && !isTied }),
    item(t("Tie with above"), "tie", { isOff: group === 0 }),
    isTied && item(t("Untie"), "untie"),
    item(t("Unrank"), "tray"),
    separator,
    item(t("Compare again"), "place", { keys: "C", isOff: !hasOthers }),
    item(t("Compare with…"), "with", { isOff: !hasOthers }),
    ...common,
    separator,
    html`
      <div class="head" role="presentation">${t("How sure are you of its place?")}</div>
      <div class="levels" role="group" aria-label=${t("How sure are you of its place?")}>${LEVELS.map(
        ([value, text]) => item(text, "sure", { value, checked: state.sure[label] === value }))}</div>`,
  ];
}

/** Open a solution's menu under a button, which gets the focus back; `act` performs the choice. */
export function openMenu(page, label, button, act) {
  closeMenu();
  const title = named(page, label);
  const menu = h("div.menu", { role: "menu", "aria-label": title, popover: "auto" });
  put(html`<div class="head" role="presentation">${title}</div>${items(page, label).filter(Boolean)}`, menu);
  button.closest("aside, main").append(menu);
  button.focus();
  button.ariaExpanded = "true";
  menu.showPopover();
  place(menu, button.getBoundingClientRect());
  const choices = $$("[data-act]", menu);
  choices[0].tabIndex = 0;
  choices[0].focus();
  menu.addEventListener("toggle", ({ newState }) => {
    if (newState === "open") return;
    button.ariaExpanded = "false";
    menu.remove();
  });
  menu.addEventListener("click", ({ target }) => {
    const chosen = target.closest("[data-act]");
    if (!chosen || chosen.ariaDisabled) return;
    closeMenu();
    act(page, chosen.dataset.act, label, "menu", chosen.dataset.value);
  });
  menu.addEventListener("keydown", (event) => {
    const at = choices.indexOf(document.activeElement);
    const to = {
      ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: -1,
    }[event.key];
    if (to !== undefined) choices.at(to % choices.length).focus();
    else if (event.key === "Tab") closeMenu();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

/** Position a menu beside its button, inside the window. */
function place(menu, { left, top, bottom }) {
  const x = Math.max(8, Math.min(left, innerWidth - menu.offsetWidth - 8));
  const below = bottom + 4;
  const isAbove = below + menu.offsetHeight > innerHeight;
  menu.style.left = `${x}px`;
  menu.style.top = `${isAbove ? Math.max(8, top - menu.offsetHeight - 4) : below}px`;
}

/** Close the menu and return the focus. */
export const closeMenu = () => $(".menu:popover-open")?.hidePopover();
