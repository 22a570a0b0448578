// The review: keys to redact and keep words, and the button that marks a solution as reviewed
// after its end was visible.
// Everything else works without scripts.

import { $, $$ } from "./dom.js";
import { keep, kept } from "./storage.js";

const KEYS_OFF = "quem-review-keys-off";
const FIELDS = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], dialog";
const PRESSED = `${FIELDS}, a, button, summary, input`;
const STEPS = { n: 1, ArrowRight: 1, p: -1, ArrowLeft: -1 };

const found = $$("#found > li");
const shown = $("#shown");
let current = 0;

/** Select the word that keys act on. */
function choose(index) {
  current = index;
  found.forEach((row, i) => row.classList.toggle("is-current", i === index));
  for (const mark of $$("#shown mark")) mark.classList.toggle("is-current", mark.dataset.hit === String(index));
  $("#deciding b").textContent = `“${found[index].dataset.words}”`;
}

/** Scroll to a word's next occurrence; opens the texts of pages if needed. */
function show(index) {
  const marks = $$(`#shown mark[data-hit="${index}"]`);
  if (!marks.length) return;
  const next = (Number(found[index].dataset.shown ?? -1) + 1) % marks.length;
  found[index].dataset.shown = String(next);
  marks[next].closest("details")?.setAttribute("open", "");
  marks[next].scrollIntoView({ block: "center" });
}

/** Move to another word of this solution; returns whether there is one. */
function step(by) {
  const next = current + by;
  if (!found[next]) return false;
  choose(next);
  found[next].scrollIntoView({ block: "nearest" });
  show(next);
  return true;
}

function hearKeys(choice) {
  choice.checked = !kept(KEYS_OFF);
  choice.addEventListener("change", () => keep(KEYS_OFF, choice.checked ? "" : "yes"));
  document.addEventListener("keydown", (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const isHeld = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.repeat;
    const isTaken = event.target.closest(key === "Enter" ? PRESSED : FIELDS);
    if (isHeld || isTaken || !choice.checked || !/^\w+$/.test(key)) return;
    // Arrows scroll wide content, and move between radio buttons.
    if (key.startsWith("Arrow") && event.target.closest("pre, .table-scroll, [type=radio]")) return;
    // The selected word's button comes first.
    const named = `[aria-keyshortcuts~="${key}" i]`;
    const button = (found[current] && $(named, found[current])) || $(`main ${named}`);
    if (!button && !(key in STEPS)) return;
    event.preventDefault();
    if (key in STEPS && step(STEPS[key])) return;
    if (button?.disabled) scrollBy({ top: 0.8 * innerHeight, behavior: "instant" });
    else button?.click();
  });
}

/** Use the selected text as the words to redact. */
function takeSelection() {
  const selection = document.getSelection();
  if (!selection.rangeCount || !shown.contains(selection.getRangeAt(0).commonAncestorContainer)) return;
  const words = selection.toString().replace(/\s+/g, " ").trim();
  if (words && words.length <= $("#own").maxLength) $("#own").value = words;
}

/** Enable the button once the solution is loaded and its end was visible. */
function awaitEnd(looked) {
  const pictures = $$("img", shown);
  looked.disabled = true;
  const watch = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting || pictures.some((picture) => !picture.complete)) return;
    watch.disconnect();
    looked.disabled = false;
    $("#looked-help").hidden = true;
  }, { rootMargin: `0px 0px -${looked.form.offsetHeight}px` });
  const look = () => {
    watch.unobserve($("#end"));
    watch.observe($("#end"));
  };
  for (const picture of pictures) Object.assign(picture, { loading: "eager", onload: look, onerror: look });
  look();
}

if ($("#keys")) hearKeys($("#keys"));
if (shown) {
  document.addEventListener("selectionchange", takeSelection);
  found.forEach((row, index) => $("[data-show]", row).addEventListener("click", () => {
    choose(index);
    show(index);
  }));
  const looked = $("#looked button");
  if (found.length) {
    $("#deciding").hidden = false;
    for (const button of $$("#deciding button")) {
      button.addEventListener("click", () => $(`button[value="${button.value}"]`, found[current]).click());
    }
    choose(0);
  } else if (!looked.disabled) awaitEnd(looked);
}
