// Client of the server's clock of a problem: reports that the page is visible.

import { send } from "./network.js";

const BEAT = 15_000;
const LAST_SAVE = 2; // seconds before the end, after which the server refuses saves

export class SolvingClock {
  /** From the page's data, the tab's id, and a callback for events. */
  constructor({ urls, clock }, client, told) {
    Object.assign(this, { url: urls.clock, client, told });
    this.isPaused = false;
    this.isElsewhere = false;
    this.isOver = false;
    this.learn(clock);
    this.say("work", true);
    setInterval(() => this.tick(), 1000);
    setInterval(() => { if (!document.hidden) this.beat("work"); }, BEAT);
    document.addEventListener("visibilitychange", () => this.beat(document.hidden ? "away" : "work"));
    addEventListener("pagehide", () => this.beat("away"));
  }

  /** Seconds of work up to now. */
  get work() {
    return this.base.work + (this.isPaused || this.isElsewhere || document.hidden ? 0 : this.passed);
  }

  /** Seconds left, or null; all time counts except pauses. */
  get left() {
    if (this.base.left === null || this.isPaused) return this.base.left;
    return Math.max(0, this.base.left - this.passed);
  }

  get passed() {
    return (performance.now() - this.at) / 1000;
  }

  learn(answer) {
    this.base = answer;
    this.at = performance.now();
  }

  beat(running) {
    if (!this.isPaused && !this.isElsewhere) this.say(running);
  }

  /** Report the state to the server, or take over the clock from another page; returns success. */
  async say(running, take = false) {
    const sent = await send(this.url, { client: this.client, running, take });
    if (sent?.status === 409) {
      this.isElsewhere = true;
      this.told("elsewhere", sent.answer.message);
    }
    if (sent?.status !== 200) return false;
    this.learn(sent.answer);
    if (sent.answer.ended) this.told("ended");
    return true;
  }

  async pause() {
    this.isPaused = true;
    this.isPaused = await this.say("pause");
    return this.isPaused;
  }

  async resume() {
    if (!(await this.say("work", true))) return false;
    this.isPaused = this.isElsewhere = false;
    return true;
  }

  tick() {
    this.told("tick");
    if (this.left === null || this.left > LAST_SAVE || this.isOver) return;
    this.isOver = true;
    this.told("over");
  }
}
