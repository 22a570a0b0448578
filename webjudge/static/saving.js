// Saves states: one at a time, the newest next, retried until the server has them.
//
// What is not saved yet is also kept in this browser, so that a reload or a crash loses nothing.

const PAUSES = [1, 2, 4, 8, 15, 30];
const LONGEST_WAIT = 20_000;

/** A random id of this tab; works without https too. */
function tabId() {
  const bytes = crypto.getRandomValues(new Uint8Array(15));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
}

export class Saver {
  /**
   * @param {object} data what the page carries: urls, key, revision, preview
   * @param {object} told functions: status(word, text), conflict(answer), closed(text),
   *   submitted(answer), ended(text)
   * @param {function(): number} takeSeconds gives the working time since the last call
   */
  constructor(data, told, takeSeconds) {
    this.urls = data.urls;
    this.preview = data.preview;
    this.revision = data.revision;
    this.store = `webjudge:${data.key}`;
    this.told = told;
    this.takeSeconds = takeSeconds;
    this.client = tabId();
    this.change = 0;
    this.waiting = null; // the newest change that is not sent yet
    this.sending = null; // the change that is on its way, or to be sent again
    this.failures = 0;
    this.stopped = false;
    this.timer = 0;
    addEventListener("online", () => this.retry());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.retry(); });
    addEventListener("beforeunload", (event) => { if (this.isBehind) event.preventDefault(); });
  }

  get isBehind() {
    return !this.preview && !this.stopped && Boolean(this.waiting || this.sending);
  }

  /** What an earlier visit left unsaved here, or null: {base, state}. */
  left() {
    try {
      return JSON.parse(localStorage.getItem(this.store));
    } catch {
      return null;
    }
  }

  keep(state) {
    try {
      if (state) localStorage.setItem(this.store, JSON.stringify({ base: this.revision, state }));
      else localStorage.removeItem(this.store);
    } catch {
      // A full or forbidden storage is no reason to stop ranking.
    }
  }

  save(state, { submit = false, reopen = false } = {}) {
    if (this.preview) {
      this.told.status("preview", "Preview: nothing is stored");
      if (submit) this.told.submitted({ next: this.urls.next });
      if (reopen) this.told.reopened({});
      return;
    }
    if (this.stopped) return;
    this.waiting = { state, submit, reopen };
    this.keep(state);
    if (!this.failures) this.told.status("saving", "Saving …");
    this.pump();
  }

  /** A change is coming, when the person pauses: keep it, and do not say that all is saved. */
  soon(state) {
    if (this.preview || this.stopped) return;
    this.keep(state);
    if (!this.failures) this.told.status("saving", "Saving …");
  }

  /** Go on from a newer revision, with this order or none. */
  resume(revision, state) {
    this.revision = revision;
    this.sending = this.waiting = null;
    this.stopped = false;
    this.keep(null);
    if (state) this.save(state);
    else this.told.status("saved", "Saved");
  }

  retry() {
    if (!this.failures) return;
    clearTimeout(this.timer);
    this.pump();
  }

  async pump() {
    if (this.busy || this.stopped) return;
    if (!this.sending) {
      if (!this.waiting) return;
      this.change += 1;
      this.sending = { ...this.waiting, base: this.revision, change: this.change, seconds: this.takeSeconds() };
      this.waiting = null;
    }
    this.busy = true;
    try {
      await this.send(this.sending);
    } finally {
      this.busy = false;
    }
    if (!this.failures) this.pump();
  }

  async send(change) {
    const { base, state, submit, seconds } = change;
    const common = { base, client: this.client, change: change.change };
    const [method, url, body] = change.reopen
      ? ["POST", this.urls.reopen, common]
      : ["PUT", this.urls.state, { ...common, state, seconds, submit }];
    let response;
    let answer;
    try {
      response = await fetch(url, {
        method,
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(LONGEST_WAIT),
      });
      answer = await response.json();
    } catch {
      this.later("offline", "Offline: your order is kept in this browser and will be saved later");
      return;
    }
    if (response.ok) this.acknowledge(change, answer);
    else if (response.status === 409) this.stop(() => this.told.conflict(answer));
    else if (response.status === 403 && answer.error === "submitted") this.stop(() => location.reload());
    else if (response.status === 403) this.stop(() => this.told.closed(answer.message));
    else if (response.status === 401 || response.status === 404) this.stop(() => this.told.ended(answer.message));
    else if (response.status >= 500 || response.status === 429) {
      this.later("offline", "Not saved yet: the server is busy. Your order is kept in this browser");
    } else this.stop(() => this.told.ended(answer.message));
  }

  acknowledge(change, answer) {
    this.failures = 0;
    this.revision = answer.revision;
    this.sending = null;
    if (this.waiting) {
      this.keep(this.waiting.state);
      return;
    }
    this.keep(null);
    this.told.status("saved", "Saved");
    if (answer.submitted) this.told.submitted(answer);
    if (change.reopen) this.told.reopened(answer);
  }

  later(word, text) {
    const pause = PAUSES[Math.min(this.failures, PAUSES.length - 1)];
    this.failures += 1;
    this.told.status(word, text);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.pump(), pause * 1000);
  }

  /** No more is sent until the person has decided; what is unsaved stays in this browser. */
  stop(tell) {
    this.failures = 0;
    this.stopped = true;
    tell();
  }
}
