// What is kept in the browser where a study is judged offline, and how it is sent.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const OFFLINE = { judge: "one", version: "v1", isOver: false, home: "/judge", worker: "/judge/sw.js", pages: [] };
const STORES = { unsent: ["task", "client"], saved: ["task"] };

let stores; // the tables of the database, by name
let live; // the locks that pages hold
let isFull;
let sent;
let answers;

/** A request that is answered a moment later. */
function answered(result) {
  const request = { result };
  queueMicrotask(() => request.onsuccess?.());
  return request;
}

/** As much of IndexedDB as is used: what a transaction did counts when it is complete. */
function transaction(mode) {
  const rows = Object.fromEntries(Object.entries(stores).map(([name, table]) => [name, new Map(table)]));
  const own = { commit: () => {}, abort: () => own.onabort?.() };
  const keyOf = (name, row) => JSON.stringify(STORES[name].map((field) => row[field]));
  own.objectStore = (name) => ({
    get: (key) => answered(rows[name].get(JSON.stringify([key].flat()))),
    getAll: () => answered([...rows[name].values()]),
    count: () => answered(rows[name].size),
    put: (row) => {
      rows[name].set(keyOf(name, row), structuredClone(row));
      return Object.assign(answered(), { transaction: own });
    },
    delete: (key) => {
      rows[name].delete(JSON.stringify([key].flat()));
      return Object.assign(answered(), { transaction: own });
    },
  });
  setImmediate(() => {
    if (mode === "readwrite" && isFull) {
      own.error = new DOMException("full", "QuotaExceededError");
      own.onabort();
      return;
    }
    if (mode === "readwrite") stores = rows;
    own.oncomplete();
  });
  return own;
}

globalThis.indexedDB = {
  open: () => answered({ transaction: (_, mode) => transaction(mode), close: () => {} }),
  deleteDatabase: () => {
    for (const table of Object.values(stores)) table.clear();
    return answered();
  },
};
Object.defineProperty(globalThis, "navigator", { configurable: true, value: { locks: {
  query: async () => ({ held: [...live].map((name) => ({ name })) }),
  request: async (name, options, act) => act({ name }),
} } });
globalThis.sessionStorage = { getItem: () => "mine", setItem: () => {} };
globalThis.location = { pathname: "/judge/g/task" };
globalThis.document = {
  getElementById: (id) => (id === "offline" ? { textContent: JSON.stringify(OFFLINE) } : null),
  documentElement: { lang: "en", dataset: {} },
};

const { KeptStates } = await import("../../webjudge/static/keeping.js");
const { deliverAll } = await import("../../webjudge/static/outbox.js");

const DATA = {
  key: "task", layout: "layout-1", contents: { A: "a" }, step: "Task 1 of 2", title: "Problem 0",
  urls: { state: "/state", reopen: "/reopen" },
};
const CHANGE = {
  state: { ranked: [["A"]] }, submit: false, client: "tab-1", change: 2, layout: "layout-1",
  seconds: 12.34, views: { A: 12.34 }, base: 4, submitted: false, sending: null,
};

/** Keep a change of a page; gives the page's storage. */
async function kept(more = {}) {
  const states = new KeptStates(DATA, "tab-1");
  states.put({ ...CHANGE, ...more });
  assert.ok(states.isWriting && !states.survives);
  await states.settled();
  return states;
}

const rows = () => [...stores.unsent.values()];

beforeEach(() => {
  stores = { unsent: new Map(), saved: new Map() };
  [live, isFull, sent, answers] = [new Set(["quem-tab-mine"]), false, [], []];
  globalThis.fetch = async (url, { method, body }) => {
    const content = JSON.parse(body);
    sent.push({ url, method, ...content });
    const { base, submit = false } = content;
    const answer = answers.shift() ?? { revision: base + 1, submitted: submit, saved_at: "now" };
    if (answer === "offline") throw new TypeError("offline");
    const { status = 200, headers = {}, ...rest } = answer;
    return { status, headers: new Headers(headers), json: async () => rest };
  };
});

test("a change is kept whole, and taken over as the same change", async () => {
  const first = await kept({ sending: { ...CHANGE, change: 1 } });
  assert.ok(first.works && first.survives);
  const second = new KeptStates(DATA, "tab-2");
  const left = await second.takeOver();
  for (const [name, value] of Object.entries(CHANGE)) {
    if (name !== "sending") assert.deepEqual(left[name], value, name);
  }
  assert.deepEqual([left.sending.change, left.sent], [1, CHANGE.state]);
  second.drop({ revision: 5, submitted: false, state: CHANGE.state, receipt: null });
  await second.settled();
  assert.deepEqual([rows(), (await new KeptStates(DATA, "tab-3").takeOver()).saved.revision], [[], 5]);
});

test("what another open page has in hand is its own", async () => {
  await kept();
  const [row] = rows();
  stores.unsent.set(JSON.stringify(["task", "tab-1"]), { ...row, tab: "theirs" });
  live.add("quem-tab-theirs");
  assert.equal((await new KeptStates(DATA, "tab-2").takeOver()).state, undefined);
  assert.deepEqual(await deliverAll(), { sent: [], later: [], open: [], refused: [] });
  live.delete("quem-tab-theirs");
  assert.deepEqual((await new KeptStates(DATA, "tab-2").takeOver()).state, CHANGE.state);
});

test("a full disk is known", async () => {
  isFull = true;
  const states = await kept();
  assert.deepEqual([states.works, states.survives, rows()], [false, false, []]);
});

test("what may have been sent goes first, as it was", async () => {
  await kept({ sending: { ...CHANGE, change: 1, seconds: 3, views: {} }, submit: true });
  assert.equal((await deliverAll()).sent.length, 1);
  assert.deepEqual(
    sent.map(({ change, base, seconds, submit }) => [change, base, seconds, submit]),
    [[1, 4, 3, false], [2, 5, 12.3, true]],
  );
  assert.deepEqual(sent[1].views, { A: 12.3 });
  assert.deepEqual([rows(), [...stores.saved.values()][0].revision], [[], 6]);
});

test("what is submitted is opened before it changes", async () => {
  await kept({ submitted: true });
  await deliverAll();
  assert.deepEqual(sent.map(({ url, client }) => [url, client]), [["/reopen", "tab-1-r"], ["/state", "tab-1"]]);
});

test("what becomes of a change that is kept", async () => {
  const theirs = { status: 409, error: "stale", revision: 9, submitted: false, state: { ranked: [] } };
  for (const [answer, how, stays] of [
    ["offline", "later", 1],
    [{ status: 503 }, "later", 1],
    [{ status: 401 }, "later", 1], // the cookie is lost
    [{ status: 401, headers: { "Offline-Id": "over" } }, "later", 0], // the link was revoked
    [theirs, "open", 1],
    [{ ...theirs, state: CHANGE.state }, "sent", 0], // it is there, from elsewhere
    [{ status: 409, error: "layout" }, "open", 1],
    [{ status: 403, error: "paused", message: "Paused." }, "refused", 1],
    [{ status: 409, error: "gone", message: "Gone." }, "refused", 1],
    [{ status: 404 }, "sent", 0],
  ]) {
    stores = { unsent: new Map(), saved: new Map() };
    await kept();
    answers = [answer];
    const done = await deliverAll();
    assert.deepEqual([done[how].length, rows().length], [1, stays], JSON.stringify(answer));
    if (how === "refused") assert.equal(done.refused[0].reason, answer.message);
  }
});
