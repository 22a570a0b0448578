// The keyboard's focus. What has it may be drawn anew, hidden, or disabled; browsers then drop it,
// and the next Tab would start at the top of the page.

import { $, $$ } from "./dom.js";

const MARKS = [
  "data-open", "data-more", "data-verdict", "data-show", "data-pair", "data-section", "data-do", "data-grade", "id",
];
const PARTS = ["#ladder", "#main", ".bar"];

const canHold = (element) => element && !element.disabled && !element.closest("[inert]") && element.checkVisibility();

const title = () => $("#main h2");

export const focusTitle = () => title()?.focus({ preventScroll: true });

/** A selector of what stands for the same, also after it was drawn anew; empty where nothing does. */
function nameOf(element) {
  const mark = MARKS.find((name) => element.hasAttribute(name));
  const part = PARTS.find((name) => element.closest(name)) ?? "";
  return mark ? `${part} [${mark}="${CSS.escape(element.getAttribute(mark))}"]` : "";
}

/** Draw; the focus goes with what has it, or as near as can be. */
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

// A closed dialog gives the focus back to what had it before, if that is still there.
document.addEventListener("close", () => {
  if (document.activeElement === document.body && !$("dialog[open]")) focusTitle();
}, true);
