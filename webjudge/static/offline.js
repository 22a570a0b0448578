// Lets a judge's pages work without a connection: fetches all that they need, sends what is kept,
// and says how far both are.

import { $, h } from "./dom.js";
import { canKeep, isCopy, leave, offline, OURS } from "./keeping.js";
import { deliverAll } from "./outbox.js";
import { number, t } from "./words.js";

const AGAIN = 30_000;
const FRESH = 60 * 60 * 1000;
const LONGEST_WAIT = 30_000;
const FILL = { headers: { "Offline-Fill": "1" } };
const ID = "Offline-Id";
const NAME = `${OURS}${offline.judge}-${offline.version}`;

const task = $("#group-data") ? JSON.parse($("#group-data").textContent).key : null;

/** Say something on the first page; other pages have no place for it. */
function say(id, ...text) {
  const line = $(id);
  if (line) line.replaceChildren(...text);
}

// Copies

/** A pause in which the page does what its reader wants. */
const idle = () => new Promise((resolve) => {
  if (globalThis.requestIdleCallback) requestIdleCallback(resolve, { timeout: 2000 });
  else setTimeout(resolve, 200);
});

/** Another judge's browser now, or nobody's. */
class RefusedError extends Error {
  constructor(all) {
    super("not this judge");
    this.all = all;
  }
}

/** Fetch something and keep it; gives it, or null where it is not to be had now. */
async function keep(cache, url) {
  const response = await fetch(url, { ...FILL, signal: AbortSignal.timeout(LONGEST_WAIT) });
  const whose = response.headers.get(ID);
  if (response.status === 401 || (whose && whose !== offline.judge)) throw new RefusedError(Boolean(whose));
  if (response.status !== 200 || response.redirected) return null;
  await cache.put(url, response.clone());
  return response;
}

/** What a text shows and fetches later: pictures, and pages of files. */
const pictures = (page) => [page, ...[...page.querySelectorAll("template")].map((one) => one.content)]
  .flatMap((part) => [...part.querySelectorAll("img[src]")].map((image) => image.getAttribute("src")));

/** The addresses of the solutions that a page was too small for. */
function lateTexts(page) {
  const source = page.getElementById("group-data");
  if (!source) return [];
  const { versions, urls } = JSON.parse(source.textContent);
  return Object.values(versions)
    .filter((version) => !page.querySelector(`template[data-version="${CSS.escape(version)}"]`))
    .map((version) => urls.solution.replace("VERSION", version));
}

const parsed = async (response) => new DOMParser().parseFromString(await response.text(), "text/html");

const isFresh = (response) => Date.now() - Date.parse(response.headers.get("Date") ?? "") < FRESH;

/** Keep a page with all that it shows; gives whether all is there. */
async function keepPage(cache, url) {
  const known = await cache.match(url, { ignoreVary: true });
  let page = known && await parsed(known);
  if (!page || !isFresh(known) || page.documentElement.lang !== document.documentElement.lang) {
    const response = await keep(cache, url);
    if (response) page = await parsed(response);
  }
  if (!page) return false;
  const late = [];
  let isWhole = true;
  for (const text of lateTexts(page)) {
    await idle();
    const found = await cache.match(text, { ignoreVary: true }) ?? await keep(cache, text);
    if (found) late.push(...pictures(await parsed(found)));
    else isWhole = false;
  }
  // Their addresses change with what they hold: what is there stays right.
  for (const file of [...pictures(page), ...late]) {
    if (await cache.match(file, { ignoreVary: true })) continue;
    await idle();
    isWhole = Boolean(await keep(cache, file)) && isWhole;
  }
  return isWhole;
}

/** Let the worker keep what all pages need; throws an error with a name where it cannot. */
async function prepare(worker) {
  const channel = new MessageChannel();
  const answer = new Promise((resolve, reject) => {
    channel.port1.onmessage = ({ data }) => resolve(data);
    setTimeout(() => reject(new DOMException("no answer", "TimeoutError")), LONGEST_WAIT);
  });
  worker.postMessage("prepare", [channel.port2]);
  const trouble = await answer;
  if (trouble) throw new DOMException(trouble, trouble);
}

/** The worker of this version, as soon as it works. */
async function begin() {
  const registration = await navigator.serviceWorker.register(
    offline.worker, { scope: offline.home, updateViaCache: "none" },
  );
  const worker = registration.installing ?? registration.waiting ?? registration.active;
  if (worker.state !== "activated") {
    await new Promise((resolve, reject) => {
      worker.addEventListener("statechange", () => {
        if (worker.state === "activated") resolve();
        else if (worker.state === "redundant") reject(new DOMException("ended", "AbortError"));
      });
    });
  }
  return worker;
}

async function fill() {
  const tasks = offline.pages.length - 1;
  try {
    await prepare(await begin());
    const cache = await caches.open(NAME);
    let there = -1; // the first page is no task
    for (const url of offline.pages) {
      say("#offline-copies", t("Preparing for offline use: {n} of {all} tasks", {
        n: number(Math.max(there, 0)), all: number(tasks),
      }));
      await idle();
      there += Number(await keepPage(cache, url));
    }
    say("#offline-copies", there === tasks
      ? t("Available offline. Bookmark this page: without a connection, your private link does not work.")
      : t("{n} of {all} tasks are available offline.", { n: number(Math.max(there, 0)), all: number(tasks) }));
  } catch (error) {
    if (error instanceof RefusedError) await leave({ all: error.all });
    say("#offline-copies", error.name === "QuotaExceededError"
      ? t("Not available offline: this browser has no room left, or keeps nothing.")
      : t("Not available offline right now. With a connection everything works."));
  }
}

async function startCopies() {
  if (offline.isOver) return;
  if (!navigator.serviceWorker || !canKeep) {
    say("#offline-copies", t("Not available offline in this browser. With a connection everything works."));
  } else if (isCopy) {
    say("#offline-copies", t("Offline. This page may be older than what is stored."));
    const button = $("#sign-out button");
    if (button) button.disabled = true; // the server takes the cookie away
  } else {
    // Two tabs would fetch everything twice.
    await navigator.locks.request("quem-fill", fill);
  }
}

// What is not sent yet

let timer = 0;

/** Send what is kept, and list what stays; gives that as {later, open, refused}. */
async function sendKept() {
  clearTimeout(timer);
  let done = { sent: [], later: [], open: [], refused: [] };
  let works = true;
  try {
    done = await deliverAll(task);
  } catch {
    works = false; // the storage; pages with something to keep say so
  }
  const { sent, later, open, refused } = done;
  const reasons = new Set(refused.map(({ reason }) => reason));
  say("#offline-unsent", ...[
    unsentLine(later, t(
      "Kept on this device; sent when the server answers again, while a page of this study is open:",
    )),
    unsentLine(open, t("Kept on this device, but not saved; open it and decide:")),
    unsentLine(refused, t("Kept on this device, but not saved:"), ...reasons),
  ].filter(Boolean));
  if (later.length || !works) timer = setTimeout(sendKept, AGAIN);
  if (offline.isOver) await leave();
  else if (sent.length) await drawTasks();
  return done;
}

/** Name tasks whose state is kept, or nothing where there are none. */
const unsentLine = (rows, text, ...reasons) => rows.length > 0 && h("span", {}, text, " ", rows.flatMap(
  ({ page, submit }, index) => [
    index > 0 && ", ", h("a", { href: page.url }, page.title), submit && [" ", t("(to be submitted)")],
  ],
), ". ", reasons.join(" "), " ");

/** Show how far the tasks are now; a page that is loaded anew would end what its reader just began. */
async function drawTasks() {
  const list = $("section[aria-labelledby=groups-title]");
  if (!list) return;
  try {
    const response = await fetch(offline.home, { signal: AbortSignal.timeout(LONGEST_WAIT) });
    list.replaceWith((await parsed(response)).querySelector("section[aria-labelledby=groups-title]"));
  } catch {
    // The next visit shows it.
  }
}

/** Nobody signs out of what can still be sent, nor unasked of what cannot. */
async function signOut(event) {
  event.preventDefault();
  const { later, open, refused } = await sendKept();
  $("#offline-unsent").scrollIntoView({ block: "nearest" });
  if (later.length) return;
  const isMore = open.length + refused.length > 0;
  if (isMore && !confirm(t("Rankings that are kept on this device only would be lost. Sign out anyway?"))) return;
  await leave({ all: true });
  event.target.submit();
}

$("#sign-out")?.addEventListener("submit", signOut);
addEventListener("online", sendKept);
document.addEventListener("visibilitychange", () => { if (!document.hidden) sendKept(); });
await sendKept();
await startCopies();
