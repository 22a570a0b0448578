// The worker that keeps a judge's pages, in a browser of its own that is made up.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const SOURCE = readFileSync(new URL("../../webjudge/static/sw.js", import.meta.url), "utf8");
const BASE = "https://made.up";
const DAY = 24 * 60 * 60 * 1000;

/** An answer of the page's own server. */
class Answer extends Response {
  get type() {
    return "basic";
  }

  clone() {
    return Object.setPrototypeOf(super.clone(), Answer.prototype);
  }
}

/** Caches as browsers have them: by name, of texts with headers. */
class Caches {
  all = new Map();

  async keys() {
    return [...this.all.keys()];
  }

  async has(name) {
    return this.all.has(name);
  }

  async delete(name) {
    return this.all.delete(name);
  }

  async open(name) {
    if (!this.all.has(name)) this.all.set(name, new Map());
    const kept = this.all.get(name);
    const key = (request) => new URL(request.url ?? request, BASE).href;
    const put = async (request, response) => { kept.set(key(request), response); };
    return {
      put,
      match: async (request) => kept.get(key(request))?.clone(),
      delete: async (request) => kept.delete(key(request)),
      addAll: async (files) => { for (const file of files) await put(file, new Response("a file")); },
    };
  }
}

/** A worker, and a browser that asks it. */
async function started({ version = "v1", judge = "one" } = {}) {
  const [listeners, databases, caches] = [{}, new Set(["quem-one", "others"]), new Caches()];
  const state = { now: Date.now(), isRegistered: true, network: async () => { throw new TypeError("offline"); } };
  class Clock extends Date {
    static now() {
      return state.now;
    }
  }
  const context = vm.createContext({
    caches, Response, Request, URL, Promise, Error, setTimeout: () => 0, Date: Clock,
    VERSION: version, FILES: ["/static/v1/workspace.js"],
    location: new URL(`${BASE}/judge/sw.js?judge=${judge}&version=${version}`),
    indexedDB: {
      databases: async () => [...databases].map((name) => ({ name })),
      deleteDatabase: (name) => databases.delete(name),
    },
    fetch: (request) => state.network(request),
    self: {
      addEventListener: (name, act) => { listeners[name] = act; },
      skipWaiting: () => {},
      clients: { claim: async () => {} },
      registration: { unregister: async () => { state.isRegistered = false; } },
    },
  });
  vm.runInContext(SOURCE, context);

  /** Let the worker do something, to its end. */
  const doing = async (name, event = {}) => {
    const under = [];
    const whole = { ...event, waitUntil: (one) => under.push(one), respondWith: (one) => { whole.answer = one; } };
    listeners[name](whole);
    let answer = null;
    try {
      answer = whole.answer ? await whole.answer : "not asked";
    } finally {
      for (const one of under) await one;
    }
    return answer;
  };
  const browser = {
    state, caches, databases, doing,
    /** Ask for an address, by a page or by a click. */
    ask: (path, { mode = "navigate", method = "GET", ...headers } = {}) => doing("fetch", {
      request: { url: new URL(path, BASE).href, mode, method, headers: new Headers(headers) },
    }),
    serve: (text, status = 200, headers = { "Offline-Id": judge }) => {
      state.network = async () => new Answer(text, { status, headers });
    },
    cut: () => { state.network = async () => { throw new TypeError("offline"); }; },
    prepare: () => doing("message", { data: "prepare", ports: [{ postMessage: (said) => { state.said = said; } }] }),
  };
  await doing("activate");
  if (version) await browser.prepare();
  return browser;
}

/** Keep the first page and one task. */
async function filled(options) {
  const browser = await started(options);
  browser.serve("<html><p>Kept</p>");
  for (const path of ["/judge", "/judge/g/task"]) await browser.ask(path);
  return browser;
}

test("the network counts; a copy says that it is one", async () => {
  const browser = await filled();
  assert.equal(browser.state.said, "");
  browser.serve("<html>New");
  assert.equal(await (await browser.ask("/judge")).text(), "<html>New");
  browser.cut();
  assert.equal(await (await browser.ask("/judge")).text(), "<html data-copy>New");
  assert.equal(await (await browser.ask("/static/v1/workspace.js", { mode: "cors" })).text(), "a file");
  // Scripts ask for a page to learn what is there now.
  await assert.rejects(browser.ask("/judge/g/task", { mode: "cors" }), /offline/);
  await assert.rejects(browser.ask("/judge/g/other"), /offline/);
});

test("an error of a proxy before the server is none of the server's", async () => {
  const browser = await filled();
  browser.serve("Bad gateway", 502, {});
  assert.equal(await (await browser.ask("/judge")).text(), "<html data-copy><p>Kept</p>");
  browser.serve("Our own", 503);
  assert.equal((await browser.ask("/judge")).status, 503);
});

test("other pages and requests are none of the worker's", async () => {
  const browser = await filled();
  for (const path of ["/dashboard", "/judge/done", "/judge/receipts.txt", "/judgement", "https://other.example"]) {
    assert.equal(await browser.ask(path), "not asked", path);
  }
  assert.equal(await browser.ask("/judge/g/task/state", { method: "PUT" }), "not asked");
  assert.equal(await browser.ask("/judge/g/task", { "Offline-Fill": "1" }), "not asked");
});

test("what ends the copies, and what ends all", async () => {
  for (const [status, headers, isAll] of [
    [401, { "Offline-Id": "over" }, true], // the link was revoked
    [401, { "Offline-Id": "" }, false], // the cookie is lost
    [200, { "Offline-Id": "two" }, true], // another judge
    [200, {}, false], // offline is off now
    [404, { "Offline-Id": "one" }, false], // the task is gone
  ]) {
    const browser = await filled();
    browser.serve("<html>", status, headers);
    await browser.ask("/judge");
    assert.deepEqual(await browser.caches.keys(), [], `${status}`);
    assert.deepEqual([...browser.databases], isAll ? ["others"] : ["quem-one", "others"]);
    assert.equal(browser.state.isRegistered, false);
  }
});

test("copies end after 7 days", async () => {
  const browser = await filled();
  browser.cut();
  browser.state.now += 6 * DAY;
  assert.ok(await browser.ask("/judge"));
  browser.state.now += 2 * DAY;
  await assert.rejects(browser.ask("/judge"), /offline/);
  assert.deepEqual([await browser.caches.keys(), [...browser.databases]], [[], ["quem-one", "others"]]);
});

test("a new version removes the copies of others, and none removes itself", async () => {
  const browser = await started();
  await browser.caches.open("quem-one-v0");
  await browser.caches.open("somebody's");
  await browser.doing("activate");
  assert.deepEqual(await browser.caches.keys(), ["quem-one-v1", "somebody's"]);
  const off = await started({ version: "" });
  assert.deepEqual([off.state.isRegistered, await off.ask("/judge")], [false, "not asked"]);
});

test("a full disk is told, and leaves no older copy", async () => {
  const browser = await filled();
  const { open } = browser.caches;
  const full = async () => { throw new DOMException("full", "QuotaExceededError"); };
  browser.caches.open = async (name) => ({ ...await open.call(browser.caches, name), put: full });
  browser.serve("<html>New");
  await browser.ask("/judge");
  await browser.prepare();
  assert.equal(browser.state.said, "QuotaExceededError");
  browser.cut();
  await assert.rejects(browser.ask("/judge"), /offline/);
  assert.ok(await browser.ask("/judge/g/task"));
});
