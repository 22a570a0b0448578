// Saving: what is sent and when, with a server that answers as it is told.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

const listeners = {};
const memory = new Map();
globalThis.addEventListener = (name, act) => { listeners[name] = act; };
globalThis.document = {
  hidden: false, addEventListener: () => {}, getElementById: () => null, documentElement: { lang: "en" },
};
const storage = {
  getItem: (key) => memory.get(key) ?? null,
  setItem: (key, text) => memory.set(key, text),
  removeItem: (key) => memory.delete(key),
};
// As in browsers, the keys of what is stored are keys of the storage itself.
globalThis.localStorage = new Proxy(storage, {
  ownKeys: () => [...memory.keys()],
  getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
});

const { Saver } = await import("../../webjudge/static/saving.js");
const { Drafts } = await import("../../webjudge/static/storage.js");

const DATA = {
  key: "task", layout: "layout-1", contents: {}, revision: 0, submitted: false, preview: false,
  urls: { state: "/state", reopen: "/reopen", next: "/next" },
};

let sent;
let answers;
let events;

/** A saver whose page notes what it is told. */
function saver(more = {}) {
  const clock = {
    take: () => ({ seconds: 1.5, views: {} }), put: (time) => events.push(["put", time]),
  };
  return new Saver({ ...DATA, ...more }, clock, (word, answer) => events.push([word, answer]));
}

/** Let everything that is under way come to its end. */
const settled = async () => {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
};

const names = () => events.map(([name]) => name).filter((name) => name !== "changed");

beforeEach(() => {
  [sent, answers, events] = [[], [], []];
  memory.clear();
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.fetch = async (url, { method, body }) => {
    const content = JSON.parse(body);
    sent.push({ url, method, ...content });
    const answer = answers.shift() ?? { revision: content.base + 1, submitted: content.submit === true };
    if (answer === "offline") throw new TypeError("offline");
    const { status = 200, ...rest } = answer;
    return { ok: status === 200, status, json: async () => rest };
  };
});

test("changes are sent one at a time, the newest next", async () => {
  const mine = saver();
  for (const state of ["one", "two", "three"]) mine.save(state);
  assert.ok(mine.isBehind);
  await settled();
  assert.deepEqual(sent.map(({ state, base, change }) => [state, base, change]), [["one", 0, 1], ["three", 1, 2]]);
  assert.deepEqual([mine.isBehind, mine.revision, memory.size], [false, 2, 0]);
});

test("the working time of a change that is replaced goes with the next one", async () => {
  let worked = 0;
  const mine = saver();
  mine.clock = {
    take: () => {
      const seconds = worked;
      worked = 0;
      return { seconds, views: { A: seconds } };
    },
    put: ({ seconds }) => { worked += seconds; },
  };
  for (const [state, seconds] of [["one", 1], ["two", 2], ["three", 4]]) {
    worked += seconds;
    mine.save(state);
  }
  await settled();
  assert.deepEqual(sent.map(({ seconds, views }) => [seconds, views]), [[1, { A: 1 }], [6, { A: 6 }]]);
});

test("without an answer the same change is sent again, and kept meanwhile", async () => {
  answers = ["offline", { status: 503 }];
  const mine = saver();
  mine.save("one");
  await settled();
  assert.equal(new Drafts({ ...DATA }, "other").takeOver().state, "one");
  assert.equal(mine.draftLocation, "Your work is kept in this browser.");
  mock.timers.tick(1000);
  await settled();
  mock.timers.tick(2000);
  await settled();
  assert.deepEqual(sent.map(({ state, change }) => [state, change]), [["one", 1], ["one", 1], ["one", 1]]);
  assert.equal(mine.revision, 1);
});

test("what is changed after submitting withdraws the submission", async () => {
  const mine = saver();
  mine.save("one", { submit: true });
  await settled();
  assert.deepEqual(names(), ["submitted"]);
  mine.save("two");
  assert.ok(mine.submissionWithdrawn);
  await settled();
  assert.deepEqual(sent.map(({ url }) => url), ["/state", "/reopen", "/state"]);
  assert.deepEqual([mine.submitted, mine.isBehind], [false, false]);
});

test("typing is saved in a pause", async () => {
  const mine = saver();
  mine.save("N", { soon: true });
  mine.save("Neat", { soon: true });
  await settled();
  assert.equal(sent.length, 0);
  mock.timers.tick(600);
  await settled();
  assert.deepEqual(sent.map(({ state }) => state), ["Neat"]);
});

test("a newer order elsewhere stops saving until the person has decided", async () => {
  answers = [{ status: 409, error: "stale", revision: 7, submitted: false, state: "theirs" }];
  const mine = saver();
  mine.save("mine");
  await settled();
  mine.save("mine too");
  await settled();
  assert.deepEqual([names(), sent.length], [["put", "stale"], 1]);
  mine.resume({ revision: 7, submitted: false }, "mine too");
  await settled();
  assert.deepEqual([sent.at(-1).base, sent.at(-1).state, mine.revision], [7, "mine too", 8]);
});

test("a page that is out of date begins again, with what is kept", async () => {
  let reloads = 0;
  globalThis.location = { reload: () => { reloads += 1; } };
  for (const error of ["layout", "unanswered", "submitted"]) {
    answers = [{ status: 409, error }];
    const mine = saver();
    mine.save("one");
    await settled();
    assert.equal(mine.isBehind, false);
    assert.equal(new Drafts(DATA, "other").takeOver().state, "one");
    memory.clear();
  }
  assert.equal(reloads, 3);
});

test("why nothing can be saved any more is told", async () => {
  for (const [answer, name] of [
    [{ status: 403, error: "paused", message: "paused" }, "paused"],
    [{ status: 403, error: "closed", message: "closed" }, "closed"],
    [{ status: 422, error: "invalid", message: "wrong" }, "ended"],
  ]) {
    answers = [answer];
    saver().save("one");
    await settled();
    assert.equal(names().at(-1), name);
  }
});

test("a preview sends nothing", async () => {
  const mine = saver({ preview: true });
  mine.save("one", { submit: true });
  await settled();
  assert.deepEqual([names(), sent, mine.isBehind], [["submitted"], [], false]);
});

test("a draft of an earlier visit is taken over once", () => {
  new Drafts(DATA, "first").put({ base: 3, state: "one", sent: null });
  const second = new Drafts(DATA, "second");
  const { base, state, layout } = second.takeOver();
  assert.deepEqual([base, state, layout], [3, "one", "layout-1"]);
  second.drop();
  assert.equal(new Drafts(DATA, "third").takeOver(), null);
});
