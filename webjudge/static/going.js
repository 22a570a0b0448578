// Navigation: views of the main part, and the focus after each change.

import { $ } from "./dom.js";
import { focusTitle } from "./focus.js";
import { closeMenu } from "./menu.js";
import { announce, hideToast } from "./messages.js";
import { t } from "./words.js";

function keepPlace({ view, places, current }) {
  if (view === "reader") places.set(current, $("#reader").scrollTop);
}

/** Show another view in the main part, at its top or last scroll position. */
export function show(page, view, label = null, { focus = true, place = 0 } = {}) {
  keepPlace(page);
  closeMenu();
  page.see(label ? [label] : []);
  page.set({ view, current: label, row: null, search: null, pair: null, isSheetOpen: false });
  $("#reader").scrollTop = place;
  if (focus) focusTitle();
}

/** Open a solution at its last scroll position. */
export function open(page, label, options = {}) {
  keepPlace(page);
  show(page, "reader", label, { place: page.places.get(label) ?? 0, ...options });
  page.solutions.load(page.upcoming ?? label); // the next one ahead
}

/** Go to the next unranked solution, or to the review. */
export function next(page) {
  if (page.upcoming) open(page, page.upcoming, { place: 0 });
  else show(page, "review");
}

/** Go to the solution before or after in the ladder. */
export function go(page, by) {
  const { ranked, tray, cannot } = page.state;
  const all = [...ranked.flat(), ...tray, ...Object.keys(cannot)];
  const at = all.indexOf(page.current);
  open(page, all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))]);
}

/** Show the initial view. */
export function begin(page) {
  const [first] = page.state.tray;
  if (page.isUntouched && $("#statement") && !page.isGrading) show(page, "problem", null, { focus: false });
  else if (first) open(page, first, { focus: false });
  else show(page, "review", null, { focus: false });
}

/** Ask which of two is better; a pressed button keeps the focus. */
export function question(page, changes, pressed = "") {
  keepPlace(page);
  closeMenu();
  hideToast();
  const { pair = null, current = page.current } = changes;
  page.set({
    ...changes, view: "compare", row: null, placed: null, isSheetOpen: false,
    shown: pair?.label ?? current, askedAt: page.clock.total,
  });
  const isOneShown = $(".pane-switch").checkVisibility();
  const both = [page.question.label, page.question.other];
  page.see(both, isOneShown ? [page.shown] : both);
  if (pressed) $(`[data-verdict=${pressed}]`).focus({ preventScroll: true });
  else focusTitle();
}

/** Cancel the comparison, and return to the view before it. */
export function stopComparing(page, from = page.pair?.from ?? "reader") {
  if (from === "reader" && page.current) open(page, page.current);
  else show(page, from === "compare" ? "review" : from);
}

/** Leave a comparison that an external change of the order invalidated. */
export function goOn(page) {
  if (!page.isComparing) return;
  if (page.current) open(page, page.current, { focus: false });
  else show(page, "review", null, { focus: false });
}

/** Show the required question that blocks submission. */
export function askMissing(page) {
  hideToast();
  show(page, "review", null, { focus: false });
  announce(t("Some questions need an answer before you submit."));
  const first = $(".to-answer [data-sure], .to-answer [data-answer]") ?? $("#to-answer-title");
  first.scrollIntoView({ block: "center" });
  first.focus({ preventScroll: true });
}
