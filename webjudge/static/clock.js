// Working time: counts only while the page is visible and was used within the last minute.

const PAUSE_AFTER = 60_000;
const REPORT_EVERY = 30_000;

export class Clock {
  /** @param {string | undefined} url where time is reported; none in a preview */
  constructor(url) {
    this.url = url;
    this.seconds = 0;
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

  /** Add the time since the last count, as far as it was working time. */
  count() {
    const now = performance.now();
    const end = Math.min(now, this.lastUse + PAUSE_AFTER);
    if (!document.hidden && end > this.since) this.seconds += (end - this.since) / 1000;
    this.since = now;
  }

  /** Give the working time since the last call. */
  take() {
    this.count();
    const seconds = Math.round(this.seconds * 10) / 10;
    this.seconds = 0;
    return seconds;
  }

  leave() {
    // The page may be hidden already: what came before still counts.
    const now = performance.now();
    const end = Math.min(now, this.lastUse + PAUSE_AFTER);
    if (end > this.since) this.seconds += (end - this.since) / 1000;
    this.since = Infinity;
    this.send();
  }

  report() {
    this.count();
    if (this.seconds >= 1) this.send();
  }

  async send() {
    const seconds = Math.round(this.seconds * 10) / 10;
    this.seconds = 0;
    if (!this.url || seconds <= 0) return;
    try {
      await fetch(this.url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ seconds }),
        keepalive: true, // it may be the last thing that this page does
      });
    } catch {
      this.seconds += seconds;
    }
  }
}
