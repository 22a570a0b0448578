// Saves states: one at a time, the newest next, retried until the server has them.
//
// A change after submission withdraws the submission, wherever it is by then:
// waiting here, in flight, or on the server, where it is reopened first.

import { send } from "./network.js";
import { Drafts } from "./storage.js";
import { t } from "./words.js";

const PAUSES = [1, 2, 4, 8, 15, 30]; // seconds between attempts
const LONGEST_WAIT = 20_000;
const TYPING = 600;
// The server has other solutions or questions than the page, or the ranking is submitted.
const OUTDATED = ["layout", "unanswered", "submitted"];

/** A random id of this tab; works without HTTPS. */
function tabId() {
  const bytes = crypto.getRandomValues(new Uint8Array(15));
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
}

export class Saver {
  /**
   * From the page's data, the working-time clock, and a callback with an event name:
   * "changed", "submitted", "reopened", or the reason for a failure, and the response.
   */
  constructor(data, clock, told) {
    this.data = data;
    this.clock = clock;
    this.told = told;
    this.client = tabId();
    this.drafts = new Drafts(data, this.client);
    this.revision = data.revision;
    this.submitted = data.submitted; // whether that revision is submitted
    this.savedAt = null; // time of this page's last save
    this.status = null; // text of the saving state; null before the first save
    this.change = 0; // number of changes sent
    this.waiting = null; // the newest unsent change
    this.sending = null; // the change in flight or to be resent
    this.unanswered = null; // sent by an earlier visit, with unknown outcome
    this.opening = false; // whether the person asked to reopen the ranking
    this.submissionWithdrawn = false; // whether a change followed the submission
    this.failures = 0;
    this.trouble = ""; // last error
    this.busy = null; // the running request
    this.stopped = false; // until the person has decided
    this.ended = false; // for good
    this.leaving = false; // whether the script is about to leave the page
    this.timer = 0; // until the next attempt
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
    return !this.ended && !this.leaving && Boolean(this.waiting || this.sending || this.opening);
  }

  /** Whether the newest request is a submission. */
  get isSubmitting() {
    return Boolean((this.waiting ?? this.sending)?.submit);
  }

  /** Save or submit a state: at once, or debounced while typing. */
  save(state, { submit = false, soon = false } = {}) {
    if (this.ended) return;
    if (submit && this.isSubmitting) {
      this.retry();
      return;
    }
    this.submissionWithdrawn = !submit && (this.submissionWithdrawn || this.isSubmitting || this.submitted);
    if (this.waiting) this.clock.put(this.waiting); // the replacing change takes over its time
    this.waiting = { state, submit, ...this.clock.take() };
    this.keep();
    if (this.stopped) return;
    this.report();
    if (soon) this.wait(TYPING);
    else this.pump();
  }

  /** Store unsent changes in this browser. */
  keep() {
    const sent = this.sending?.state ?? this.unanswered; // unknown whether the server has it
    this.drafts.put({ base: this.revision, state: this.waiting.state, sent });
  }

  /** Reopen a submitted ranking. */
  reopen() {
    this.opening = true;
    this.pump();
  }

  /** Rebase on a newer revision, with this state or none; a submission must be repeated. */
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
    if (this.failures) this.pump();
  }

  wait(milliseconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.pump(), milliseconds);
  }

  /** Send pending changes; resolves when the server has them or did not answer. */
  async pump() {
    clearTimeout(this.timer);
    this.timer = 0;
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
    if (!this.timer) await this.pump();
  }

  /** The next request, or null; a submitted ranking must be reopened before a change. */
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

  async send({ reopen, ...change }) {
    const { urls, preview } = this.data;
    if (preview) {
      const submitted = Boolean(change.submit);
      this.acknowledge({ revision: 0, submitted, saved_at: new Date().toISOString(), next: urls.next });
      return;
    }
    const signal = AbortSignal.timeout(LONGEST_WAIT);
    const sent = await send(reopen ? urls.reopen : urls.state, change, { method: reopen ? "POST" : "PUT", signal });
    if (!sent) this.later(t("Offline"));
    else if (sent.status === 200) this.acknowledge(sent.answer);
    else if (sent.status >= 500 || sent.status === 429) this.later(t("Server busy"));
    else {
      if (sent.status === 409) this.clock.put(change);
      this.stop(sent);
    }
  }

  acknowledge(answer) {
    this.failures = 0;
    this.revision = answer.revision;
    this.submitted = answer.submitted;
    this.savedAt = new Date(answer.saved_at);
    this.sending = this.unanswered = null;
    if (this.waiting) this.keep();
    else this.drafts.drop();
    this.report();
    if (this.opening && !this.submitted) {
      this.opening = false;
      this.told("reopened");
    }
    if (this.submitted && !this.waiting) this.told("submitted", answer);
  }

  later(trouble) {
    this.trouble = trouble;
    this.wait(PAUSES[Math.min(this.failures, PAUSES.length - 1)] * 1000);
    this.failures += 1;
    this.report();
  }

  /** Stop sending until a decision or for good; unsaved changes survive a reload. */
  stop({ status, answer }) {
    const { error } = answer;
    this.failures = 0;
    if (OUTDATED.includes(error) && this.drafts.works) {
      this.end();
      location.reload();
      return;
    }
    this.stopped = true;
    this.ended = error !== "stale";
    if (["stale", "paused"].includes(error)) this.told(error, answer);
    else this.told(status === 403 && error !== "ended" ? "closed" : "ended", answer);
    this.report();
  }

  /** Stop sending, and do not warn before leaving the page. */
  end() {
    this.stopped = this.leaving = true;
  }

  /** Continue if the server's newer revision equals this page's state; returns whether it does. */
  joins(newer, state, same) {
    const isSame = same(state, newer.state);
    const isSent = [this.sending?.state, this.unanswered].some((sent) => sent && same(sent, newer.state));
    if (!isSame && (newer.submitted || !isSent)) return false;
    const submit = this.isSubmitting && !newer.submitted;
    this.resume(newer, isSame && !submit ? null : state, { submit });
    return true;
  }

  /**
   * Resume an earlier visit's changes: returns "stored", "mine", or "both" if the person
   * must decide between two versions.
   */
  takeUp({ base, state, sent }, stored, same, canSave = true) {
    if (same(state, stored)) {
      this.drafts.drop();
      return "stored";
    }
    if (canSave && (base === this.revision || (sent && same(sent, stored)))) {
      // A request in flight may arrive after its page is closed.
      this.unanswered = base === this.revision ? sent : null;
      return "mine";
    }
    // Stored changes keep their base revision.
    this.revision = base;
    this.stopped = true;
    this.report();
    return "both";
  }

  /** Location of an unsaved state. */
  get draftLocation() {
    return this.drafts.works
      ? t("Your work is kept in this browser.")
      : t("Keep this page open: your work is stored nowhere else.");
  }

  report() {
    this.status = this.describe();
    this.told("changed");
  }

  /** The saving state: a word, with an explanation where needed. */
  describe() {
    const { savedAt, trouble, isSubmitting, draftLocation } = this;
    if (this.data.preview) return { word: "preview", text: t("Preview: nothing is saved") };
    if (this.ended) return { word: "offline", text: t("This could not be saved"), details: draftLocation };
    if (this.stopped) return { word: "offline", text: t("Not saved: choose a version"), details: draftLocation };
    if (this.failures) {
      const later = isSubmitting
        ? t("It will be submitted when the server answers again.")
        : t("It will be saved when the server answers again.");
      const again = this.submissionWithdrawn ? t("Then submit it again.") : "";
      const [place, here] = this.drafts.works
        ? [t("Kept on this device"), t("kept here")]
        : [t("Keep this page open"), t("keep this page open")];
      const details = [`${trouble}.`, draftLocation, later, again].join(" ").trim();
      return { word: "offline", text: `${trouble}. ${place}`, short: `${trouble}, ${here}`, details };
    }
    if (this.waiting || this.sending) return { word: "saving", text: isSubmitting ? t("Submitting…") : t("Saving…") };
    if (this.submitted) return { word: "saved", text: t("Submitted"), savedAt };
    if (this.submissionWithdrawn) return { word: "saved", text: t("Saved as draft. Submit again") };
    return { word: "saved", text: t("Saved"), savedAt };
  }
}
