// Saves states: one at a time, the newest next, retried until the server has them.
//
// A change that is made after submitting takes the submission back, wherever that is by then:
// still waiting here, on its way, or on the server, where it is opened again first.

import { inTenths } from "./clock.js";
import { DraftStorage } from "./drafts.js";
import { send } from "./network.js";
import { t } from "./words.js";

const PAUSES = [1, 2, 4, 8, 15, 30];
const LONGEST_WAIT = 20_000;
const TYPING = 600;
// Who is told of an answer after which the person has to decide.
const DECISIONS = { layout: "relaid", unanswered: "unanswered", stale: "conflict" };
// Browsers let no more than this outlive the page.
const MOST_KEPT_ALIVE = 60_000;

/** A random id of this tab; works without https too. */
export function tabId() {
  const bytes = crypto.getRandomValues(new Uint8Array(15));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
}

export class Saver {
  /** Of what the page carries, the functions that are told, and the clock that gives and takes back time. */
  constructor(data, on, clock) {
    this.data = data;
    this.urls = data.urls;
    this.preview = data.preview;
    this.revision = data.revision;
    this.savedAt = null; // when this page saved last
    this.submitted = data.submitted; // whether that revision is a submitted one
    this.on = on;
    this.clock = clock;
    this.client = tabId();
    this.drafts = new DraftStorage(data, this.client);
    this.change = 0; // how many were sent
    this.waiting = null; // the newest change that is not sent yet
    this.sending = null; // the change that is on its way, or to be sent again
    this.unanswered = null; // what an earlier visit sent and may have reached the server since
    this.opening = false; // whether the person asked for the ranking to be opened again
    this.submissionWithdrawn = false; // whether there is a change since the person submitted
    this.failures = 0;
    this.busy = null; // what is being sent
    this.stopped = false; // until the person has decided
    this.ended = false; // for good
    this.timer = 0;
    this.pausing = 0;
    addEventListener("online", () => this.retry());
    addEventListener("pagehide", () => this.pump());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.pump();
      else this.retry();
    });
    addEventListener("beforeunload", (event) => {
      if (this.isBehind) event.preventDefault();
    });
  }

  get isBehind() {
    return !this.preview && !this.ended && Boolean(this.waiting || this.sending || this.opening);
  }

  /** Whether the newest that the person wants is to submit. */
  get isSubmitting() {
    return Boolean((this.waiting ?? this.sending)?.submit);
  }

  /** The state of which it is not known whether the server has it, or null. */
  get onItsWay() {
    return this.sending?.state ?? this.unanswered;
  }

  /** Save or submit an order: at once, or when the person pauses typing. */
  save(state, { submit = false, soon = false } = {}) {
    if (this.preview) {
      this.submitted = submit;
      this.report();
      if (submit) this.on.submitted({ next: this.urls.next, saved_at: new Date().toISOString() });
      return;
    }
    if (this.ended) return;
    if (submit && this.isSubmitting) {
      this.retry();
      return;
    }
    const withdraws = !submit && (this.isSubmitting || this.submitted);
    if (this.waiting) this.clock.put(this.waiting); // its time is kept with the change that replaces it
    this.waiting = { state, submit, ...this.clock.take() };
    this.keep();
    if (submit) this.submissionWithdrawn = false;
    else if (withdraws && !this.submissionWithdrawn) {
      this.submissionWithdrawn = true;
      this.on.submissionWithdrawn();
    }
    if (this.stopped) return;
    this.report();
    clearTimeout(this.pausing);
    this.pausing = soon ? setTimeout(() => this.pump(), TYPING) : 0;
    if (!soon) this.pump();
  }

  /** Keep in this browser what waits. */
  keep() {
    this.drafts.put({ base: this.revision, state: this.waiting.state, sent: this.onItsWay });
  }

  /** Open a submitted ranking again. */
  reopen() {
    this.opening = !this.preview;
    if (this.opening) this.pump();
    else {
      this.submitted = false;
      this.on.reopened();
    }
  }

  /** Go on from a newer revision, with this order or none; a submission has to be made anew. */
  resume({ revision, submitted }, state = null, how = {}) {
    const wanted = this.submissionWithdrawn || this.isSubmitting;
    this.submissionWithdrawn = state ? wanted || submitted : wanted && !submitted;
    this.revision = revision;
    this.submitted = submitted;
    if (this.waiting) this.clock.put(this.waiting);
    this.sending = this.waiting = this.unanswered = null;
    this.opening = this.stopped = false;
    this.drafts.drop();
    if (state) this.save(state, how);
    else this.report();
  }

  retry() {
    if (!this.failures) return;
    clearTimeout(this.timer);
    this.pump();
  }

  /** Send what waits; done when the server has it, or did not answer. */
  async pump() {
    clearTimeout(this.pausing);
    this.pausing = 0;
    while (this.busy) await this.busy;
    if (this.stopped) return;
    this.sending ??= this.next();
    if (!this.sending) return;
    this.busy = this.send(this.sending);
    try {
      await this.busy;
    } finally {
      this.busy = null;
    }
    if (!this.failures && !this.pausing) await this.pump();
  }

  /** What is sent next, or null; what is submitted has to be opened before it changes. */
  next() {
    const reopen = this.submitted && Boolean(this.waiting || this.opening);
    if (!reopen && !this.waiting) return null;
    this.change += 1;
    const change = {
      reopen, base: this.revision, client: this.client, change: this.change, layout: this.data.layout,
    };
    if (reopen) return change;
    const { waiting } = this;
    this.waiting = null;
    return { ...change, ...waiting };
  }

  /** Send a change; gives {status, answer}, or null where no answer came. */
  transmit({ reopen, state, submit, seconds, views, ...change }) {
    const content = reopen ? change : { ...change, state, submit, ...inTenths({ seconds, views }) };
    const size = new TextEncoder().encode(JSON.stringify(content)).length;
    return send(reopen ? this.urls.reopen : this.urls.state, content, {
      method: reopen ? "POST" : "PUT",
      keepalive: size < MOST_KEPT_ALIVE,
      signal: AbortSignal.timeout(LONGEST_WAIT),
    });
  }

  async send(change) {
    const sent = await this.transmit(change);
    if (!sent) {
      this.later(t("Offline"));
      return;
    }
    const { status, answer } = sent;
    if (status === 200) {
      this.acknowledge(answer);
      return;
    }
    const { error, message } = answer;
    if (status === 409) this.clock.put(change);
    if (error in DECISIONS) this.stop(() => this.on[DECISIONS[error]](answer));
    else if (status >= 500 || status === 429) this.later(t("Server busy"));
    else {
      const isClosed = status === 403 && error !== "ended";
      this.ended = true;
      this.stop(() => {
        if (error === "submitted") location.reload();
        else if (error === "paused") this.on.paused(message);
        else this.on[isClosed ? "closed" : "ended"](message);
      });
    }
  }

  acknowledge(answer) {
    this.failures = 0;
    this.trouble = "";
    this.revision = answer.revision;
    this.submitted = answer.submitted;
    this.savedAt = new Date(answer.saved_at);
    this.sending = null;
    this.unanswered = null;
    if (this.waiting) this.keep();
    else this.drafts.drop();
    this.report();
    if (this.opening && !this.submitted) {
      this.opening = false;
      this.on.reopened();
    }
    if (this.submitted && !this.waiting) this.on.submitted(answer);
  }

  later(trouble) {
    const pause = PAUSES[Math.min(this.failures, PAUSES.length - 1)];
    this.failures += 1;
    this.trouble = trouble;
    this.report();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.pump(), pause * 1000);
  }

  /** No more is sent until the person has decided; what is unsaved stays in this browser. */
  stop(tell) {
    this.failures = 0;
    this.stopped = true;
    tell();
  }

  /** Try again later what stopped for a decision that cannot be made yet. */
  postpone(trouble) {
    this.stopped = false;
    this.later(trouble);
  }

  /** Send nothing more, and ask nothing before the page is left. */
  end() {
    this.ended = true;
  }

  /** Go on where what is newer on the server is what this page has or sent; gives whether it is. */
  joins(newer, state, same) {
    const isSame = same(state, newer.state);
    const isSent = [this.sending?.state, this.unanswered].some((sent) => sent && same(sent, newer.state));
    if (!isSame && (newer.submitted || !isSent)) return false;
    const submit = this.isSubmitting && !newer.submitted;
    this.resume(newer, isSame && !submit ? null : state, { submit });
    return true;
  }

  /**
   * Take up what an earlier visit left: gives whether it is "stored", counts as "mine", or "both" are
   * there and the person has to decide.
   */
  takeUp({ base, state, sent }, stored, same, canSave = true) {
    if (same(state, stored)) {
      this.drafts.drop();
      return "stored";
    }
    if (canSave && (base === this.revision || (sent && same(sent, stored)))) {
      // What was on its way may arrive even after the page that sent it is closed.
      this.unanswered = base === this.revision ? sent : null;
      return "mine";
    }
    // What is kept must go on saying what it was made from.
    this.revision = base;
    this.stopped = true;
    return "both";
  }

  /** Where an order is that is not saved. */
  get draftLocation() {
    return this.drafts.works
      ? t("Your work is kept in this browser.")
      : t("Keep this page open: your work is stored nowhere else.");
  }

  /** Say how far saving is: in a word, and in sentences where that needs explaining. */
  report() {
    if (this.preview) this.on.status("preview", t("Preview: nothing is saved"));
    else if (this.failures) {
      const later = this.isSubmitting
        ? t("It will be submitted when the server answers again.")
        : t("It will be saved when the server answers again.");
      const again = this.submissionWithdrawn ? t("Then submit it again.") : "";
      const [place, here] = this.drafts.works
        ? [t("Kept on this device"), t("kept here")]
        : [t("Keep this page open"), t("keep this page open")];
      const details = [`${this.trouble}.`, this.draftLocation, later, again].filter(Boolean).join(" ");
      this.on.status("offline", `${this.trouble}. ${place}`, details, null, `${this.trouble}, ${here}`);
    } else if (this.waiting || this.sending) {
      this.on.status("saving", this.isSubmitting ? t("Submitting…") : t("Saving…"));
    } else if (this.submitted) this.on.status("saved", t("Submitted"), "", this.savedAt);
    else if (this.submissionWithdrawn) this.on.status("saved", t("Saved as draft. Submit again"));
    else this.on.status("saved", t("Saved"), "", this.savedAt);
  }
}
