// Working time: counts while the page is visible and was used within the last minute.
// The same holds for each solution's viewing time.

import { send } from "./network.js";

const PAUSE_AFTER = 60_000;
const REPORT_EVERY = 30_000;
const LEAST = 0.05; // minimum to report, in seconds

const tenths = (seconds) => Math.round(seconds * 10) / 10;

export class Clock {
  /** @param {string | undefined} url where time is sent; undefined in a preview */
  constructor(url) {
    this.url = url;
    this.seconds = 0;
    this.views = {}; // seconds by label
    this.total = 0; // seconds since the page was opened
    this.shown = []; // labels of the solutions in view
    this.since = performance.now();
    this.lastUse = this.since;
    for (const event of ["pointerdown", "pointermove", "keydown", "scroll", "wheel", "touchstart"]) {
      addEventListener(event, () => this.use(), { passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.report(LEAST);
      else this.since = this.lastUse = performance.now();
    });
    addEventListener("pagehide", () => this.report(LEAST));
    setInterval(() => this.report(1), REPORT_EVERY);
  }

  use() {
    this.count();
    this.lastUse = performance.now();
  }

  /** Set the solutions now in view. */
  show(labels) {
    this.count();
    this.shown = labels;
  }

  /** Add the working time since the last count. */
  count() {
    const now = performance.now();
    const seconds = (Math.min(now, this.lastUse + PAUSE_AFTER) - this.since) / 1000;
    this.since = document.hidden ? Infinity : now;
    if (!(seconds > 0)) return;
    this.total += seconds;
    this.put({ seconds, views: Object.fromEntries(this.shown.map((label) => [label, seconds])) });
  }

  /** Take the working time since the last call: {seconds, views}. */
  take() {
    this.count();
    const views = Object.entries(this.views).map(([label, seconds]) => [label, tenths(seconds)]);
    const taken = { seconds: tenths(this.seconds), views: Object.fromEntries(views) };
    this.seconds = 0;
    this.views = {};
    return taken;
  }

  /** Put back a time that was not stored. */
  put({ seconds = 0, views = {} }) {
    this.seconds += seconds;
    for (const [label, more] of Object.entries(views)) this.views[label] = (this.views[label] ?? 0) + more;
  }

  async report(least) {
    this.count();
    if (!this.url || this.seconds < least) return;
    const time = this.take();
    if (!(await send(this.url, time))) this.put(time);
  }
}
