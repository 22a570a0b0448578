// The keyboard's focus. What has it may be drawn anew, hidden, or disabled; browsers then drop it,
// and the next Tab would start at the top of the page.

import { $ } from "./dom.js";

const MARKS = [
  "data-open", "data-more", "data-verdict", "data-show", "data-pair", "data-section", "data-do", "data-grade", "id",
];
const PARTS = ["#ladder", "#main", ".bar"];

const canHold = (element) => element && !element.disabled && !element.closest("[inert]")
  && element.getClientRects().length > 0;

/** What names an element, also after it was drawn anew; empty where nothing does. */
function nameOf(element) {
  const mark = MARKS.find((name) => element.hasAttribute(name));
  const part = PARTS.find((name) => element.closest(name)) ?? "";
  return mark ? `${part} [${mark}="${CSS.escape(element.getAttribute(mark))}"]` : "";
}

/** Note what has the focus; gives a function that brings it back, or as near as can be. */
export function holdFocus() {
  const held = document.activeElement;
  if (!held || held === document.body) return () => {};
  const name = nameOf(held);
  const { label } = held.closest("[data-label]")?.dataset ?? {};
  const neighbors = held.closest(".bar") ? [...held.closest(".bar").querySelectorAll("button")] : [];
  return () => {
    if (document.activeElement === held && canHold(held)) return;
    const near = [
      name && $(name), label && $(`#ladder [data-open="${CSS.escape(label)}"]`), ...neighbors, title(),
    ];
    near.find(canHold)?.focus({ preventScroll: true });
  };
}

/** The title of what is shown. */
export const title = () => $("#main h2");

// A closed dialog gives the focus back to what had it before, if that is still there.
document.addEventListener("close", () => {
  const isLost = document.activeElement === document.body && !$("dialog[open]");
  if (isLost) title()?.focus({ preventScroll: true });
}, true);
