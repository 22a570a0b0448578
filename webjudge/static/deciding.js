// What judges will see: keys to redact and accept words, and which solutions were seen.
// Everything else works without scripts.

const KEYS_OFF = "quem-review-keys-off";
const SEEN = "quem-review-seen";
const FIELDS = "input:not([type=checkbox]), textarea, select, [contenteditable], dialog";

const found = [...document.querySelectorAll("#found > li")];
const shown = document.getElementById("shown");
const own = document.getElementById("own");
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
  const bar = document.getElementById("deciding");
  if (bar) bar.querySelector("b").textContent = `“${found[index].dataset.words}”`;
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

function step(by) {
  const next = current + by;
  if (found[next]) {
    choose(next);
    found[next].scrollIntoView({ block: "nearest" });
    show(next);
  } else document.getElementById(by > 0 ? "behind" : "before")?.click();
}

function decide(decision) {
  found[current]?.querySelector(`button[value="${decision}"]`).click();
}

const ACTS = {
  a: () => decide("accept"),
  r: () => decide("redact"),
  n: () => step(1),
  ArrowRight: () => step(1),
  p: () => step(-1),
  ArrowLeft: () => step(-1),
  u: () => document.getElementById("undo")?.click(),
};

function hearKeys() {
  const choice = document.getElementById("keys");
  choice.checked = !kept(KEYS_OFF);
  choice.addEventListener("change", () => kept(KEYS_OFF, choice.checked ? "" : "yes"));
  document.addEventListener("keydown", (event) => {
    const act = ACTS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    const isHeld = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.repeat;
    if (!act || isHeld || !choice.checked || event.target.closest(FIELDS)) return;
    // Arrows scroll what is wider than its place.
    if (event.key.startsWith("Arrow") && event.target.closest("pre, .table-scroll")) return;
    event.preventDefault();
    act();
  });
}

/** Take what is selected in the solution as the words to redact. */
function takeSelection() {
  const selection = document.getSelection();
  if (!selection.rangeCount || !shown.contains(selection.getRangeAt(0).commonAncestorContainer)) return;
  const words = selection.toString().replace(/\s+/g, " ").trim();
  if (words && words.length <= own.maxLength) own.value = words;
}

/** Note that this solution was seen, and say how many were. */
function countSeen() {
  const { versions, mine } = JSON.parse(document.getElementById("seen").textContent);
  const seen = new Set((kept(SEEN) ?? "").split(" "));
  if (mine && !seen.has(mine)) {
    seen.add(mine);
    kept(SEEN, [...seen].join(" ").trim());
  }
  const count = versions.filter((version) => seen.has(version)).length;
  const text = document.getElementById("seen-count");
  text.textContent = mine ? `, ${count} seen` : `${count} of ${versions.length} seen. `;
  text.hidden = false;
  for (const row of document.querySelectorAll("[data-version]")) {
    row.querySelector(".seen").hidden = !seen.has(row.dataset.version);
  }
  const meter = document.getElementById("seen-meter");
  if (!meter) return;
  meter.value = count;
  meter.hidden = false;
}

countSeen();
if (shown) {
  hearKeys();
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
      button.addEventListener("click", () => decide(button.value));
    }
    choose(0);
  }
}
