// The dashboard: automatic refresh, and times in the reader's time zone.
// Everything else works without scripts.

import { $, $$ } from "./dom.js";
import { offerMessages } from "./letters.js";
import { read } from "./network.js";
import { keepTyped } from "./typing.js";

const EVERY = 20_000;
const LIVE = "[data-live]";
const FRESH = { cache: "no-store" };

/** Show times in the reader's time zone: clock times as text, relative times with a tooltip. */
function showTimes(within) {
  for (const time of $$("time", within)) {
    const date = new Date(time.dateTime);
    const local = date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
    if ("clock" in time.dataset) time.textContent = local;
    else time.title = local;
    if ("short" in time.dataset) time.textContent = short(date);
  }
}

/** A day and a time, such as "Today 14:32". */
function short(date) {
  const clock = date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  const isToday = date.toDateString() === new Date().toDateString();
  return `${isToday ? "Today" : date.toLocaleDateString(undefined, { day: "numeric", month: "short" })} ${clock}`;
}

/**
 * Morph a DOM tree into another with minimal changes: equal nodes stay untouched,
 * and keep focus, selection, scroll position, and open details.
 */
function become(old, fresh) {
  if (old.nodeName !== fresh.nodeName || old.id !== fresh.id) {
    old.replaceWith(fresh);
  } else if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
  } else {
    for (const { name, value } of fresh.attributes) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
    }
    const [before, after] = [[...old.childNodes], [...fresh.childNodes]];
    after.forEach((child, i) => (i < before.length ? become(before[i], child) : old.append(child)));
    for (const child of before.slice(after.length)) child.remove();
  }
}

const TROUBLE = { 200: "", 401: "You are logged out, or your link was replaced. Open your link again." };

/** Reload the page's content from the server. */
async function refresh() {
  const trouble = $("#trouble");
  const answer = await read(location.pathname + location.search, FRESH);
  if (answer?.status === 200) show(answer.page);
  const problem = answer
    ? TROUBLE[answer.status] ?? "Server error. This page may be out of date."
    : "No response from the server. This page may be out of date. Retrying…";
  // Announce once, not at each refresh.
  if (trouble.textContent !== problem) trouble.textContent = problem;
  trouble.hidden = !problem;
}

function show(page) {
  showTimes(page);
  const { id } = document.activeElement ?? {};
  const known = new Set($$(LIVE).map((part) => part.id));
  // A judge or task was added or removed with its rows.
  const isNew = $$(LIVE, page).some((part) => !known.has(part.id));
  for (const part of $$(LIVE)) {
    const fresh = page.getElementById(part.id);
    if (fresh) become(part, document.adoptNode(fresh));
  }
  if (isNew) location.reload();
  if (id && document.activeElement === document.body) document.getElementById(id)?.focus({ preventScroll: true });
}

document.addEventListener("click", ({ target }) => {
  // A click outside closes the menu.
  for (const menu of $$(".more[open]")) if (!menu.contains(target)) menu.open = false;
});
document.addEventListener("keydown", ({ key }) => {
  const menu = document.activeElement?.closest(".more[open]");
  if (key !== "Escape" || !menu) return;
  menu.open = false;
  $("summary", menu).focus();
});

keepTyped();
showTimes(document);
offerMessages();
if ($("#updated")) {
  const look = () => { if (!document.hidden) refresh(); };
  setInterval(look, EVERY);
  document.addEventListener("visibilitychange", look);
  addEventListener("focus", look);
}
