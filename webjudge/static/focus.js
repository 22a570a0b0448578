// Keyboard focus. Browsers drop it when its element is redrawn, hidden, or disabled,
// and the next Tab would start at the top of the page.

import { $, $$ } from "./dom.js";

const MARKS = [
  "data-open", "data-more", "data-verdict", "data-show", "data-pair", "data-section", "data-do", "data-grade", "id",
];
const PARTS = ["#ladder", "#main", ".bar"];

const canHold = (element) => element && !element.disabled && !element.closest("[inert]") && element.checkVisibility();

const title = () => $("#main h2");

export const focusTitle = () => title()?.focus({ preventScroll: true });

/** A selector that finds the same element after a redraw; empty without one. */
function nameOf(element) {
  const mark = MARKS.find((name) => element.hasAttribute(name));
  const part = PARTS.find((name) => element.closest(name)) ?? "";
  return mark ? `${part} [${mark}="${CSS.escape(element.getAttribute(mark))}"]` : "";
}

/** Draw, and keep the focus on its element or the nearest one. */
export function holdingFocus(draw) {
  const held = document.activeElement;
  const name = nameOf(held);
  const { label } = held.closest("[data-label]")?.dataset ?? {};
  draw();
  if (held === document.body) return;
  if (document.activeElement === held && canHold(held) && nameOf(held) === name) return;
  const near = [
    name && $(name), label && $(`#ladder [data-open="${CSS.escape(label)}"]`),
    ...(held.closest(".bar") ? $$(".bar button") : []), title(),
  ];
  near.find(canHold)?.focus({ preventScroll: true });
}

// A closed dialog returns the focus to the previous element, if it still exists, or keeps it for a moment.
document.addEventListener("close", () => {
  const held = document.activeElement;
  if ((held === document.body || !canHold(held)) && !$("dialog[open]")) focusTitle();
}, true);
