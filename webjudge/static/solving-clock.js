// The clock of a problem, which the server keeps: this page says that it is in view.

import { send } from "./network.js";
import { tabId } from "./saving.js";

const BEAT = 15_000;
const LAST_SAVE = 2; // seconds before the end, since nothing is taken after it

export class SolvingClock {
  /** Of what the page carries, and the functions that are told. */
  constructor({ urls, clock }, on) {
    this.url = urls.clock;
    this.client = tabId();
    this.on = on;
    this.running = "work";
    this.isElsewhere = false;
    this.isOver = false;
    this.learn(clock);
    this.say("work", true);
    const sayIfWorking = (word) => { if (this.running === "work" && !this.isElsewhere) this.say(word); };
    setInterval(() => { if (!document.hidden) sayIfWorking("work"); }, BEAT);
    setInterval(() => this.tick(), 1000);
    document.addEventListener("visibilitychange", () => sayIfWorking(document.hidden ? "away" : "work"));
    addEventListener("pagehide", () => sayIfWorking("away"));
  }

  /** Seconds of work up to now. */
  get work() {
    const goesOn = this.running === "work" && !document.hidden && !this.isElsewhere;
    return this.base.work + (goesOn ? (performance.now() - this.at) / 1000 : 0);
  }

  /** Seconds that are left, or null: all time counts but pauses. */
  get left() {
    if (this.base.left === null || this.running === "pause") return this.base.left;
    return Math.max(0, this.base.left - (performance.now() - this.at) / 1000);
  }

  learn(answer) {
    this.base = answer;
    this.at = performance.now();
  }

  /** Tell the server what is going on, or take the clock from another page; gives whether it agrees. */
  async say(running, take = false) {
    const sent = await send(this.url, { client: this.client, running, take }, { keepalive: true });
    if (sent?.status === 409) {
      this.isElsewhere = true;
      this.on.elsewhere(sent.answer.message);
    }
    if (sent?.status !== 200) return false;
    this.learn(sent.answer);
    if (sent.answer.ended) this.on.ended();
    return true;
  }

  async pause() {
    this.running = "pause";
    const isPaused = await this.say("pause");
    if (!isPaused) this.running = "work";
    return isPaused;
  }

  async resume() {
    if (!(await this.say("work", true))) return false;
    this.running = "work";
    this.isElsewhere = false;
    return true;
  }

  tick() {
    this.on.tick(this.work, this.left);
    if (this.left === null || this.left > LAST_SAVE || this.isOver) return;
    this.isOver = true;
    this.on.over();
  }
}
