// Keeps a judge's pages for when there is no connection. What the network answers counts; what is
// kept is only shown where it does not answer.
//
// webjudge/offline.py writes VERSION, the digest of the static files, and FILES, their addresses,
// above this. Without a VERSION the study is not judged offline any more. offline.js fills the cache.

/* global VERSION, FILES */

const HOME = location.pathname.replace(/\/sw\.js$/, "");
// Of several studies under one address each has its own part of the browser's storage.
const OURS = ["quem", ...HOME.split("/").slice(2, -1), ""].join("-");
const JUDGE = new URL(location.href).searchParams.get("judge");
const NAME = `${OURS}${JUDGE}-${VERSION}`;
const ID = "Offline-Id"; // an answer says whose it is
const OVER = "over"; // of somebody whose link works no longer
const FILL = "Offline-Fill"; // a request of offline.js, which looks at the answer itself
const SINCE = `${HOME}/kept-since`; // no address of the server
const STATIC = `${HOME.replace(/\/judge$/, "")}/static/`;
const PATIENCE = 10_000;
const WEEK = 7 * 24 * 60 * 60 * 1000;

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => {
  const begin = async () => {
    await removeCopies((name) => name !== NAME);
    await self.clients.claim();
  };
  event.waitUntil(VERSION ? begin() : end());
});

/** A page that came from the server asks to keep what all pages need; it is told whether that worked. */
self.addEventListener("message", (event) => {
  const prepare = async () => {
    try {
      const cache = await caches.open(NAME);
      const missing = [];
      for (const file of FILES) if (!await cache.match(file, { ignoreVary: true })) missing.push(file);
      await cache.addAll(missing);
      await cache.put(SINCE, new Response(String(Date.now())));
      event.ports[0].postMessage("");
    } catch (error) {
      event.ports[0].postMessage(error.name);
    }
  };
  if (event.data === "prepare") event.waitUntil(prepare());
});

const isPage = (path) => path === HOME || /^\/g\/[^/]+$/.test(path.slice(HOME.length));
const isOurs = (path) => path === HOME || path.startsWith(`${HOME}/g/`) || path.startsWith(STATIC);

self.addEventListener("fetch", (event) => {
  const { method, url, headers } = event.request;
  const { origin, pathname } = new URL(url);
  if (method !== "GET" || origin !== location.origin || !isOurs(pathname)) return;
  if (VERSION && !headers.has(FILL) && !headers.has("Range")) event.respondWith(answer(event));
});

async function answer(event) {
  const { request } = event;
  const asked = fetch(request);
  let response = null;
  try {
    response = await Promise.race([
      asked,
      new Promise((resolve, reject) => { setTimeout(() => reject(new Error("too slow")), PATIENCE); }),
    ]);
  } catch {
    // There may be a copy.
  }
  // An error that is not this server's own is one of a proxy before a server that is away.
  if (!response || (response.status >= 500 && !response.headers.has(ID))) {
    const kept = await copyOf(request);
    if (kept) {
      asked.catch(() => {});
      return kept;
    }
  }
  response ??= await asked;
  event.waitUntil(note(request, response.clone()));
  return response;
}

/** Give the copy of an answer. Scripts ask for a page only to learn what is there now. */
async function copyOf(request) {
  const isForPage = isPage(new URL(request.url).pathname);
  if ((isForPage && request.mode !== "navigate") || !await caches.has(NAME)) return null;
  const cache = await caches.open(NAME);
  const since = await cache.match(SINCE);
  if (!since || Date.now() - Number(await since.text()) > WEEK) {
    await end();
    return null;
  }
  const kept = await cache.match(request, { ignoreVary: true });
  if (!kept || !isForPage) return kept;
  // The page is to know that it may be older than what is stored.
  const text = (await kept.text()).replace("<html", "<html data-copy");
  return new Response(text, { headers: kept.headers });
}

/** Keep an answer, or end where it says that there is nothing to keep any more. */
async function note(request, response) {
  const path = new URL(request.url).pathname;
  const isStatic = path.startsWith(STATIC);
  const whose = response.headers.get(ID);
  if (response.status === 401 && !isStatic) {
    // Who only lost the cookie may come again.
    await end({ all: whose === OVER });
  } else if (response.status === 404 && isPage(path)) await end();
  else if (response.status !== 200 || response.type !== "basic" || response.redirected) return;
  else if (!isStatic && whose !== JUDGE) await end({ all: whose !== null });
  else if (await caches.has(NAME)) {
    try {
      await (await caches.open(NAME)).put(request, response);
    } catch {
      // The disk is full: offline.js says so. An older copy would be worse than none.
      await (await caches.open(NAME)).delete(request, { ignoreVary: true });
    }
  }
}

async function removeCopies(isMeant) {
  for (const name of await caches.keys()) if (name.startsWith(OURS) && isMeant(name)) await caches.delete(name);
}

/**
 * Remove the copies and this worker.
 *
 * @param {boolean} [all] also what could not be sent yet: it is of somebody who may not come again
 */
async function end({ all = false } = {}) {
  await removeCopies(() => true);
  if (all) {
    for (const { name } of await indexedDB.databases()) {
      if (name.startsWith(OURS)) indexedDB.deleteDatabase(name);
    }
  }
  await self.registration.unregister();
}
