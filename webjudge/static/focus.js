// The keyboard's focus. What has it may move, be hidden or be disabled when the page is drawn
// anew; browsers then drop it, and the next Tab would start at the top of the page.

const main = document.getElementById("main");

const canHold = (element) => !element.disabled && element.getClientRects().length > 0;

/** Leave the focus where it was, or bring it as near as can be. */
export function keepFocus(held) {
  if (!held || held === document.body) return;
  const card = held.closest(".card");
  const near = card
    ? card.querySelectorAll(".handle, [data-do=compare]")
    : held.closest(".tools, .finish")?.querySelectorAll("button") ?? [];
  const next = [held, ...near, main].find(canHold);
  if (next !== document.activeElement) next.focus({ preventScroll: true });
}

// A closed dialog gives the focus back to what had it before, if anything had.
document.addEventListener("close", () => {
  const lost = document.activeElement === document.body && !document.querySelector("dialog[open]");
  if (lost) main.focus({ preventScroll: true });
}, true);
