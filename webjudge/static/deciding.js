// The review: keys to replace and keep words, and the button that counts a solution as reviewed
// once its end was on the screen.
// Everything else works without scripts.

const KEYS_OFF = "quem-review-keys-off";
const FIELDS = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], dialog";
const PRESSED = `${FIELDS}, a, button, summary, input`;

const found = [...document.querySelectorAll("#found > li")];
const shown = document.getElementById("shown");
const looked = document.querySelector("#looked button");
let current = 0;

/** Read or write what this browser keeps; where it keeps nothing, the page works without. */
function kept(name, value) {
  try {
    if (value === undefined) return localStorage.getItem(name);
    localStorage.setItem(name, value);
  } catch {
    // Storage may be full or forbidden.
  }
  return null;
}

function marksOf(index) {
  return [...document.querySelectorAll(`#shown mark[data-hit="${index}"]`)];
}

/** Make a word the one that keys decide about. */
function choose(index) {
  current = index;
  found.forEach((row, i) => row.classList.toggle("is-current", i === index));
  for (const mark of document.querySelectorAll("#shown mark.is-current")) mark.classList.remove("is-current");
  for (const mark of marksOf(index)) mark.classList.add("is-current");
  document.querySelector("#deciding b").textContent = `“${found[index].dataset.words}”`;
}

/** Bring the next place of a word into view; texts of pages open for it. */
function show(index) {
  const marks = marksOf(index);
  if (!marks.length) return;
  const number = (Number(found[index].dataset.shown ?? -1) + 1) % marks.length;
  found[index].dataset.shown = String(number);
  marks[number].closest("details")?.setAttribute("open", "");
  marks[number].scrollIntoView({ block: "center" });
}

/** Find what a key presses: first of the word that is decided about. */
function target(key) {
  const named = `[aria-keyshortcuts~="${key}" i]`;
  return found[current]?.querySelector(named) ?? document.querySelector(`main ${named}`);
}

/** Go on by a word of this solution, or to the next page. */
function step(key, by) {
  const next = current + by;
  if (!found[next]) return false;
  choose(next);
  found[next].scrollIntoView({ block: "nearest" });
  show(next);
  return true;
}

const STEPS = { n: 1, ArrowRight: 1, p: -1, ArrowLeft: -1 };

function hearKeys() {
  const choice = document.getElementById("keys");
  choice.checked = !kept(KEYS_OFF);
  choice.addEventListener("change", () => kept(KEYS_OFF, choice.checked ? "" : "yes"));
  document.addEventListener("keydown", (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const isHeld = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.repeat;
    const isTaken = event.target.closest(key === "Enter" ? PRESSED : FIELDS);
    if (isHeld || isTaken || !choice.checked || !/^\w+$/.test(key)) return;
    // Arrows scroll what is wider than its place, and choose one of some guesses.
    if (key.startsWith("Arrow") && event.target.closest("pre, .table-scroll, [type=radio]")) return;
    const button = target(key);
    if (!button && !(key in STEPS)) return;
    event.preventDefault();
    if (key in STEPS && step(key, STEPS[key])) return;
    if (button?.disabled) scrollBy({ top: 0.8 * innerHeight, behavior: "instant" });
    else button?.click();
  });
}

/** Take what is selected in the solution as the words to replace. */
function takeSelection() {
  const own = document.getElementById("own");
  const selection = document.getSelection();
  if (!selection.rangeCount || !shown.contains(selection.getRangeAt(0).commonAncestorContainer)) return;
  const words = selection.toString().replace(/\s+/g, " ").trim();
  if (words && words.length <= own.maxLength) own.value = words;
}

/** Let a solution count as reviewed once all of it is loaded and its end was on the screen. */
function awaitEnd() {
  const end = document.getElementById("end");
  const pictures = [...shown.querySelectorAll("img")];
  looked.disabled = true;
  const watch = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting || pictures.some((picture) => !picture.complete)) return;
    watch.disconnect();
    looked.disabled = false;
    document.getElementById("looked-help").hidden = true;
  }, { rootMargin: `0px 0px -${looked.form.offsetHeight}px` });
  const look = () => {
    watch.unobserve(end);
    watch.observe(end);
  };
  for (const picture of pictures) {
    picture.loading = "eager";
    for (const what of ["load", "error"]) picture.addEventListener(what, look);
  }
  look();
}

if (document.getElementById("keys")) hearKeys();
if (shown) {
  document.addEventListener("selectionchange", takeSelection);
  found.forEach((row, index) => {
    row.querySelector("[data-show]").addEventListener("click", () => {
      choose(index);
      show(index);
    });
  });
  const bar = document.getElementById("deciding");
  if (found.length) {
    bar.hidden = false;
    for (const button of bar.querySelectorAll("button")) {
      button.addEventListener("click", () => {
        found[current].querySelector(`button[value="${button.value}"]`).click();
      });
    }
    choose(0);
  } else if (!looked.disabled) awaitEnd();
}
