// Working time: counts only while the page is visible and was used within the last minute.
// So does the time for which each solution is in view.

import { send } from "./network.js";

const PAUSE_AFTER = 60_000;
const REPORT_EVERY = 30_000;
const LEAST = 0.05;

const tenths = (seconds) => Math.round(seconds * 10) / 10;

/** A time as it is sent: {seconds, views}. */
export const inTenths = ({ seconds = 0, views = {} }) => ({
  seconds: tenths(seconds),
  views: Object.fromEntries(Object.entries(views).map(([label, more]) => [label, tenths(more)])),
});

export class Clock {
  /** @param {string | undefined} url where time is reported; none in a preview */
  constructor(url) {
    this.url = url;
    this.seconds = 0;
    this.total = 0; // since the page was opened
    this.shown = []; // labels of the solutions in view
    this.views = {}; // seconds by label
    this.since = performance.now();
    this.lastUse = this.since;
    for (const event of ["pointerdown", "pointermove", "keydown", "scroll", "wheel", "touchstart"]) {
      addEventListener(event, () => this.use(), { passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.leave();
      else this.since = this.lastUse = performance.now();
    });
    addEventListener("pagehide", () => this.leave());
    setInterval(() => this.report(), REPORT_EVERY);
  }

  use() {
    this.count();
    this.lastUse = performance.now();
  }

  /** Say which solutions are in view from now on. */
  show(labels) {
    this.count();
    this.shown = labels;
  }

  /** Add the time since the last count, as far as it was working time. */
  count() {
    const now = performance.now();
    if (!document.hidden) this.add(now);
    this.since = now;
  }

  add(now) {
    const milliseconds = Math.min(now, this.lastUse + PAUSE_AFTER) - this.since;
    if (!(milliseconds > 0)) return;
    const seconds = milliseconds / 1000;
    this.seconds += seconds;
    this.total += seconds;
    for (const label of this.shown) this.views[label] = (this.views[label] ?? 0) + seconds;
  }

  /** Give the working time since the last call: {seconds, views}. */
  take() {
    this.count();
    return this.pass();
  }

  pass() {
    const taken = { seconds: this.seconds, views: this.views };
    this.seconds = 0;
    this.views = {};
    return taken;
  }

  leave() {
    // The page may be hidden already: what came before still counts.
    this.add(performance.now());
    this.since = Infinity;
    this.send();
  }

  report() {
    this.count();
    if (this.seconds >= 1) this.send();
  }

  async send() {
    if (!this.url || this.seconds < LEAST) return;
    const time = this.pass();
    // It may be the last thing that this page does.
    if (!(await send(this.url, inTenths(time), { keepalive: true }))) this.put(time);
  }

  /** Take back a time that was not stored. */
  put({ seconds = 0, views = {} }) {
    this.seconds += seconds;
    for (const [label, more] of Object.entries(views)) this.views[label] = (this.views[label] ?? 0) + more;
  }
}
