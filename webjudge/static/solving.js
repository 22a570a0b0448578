// The page on which a subject solves a problem: text and files, saved as they change, and the clock.

import { $, h } from "./dom.js";
import { setFormulas } from "./formulas.js";
import { announce, ask, tell } from "./messages.js";
import { Saver, tabId } from "./saving.js";
import { t, time, tn } from "./words.js";

const BEAT = 15_000;
const LAST_MINUTES = [5, 1];
const LAST_SAVE = 2; // seconds before the end, since nothing is taken after it
const AFTER_END = 2_000;
const LONGEST_UPLOAD = 50_000_000;

const sizeOf = ({ size }) => (
  size < 100_000 ? `${Math.ceil(size / 1000)} kB` : `${(size / 1_000_000).toFixed(1)} MB`
);

const same = (one, other) => one.text === other.text && one.files.join() === other.files.join();

/** Ask the server for something, as JSON; gives {status, answer}, or null where none came. */
async function post(url, content, more = {}) {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(content),
      ...more,
    });
    return { status: response.status, answer: await response.json() };
  } catch {
    return null;
  }
}

/** The clock of the problem, which the server keeps: this page says that it is in view. */
class SolvingClock {
  constructor(data, on) {
    this.url = data.urls.clock;
    this.client = tabId();
    this.on = on;
    this.running = "work";
    this.isElsewhere = false;
    this.told(data.clock);
    this.say("work", true);
    setInterval(() => {
      if (this.running === "work" && !document.hidden && !this.isElsewhere) this.say("work");
    }, BEAT);
    setInterval(() => this.tick(), 1000);
    document.addEventListener("visibilitychange", () => {
      if (this.running === "work" && !this.isElsewhere) this.say(document.hidden ? "away" : "work");
    });
    addEventListener("pagehide", () => {
      if (this.running === "work" && !this.isElsewhere) this.say("away");
    });
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

  told(answer) {
    this.base = answer;
    this.at = performance.now();
  }

  async say(running, take = false) {
    const sent = await post(this.url, { client: this.client, running, take }, { keepalive: true });
    if (!sent) return false;
    const { status, answer } = sent;
    if (status === 409) {
      this.isElsewhere = true;
      this.on.elsewhere(answer.message);
      return false;
    }
    if (status !== 200) return false;
    this.told(answer);
    if (answer.ended) this.on.ended();
    return true;
  }

  async pause() {
    this.running = "pause";
    if (await this.say("pause")) return true;
    this.running = "work";
    return false;
  }

  async resume() {
    if (!(await this.say("work", true))) return false;
    this.running = "work";
    this.isElsewhere = false;
    return true;
  }

  tick() {
    this.on.tick(this.work, this.left);
    if (this.left !== null && this.left <= LAST_SAVE && !this.isOver) {
      this.isOver = true;
      this.on.over();
    }
  }
}

class Solving {
  constructor(data) {
    this.data = data;
    this.text = $("#text");
    this.files = new Map(data.state.files.map((id) => [id, data.files[id]]));
    // Working time is kept by the clock of the problem; saves bring none.
    const untimed = { take: () => ({ seconds: 0, views: {} }), put() {} };
    this.saver = new Saver(data, this.saving(), untimed);
    this.isLeaving = false;
    this.adding = Promise.resolve(); // the files that are being uploaded
  }

  get state() {
    // No encoding holds half a surrogate pair, and PostgreSQL's text no NUL.
    const text = (this.text?.value ?? "").replace(/[\0\uD800-\uDFFF]/gu, "\uFFFD");
    return { text, files: [...this.files.keys()] };
  }

  saving() {
    return {
      status: (word, text, details = "", at = null) => {
        const status = $("#save-status");
        status.dataset.word = word;
        status.textContent = word === "saved" && at ? t("Saved {time}", { time: time(at) }) : text;
        status.title = details;
      },
      submitted: ({ next }) => this.leave(next),
      submissionWithdrawn() {},
      reopened() {},
      relaid() {},
      closed: (text) => this.stop(t("The session is closed"), text),
      paused: (text) => this.stop(t("This could not be saved"), text),
      unanswered: ({ message }) => this.stop(t("This could not be saved"), message),
      ended: (text) => this.stop(t("This could not be saved"), `${text} ${this.saver.draftLocation}`),
      conflict: (answer) => this.decide(answer),
    };
  }

  start() {
    this.restore();
    this.drawFiles();
    this.clock = new SolvingClock(this.data, {
      tick: (work, left) => this.drawClock(work, left),
      elsewhere: (text) => this.cover(t("Open elsewhere"), text, t("Continue here")),
      over: () => this.timeIsOver(),
      ended: () => this.isEnded(),
    });
    this.text?.addEventListener("input", () => this.saver.save(this.state, { soon: true }));
    this.text?.addEventListener("change", () => this.saver.pump());
    $("#submit").addEventListener("click", () => this.submit());
    $("#pause")?.addEventListener("click", () => this.pause());
    $("#resume").addEventListener("click", () => this.resume());
    $("#preview")?.addEventListener("click", () => this.togglePreview());
    $("#skip")?.addEventListener("click", () => this.skip());
    $("#no-skip")?.addEventListener("click", () => $("#skipping").close());
    this.listenToFiles();
    document.body.dataset.ready = "yes";
  }

  /** Take over what an earlier visit kept in this browser and could not save. */
  restore() {
    const left = this.saver.drafts.takeOver();
    if (!left?.state) return;
    const { revision, state: stored } = this.data;
    if (same(left.state, stored)) this.saver.drafts.drop();
    else if (left.base === revision || (left.sent && same(left.sent, stored))) {
      // What was on its way may arrive even after the page that sent it is closed.
      this.saver.unanswered = left.base === revision ? left.sent : null;
      this.show(left.state);
      this.saver.save(left.state);
      announce(t("Unsaved changes were restored."));
    } else {
      this.show(left.state);
      this.saver.stop(() => this.decide({ revision, submitted: false, state: stored }));
    }
  }

  show({ text, files }) {
    if (this.text) this.text.value = text;
    this.files = new Map(files.filter((id) => this.data.files[id]).map((id) => [id, this.data.files[id]]));
    this.drawFiles();
  }

  /** Two versions of the answer: the person says which one counts; the other stays stored. */
  async decide(newer) {
    const sent = this.saver.onItsWay;
    if (same(newer.state, this.state)) {
      this.saver.resume(newer);
      return;
    }
    if (sent && same(newer.state, sent)) {
      this.saver.resume(newer, this.state);
      return;
    }
    let choice = "";
    while (!choice) choice = await ask("conflict");
    if (choice === "theirs") {
      if (newer.state.files.some((id) => !this.data.files[id])) {
        this.saver.drafts.drop();
        this.leave(location.href);
        return;
      }
      this.show(newer.state);
      this.saver.resume(newer);
    } else this.saver.resume({ ...newer, submitted: false }, this.state);
  }

  // The clock

  drawClock(work, left) {
    const seconds = Math.floor(left ?? work);
    const shown = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    $("#clock b").textContent = shown;
    $("#clock-name").textContent = left === null ? t("Time so far") : t("Time left");
    $("#clock").title = $("#clock-name").textContent;
    $("#clock").classList.toggle("is-short", left !== null && left < 60);
    if (left === null) return;
    const passed = LAST_MINUTES.filter((minutes) => left <= minutes * 60).length;
    if (this.warned !== undefined && passed > this.warned) {
      announce(tn("{n} minute is left.", "{n} minutes are left.", LAST_MINUTES[passed - 1]));
    }
    this.warned = passed;
  }

  async pause() {
    // Nothing is typed any more before the clock stops: then no save is taken.
    this.cover(t("Paused"), t("The clock is stopped. The problem and your answer are hidden."), t("Go on"));
    await this.adding;
    await this.saver.pump();
    if (await this.clock.pause()) return;
    if (!this.clock.isElsewhere) this.uncover();
    tell(t("This could not be saved"), t("The server does not answer. Try again in a moment."));
  }

  async resume() {
    if (!(await this.clock.resume())) {
      tell(t("This could not be saved"), t("The server does not answer. Try again in a moment."));
      return;
    }
    if (this.isStale) {
      this.leave(location.href);
      return;
    }
    this.uncover();
  }

  uncover() {
    $("#cover").hidden = true;
    $("#work").hidden = false;
    for (const button of [$("#pause"), $("#submit")]) if (button) button.disabled = false;
    (this.text ?? $("#choose")).focus();
  }

  /** Hide problem and answer, so that no time is won. */
  cover(title, text, button) {
    this.isStale = this.clock.isElsewhere; // another page may have changed the answer since
    $("#cover h2").textContent = title;
    $("#cover p").textContent = text;
    $("#resume").textContent = button;
    $("#cover").hidden = false;
    $("#work").hidden = true;
    for (const one of [$("#pause"), $("#submit")]) if (one) one.disabled = true;
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
    $("#cover h2").focus();
  }

  /** Save what is there; the server ends the problem with it. */
  async timeIsOver() {
    if (this.text) this.text.readOnly = true;
    await this.saver.pump();
    announce(t("The time is over."));
    if (!(await this.clock.say("work")) || !this.isLeaving) {
      setTimeout(() => this.clock.say("work"), AFTER_END);
    }
  }

  isEnded() {
    this.leave(`${this.data.urls.home}?submitted=${this.data.key}`);
  }

  // Submitting, skipping, the preview

  async submit() {
    $("#submit").disabled = true;
    await this.adding; // what was chosen belongs to the answer
    $("#submit").disabled = false;
    const { state } = this;
    if (!state.text.trim() && !state.files.length) {
      tell(t("Nothing to submit"), t("Write an answer or add a file before you submit."));
      return;
    }
    $("#submit").disabled = true;
    const checked = await post(this.data.urls.check, state);
    $("#submit").disabled = false;
    const named = checked?.status === 200 ? checked.answer.named : [];
    $("#named-list").replaceChildren(...named.map((text) => h("li", {}, text)));
    if (await ask(named.length ? "named" : "send") === "yes") this.saver.save(this.state, { submit: true });
  }

  async skip() {
    await this.saver.pump();
    $("#skipping").showModal();
  }

  async togglePreview() {
    const isShown = $("#preview").getAttribute("aria-pressed") === "true";
    if (!isShown) {
      const sent = await post(this.data.urls.preview, { text: this.text.value });
      if (sent?.status !== 200) {
        tell(t("No preview"), t("The server does not answer. Try again in a moment."));
        return;
      }
      // Made safe by what makes judges' pages.
      $("#shown").innerHTML = sent.answer.html;
      setFormulas($("#shown"));
    }
    $("#preview").setAttribute("aria-pressed", String(!isShown));
    $("#shown").hidden = isShown;
    this.text.hidden = !isShown;
  }

  // Files

  listenToFiles() {
    const [input, drop] = [$("#choose"), $("#drop")];
    if (!input) return;
    input.addEventListener("change", async () => {
      const files = [...input.files];
      input.value = "";
      await this.add(files);
    });
    for (const event of ["dragenter", "dragover"]) {
      drop.addEventListener(event, (dragged) => {
        dragged.preventDefault();
        drop.classList.add("is-over");
      });
    }
    for (const event of ["dragleave", "drop"]) drop.addEventListener(event, () => drop.classList.remove("is-over"));
    drop.addEventListener("drop", (dropped) => {
      dropped.preventDefault();
      this.add([...dropped.dataTransfer.files]);
    });
    // A file that misses the place is not to replace the page.
    for (const event of ["dragover", "drop"]) addEventListener(event, (dragged) => dragged.preventDefault());
  }

  /** Upload files after those that are being uploaded. */
  add(files) {
    this.adding = this.adding.then(() => this.uploadAll(files));
    return this.adding;
  }

  async uploadAll(files) {
    const refused = [];
    for (const file of files) {
      this.tellFiles(t("Uploading {name}…", { name: file.name }));
      const trouble = await this.upload(file);
      if (trouble) refused.push(`${file.name}: ${trouble}`);
    }
    this.tellFiles(refused.join("\n") || (files.length ? tn("{n} file added.", "{n} files added.", files.length) : ""));
  }

  /** Upload a file; gives what is wrong with it, or nothing. */
  async upload(file) {
    const { mostFiles } = this.data;
    if (this.files.size >= mostFiles) return tn("There can be {n} file.", "There can be {n} files.", mostFiles);
    if (file.size > LONGEST_UPLOAD) return t("The file is larger than 50 MB. Make it smaller.");
    let response;
    try {
      response = await fetch(`${this.data.urls.files}?name=${encodeURIComponent(file.name)}`, {
        method: "POST",
        headers: { "Content-Type": "application/octet-stream" },
        body: file,
      });
      const answer = await response.json();
      if (response.status !== 200) return answer.message;
      this.data.files[answer.id] = answer;
      this.files.set(answer.id, answer);
      this.drawFiles();
      this.saver.save(this.state);
      return "";
    } catch {
      return t("The server does not answer. Try again in a moment.");
    }
  }

  tellFiles(text) {
    $("#file-status").textContent = text;
  }

  drawFiles() {
    const drawn = [...this.files.values()].map((file) => {
      const remove = h("button.btn.quiet", { type: "button" }, t("Remove"), h("span.unseen", {}, ` ${file.name}`));
      remove.addEventListener("click", () => {
        this.files.delete(file.id);
        this.drawFiles();
        this.saver.save(this.state);
        $("#choose").focus();
      });
      const size = h("span.small.muted", {}, sizeOf(file));
      return h("li", { "data-id": file.id }, h("a", { href: file.url, download: true }, file.name), size, remove);
    });
    $("#files")?.replaceChildren(...drawn);
  }

  // Ending

  stop(title, text) {
    tell(title, text);
    if (this.text) this.text.readOnly = true;
    for (const one of [$("#pause"), $("#submit")]) if (one) one.disabled = true;
  }

  leave(url) {
    this.isLeaving = true;
    this.saver.ended = true; // nothing more is to be asked before leaving
    location.assign(url);
  }
}

new Solving(JSON.parse($("#task-data").textContent)).start();
