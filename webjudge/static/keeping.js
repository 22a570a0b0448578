// What is kept in this browser where a study is judged offline: of each task the state that is not
// sent yet, and the last one that was stored.

const source = globalThis.document?.getElementById("offline");

/** What a page carries where offline is on: {judge, version, isOver, home, worker, pages}, or null. */
export const offline = source ? JSON.parse(source.textContent) : null;

/** Whether the page is a copy that may be older than what is stored. */
export const isCopy = Boolean(globalThis.document?.documentElement?.dataset?.copy !== undefined);

/** Whether states can be kept; only where the connection is secure can tabs tell of each other. */
export const canKeep = Boolean(offline && globalThis.indexedDB && globalThis.navigator?.locks);

/** What the names of all that is kept begin with; sw.js makes the same of its address. */
export const OURS = ["quem", ...(offline?.home ?? "").split("/").slice(2, -1), ""].join("-");
const NAME = `${OURS}${offline?.judge}`;
const TAB = "webjudge:tab";
const UNLOADING = 2_000;
const LONGEST_WAIT = 20_000;

const lockOf = (tab) => `quem-tab-${tab}`;

/** Hold a lock until the page is left; gives whether nobody else does. */
function hold(name) {
  return new Promise((resolve) => {
    // The page that was here before may not be quite gone.
    const signal = AbortSignal.timeout(UNLOADING);
    const held = () => {
      resolve(true);
      return new Promise(() => {});
    };
    navigator.locks.request(name, { signal }, held).catch(() => resolve(false));
  });
}

/** The id of this tab, which stays over reloads; a tab that was copied gets one of its own. */
async function findTab() {
  let known = null;
  try {
    known = sessionStorage.getItem(TAB);
  } catch {
    // Then each page is a tab.
  }
  if (known && await hold(lockOf(known))) return known;
  const made = crypto.randomUUID();
  await hold(lockOf(made));
  try {
    sessionStorage.setItem(TAB, made);
  } catch {
    // As above.
  }
  return made;
}

const tab = canKeep ? findTab() : null;

let opened = null;

function open() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("unsent", { keyPath: ["task", "client"] });
      request.result.createObjectStore("saved", { keyPath: "task" });
    };
    request.onsuccess = () => {
      const db = request.result;
      db.onversionchange = db.onclose = () => {
        db.close();
        opened = null;
      };
      resolve(db);
    };
    request.onerror = () => reject(request.error);
  }).catch((error) => {
    opened = null;
    throw error;
  });
  return opened;
}

/** Do something in one transaction; gives its result when that is complete: then it is kept. */
async function transact(mode, act) {
  const db = await open();
  return new Promise((resolve, reject) => {
    const transaction = db.transaction(["unsent", "saved"], mode, { durability: "strict" });
    let request;
    transaction.oncomplete = () => resolve(request?.result);
    transaction.onabort = () => reject(transaction.error ?? new Error("not kept"));
    try {
      request = act(transaction.objectStore("unsent"), transaction.objectStore("saved"));
    } catch (error) {
      transaction.abort();
      reject(error);
    }
  });
}

/** All states that are not sent and that no other open page has in hand, newest first. */
export async function unsent() {
  const [mine, { held }, rows] = await Promise.all([
    tab, navigator.locks.query(), transact("readonly", (states) => states.getAll()),
  ]);
  const live = new Set(held.map(({ name }) => name));
  return rows
    .filter((row) => row.tab === mine || !live.has(lockOf(row.tab)))
    .sort((one, other) => other.at - one.at);
}

/** Take a step with a state that is kept: what is there instead, or that it is saved. */
export function replace(row, { next = null, saved = null }) {
  return transact("readwrite", (states, stored) => {
    const found = states.get([row.task, row.client]);
    found.onsuccess = () => {
      // A page may have taken it over since, and goes on from it.
      if (found.result?.at === row.at) {
        if (next) states.put(next);
        else states.delete([row.task, row.client]);
      }
      if (saved) stored.put(saved);
    };
    return null;
  });
}

/** Remove what is kept in this browser: the copies, the worker, and what is not sent, if told so. */
export async function leave({ all = false } = {}) {
  if (globalThis.caches) {
    for (const name of await caches.keys()) if (name.startsWith(OURS)) await caches.delete(name);
  }
  for (const one of await navigator.serviceWorker?.getRegistrations() ?? []) {
    if (new URL(one.scope).pathname === offline.home) await one.unregister();
  }
  if (!canKeep) return;
  try {
    if (!all && await transact("readonly", (states) => states.count())) return;
    (await opened)?.close();
  } catch {
    // What cannot be opened is removed as well.
  }
  opened = null;
  await new Promise((resolve) => {
    const request = indexedDB.deleteDatabase(NAME);
    request.onsuccess = request.onerror = request.onblocked = resolve;
  });
}

/** Keeps what one page could not send yet, as `DraftStorage` does where offline is off. */
export class KeptStates {
  /**
   * @param {object} data what the page carries: key, layout, contents, urls, step, title
   * @param {string} client the id that the page's changes have
   */
  constructor(data, client) {
    this.data = data;
    this.client = client;
    this.at = 0;
    this.works = true; // whether what was written last is kept
    this.wanted = null;
    this.writing = null;
    this.tell = () => {}; // called when it is known whether it is kept
  }

  /** Whether it is not known yet that all is kept. */
  get isWriting() {
    return this.writing !== null;
  }

  /** Whether leaving the page loses nothing. */
  get survives() {
    return this.works && !this.isWriting;
  }

  /**
   * Keep a change that waits: {state, submit, client, change, layout, seconds, views}, the revision
   * that it goes on from, whether that is submitted, and the change before, of which no answer came.
   */
  put({ base, submitted, sending, state, submit, client, change, layout, seconds, views }) {
    const { key, contents, urls, step, title } = this.data;
    this.at = Math.max(Date.now(), this.at + 1);
    const row = {
      task: key, client: this.client, at: this.at, base, submitted, layout, contents,
      state, submit, seconds, views, as: { client, change }, sending,
      urls: { state: urls.state, reopen: urls.reopen },
      page: { url: location.pathname, title: [step, title].filter(Boolean).join(": ") },
    };
    this.write({ row });
  }

  /** What waited is sent, and this is stored now: {revision, submitted, state, receipt}. */
  drop(saved = null) {
    const { key, layout, contents } = this.data;
    this.write({ row: null, ...(saved && { saved: { task: key, layout, contents, ...saved } }) });
  }

  write(more) {
    this.wanted = { ...this.wanted, ...more };
    this.writing ??= this.writeAll();
  }

  async writeAll() {
    while (this.wanted) {
      const { row, saved } = this.wanted;
      this.wanted = null;
      try {
        const mine = await tab;
        await transact("readwrite", (states, stored) => {
          if (saved) stored.put(saved);
          const request = row ? states.put({ ...row, tab: mine }) : states.delete([this.data.key, this.client]);
          request.transaction.commit(); // at once: the page may be left
          return request;
        });
        this.works = true;
      } catch {
        this.works = false;
      }
    }
    this.writing = null;
    this.tell();
  }

  /** When all is written that was to be. */
  async settled() {
    await this.writing;
  }

  /**
   * Take over what an earlier visit left here: the state that was not sent, or null, and under
   * `saved` what was stored last, if this page is an older copy.
   */
  async takeOver() {
    let timer;
    const late = new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new Error("no answer of the storage")), LONGEST_WAIT);
    });
    try {
      return await Promise.race([this.look(), late]);
    } catch {
      this.works = false;
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  async look() {
    const { key } = this.data;
    const saved = await transact("readonly", (_, stored) => stored.get(key));
    const left = (await unsent()).find(({ task }) => task === key);
    if (!left) return { saved };
    const { as, sending, ...row } = left;
    this.client = row.client; // go on under its name
    this.at = row.at;
    const mine = await tab;
    await transact("readwrite", (states) => states.put({ ...left, tab: mine }));
    return { ...row, ...as, saved, sending, sent: sending?.state ?? null };
  }
}
