// The page on which a subject solves a problem: text and files, saved as they change, and the clock.

import { $, $$, h } from "./dom.js";
import { setFormulas } from "./formulas.js";
import { announce, ask, sayStatus, tell } from "./messages.js";
import { send } from "./network.js";
import { put } from "./parts.js";
import { Saver } from "./saving.js";
import { SolvingClock } from "./solving-clock.js";
import { html } from "./vendor/lit-html.js";
import { t, tn } from "./words.js";

const LAST_MINUTES = [5, 1];
const AFTER_END = 2_000;
const LONGEST_UPLOAD = 50_000_000;
// Working time is kept by the clock of the problem; saves bring none.
const UNTIMED = { take: () => ({ seconds: 0, views: {} }), put() {} };

const sizeOf = ({ size }) => (
  size < 100_000 ? `${Math.ceil(size / 1000)} kB` : `${(size / 1_000_000).toFixed(1)} MB`
);

const same = (one, other) => one.text === other.text && one.files.join() === other.files.join();

const noAnswer = (title) => tell(title, t("The server does not answer. Try again in a moment."));

class Solving {
  constructor(data) {
    this.data = data;
    this.text = $("#text");
    this.files = data.state.files; // ids
    this.cover = null; // cover over problem and answer: [title, text, button]
    this.isBusy = false; // during an upload or check
    this.isOver = false; // no more changes
    this.isPreviewed = false;
    this.isLeaving = false;
    this.adding = Promise.resolve(); // running uploads
    this.saver = new Saver(data, UNTIMED, (word, answer) => this.saverTold(word, answer));
    this.restore();
    this.clock = new SolvingClock(data, this.saver.client, (word, text) => this.clockTold(word, text));
    this.listen();
    document.body.dataset.ready = "yes";
  }

  set(changes) {
    Object.assign(this, changes);
    this.draw();
  }

  get state() {
    // UTF-8 cannot encode lone surrogates, and PostgreSQL text cannot contain NUL.
    const text = this.text.value.replace(/[\0\uD800-\uDFFF]/gu, "\uFFFD");
    return { text, files: this.files };
  }

  saverTold(word, answer) {
    if (word === "changed") sayStatus(this.saver.status);
    else if (word === "submitted") this.leave(answer.next);
    else if (word === "stale") {
      if (!this.saver.joins(answer, this.state, same)) this.decide(answer);
    } else {
      this.set({ isOver: true });
      const where = word === "ended" ? this.saver.draftLocation : "";
      tell(word === "closed" ? t("The session is closed") : t("This could not be saved"), `${answer.message} ${where}`);
    }
  }

  clockTold(word, text) {
    if (word === "tick") this.drawClock();
    else if (word === "elsewhere") this.hide(t("Open elsewhere"), text, t("Continue here"));
    else if (word === "over") this.timeIsOver();
    else this.leave(`${this.data.urls.home}?submitted=${this.data.key}`);
  }

  listen() {
    const doing = {
      submit: () => this.submit(),
      pause: () => this.pause(),
      resume: () => this.resume(),
      preview: () => this.togglePreview(),
      skip: () => this.skip(),
      "no-skip": () => $("#skipping").close(),
    };
    document.addEventListener("click", ({ target }) => doing[target.closest("button")?.id]?.());
    this.text.addEventListener("input", () => this.saver.save(this.state, { soon: true }));
    this.text.addEventListener("change", () => this.saver.pump());
    if ($("#choose")) this.listenToFiles();
  }

  // Drawing

  draw() {
    const { cover, text, files, data, isOver, isPreviewed } = this;
    $("#cover").hidden = !cover;
    $("#work").hidden = Boolean(cover);
    if (cover) [$("#cover h2"), $("#cover p"), $("#resume")].forEach((part, n) => { part.textContent = cover[n]; });
    for (const button of $$("#pause, #submit")) button.disabled = Boolean(cover) || isOver;
    $("#submit").disabled ||= this.isBusy;
    $("#preview").ariaPressed = String(isPreviewed);
    $("#shown").hidden = !isPreviewed;
    Object.assign(text, { hidden: isPreviewed, readOnly: isOver });
    if ($("#files")) put(files.map((id) => this.file(data.files[id])), $("#files"));
  }

  file({ id, name, url, size }) {
    const remove = () => {
      this.keep(this.files.filter((other) => other !== id));
      $("#choose").focus();
    };
    return html`
      <li data-id=${id}>
        <a href=${url} download>${name}</a><span class="small muted">${sizeOf({ size })}</span>
        <button type="button" class="btn quiet" @click=${remove}>${t("Remove")}<span class="unseen"> ${
          name}</span></button>
      </li>`;
  }

  drawClock() {
    const { left, work } = this.clock;
    const seconds = Math.floor(left ?? work);
    const name = left === null ? t("Time so far") : t("Time left");
    $("#clock b").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    $("#clock-name").textContent = $("#clock").title = name;
    $("#clock").classList.toggle("is-short", left !== null && left < 60);
    if (left === null) return;
    const passed = LAST_MINUTES.filter((minutes) => left <= minutes * 60).length;
    if (passed > this.warned) {
      announce(tn("{n} minute is left.", "{n} minutes are left.", LAST_MINUTES[passed - 1]));
    }
    this.warned = passed;
  }

  // Two versions

  /** Restore unsaved changes of an earlier visit in this browser. */
  restore() {
    $("#files")?.replaceChildren();
    this.draw();
    const left = this.saver.drafts.takeOver();
    if (!left) return;
    const { revision, state } = this.data;
    const whose = this.saver.takeUp(left, state, same);
    if (whose !== "stored") this.show(left.state);
    if (whose === "mine") {
      this.saver.save(left.state);
      announce(t("Unsaved changes were restored."));
    } else if (whose === "both") this.decide({ revision, submitted: false, state });
  }

  show({ text, files }) {
    this.text.value = text;
    this.set({ files: files.filter((id) => this.data.files[id]) });
  }

  /** Ask which of two versions counts; the other stays stored. */
  async decide(newer) {
    let choice = "";
    while (!choice) choice = await ask("conflict");
    if (choice === "mine") this.saver.resume({ ...newer, submitted: false }, this.state);
    else if (newer.state.files.some((id) => !this.data.files[id])) {
      this.saver.drafts.drop();
      this.leave(location.href);
    } else {
      this.show(newer.state);
      this.saver.resume(newer);
    }
  }

  // The clock

  /** Hide problem and answer during a pause. */
  hide(...cover) {
    this.isStale = this.clock.isElsewhere; // another page may have changed the answer since
    this.set({ cover });
    for (const dialog of $$("dialog[open]")) dialog.close();
    $("#cover h2").focus();
  }

  uncover() {
    this.set({ cover: null });
    this.text.focus();
  }

  async pause() {
    // Disable typing before the clock stops, after which saves are refused.
    this.hide(t("Paused"), t("The clock is stopped. The problem and your answer are hidden."), t("Go on"));
    await this.adding;
    await this.saver.pump();
    if (await this.clock.pause()) return;
    if (!this.clock.isElsewhere) this.uncover();
    noAnswer(t("This could not be saved"));
  }

  async resume() {
    if (!(await this.clock.resume())) noAnswer(t("This could not be saved"));
    else if (this.isStale) this.leave(location.href);
    else this.uncover();
  }

  /** Save the final draft; the server ends the problem with it. */
  async timeIsOver() {
    this.set({ isOver: true });
    await this.saver.pump();
    announce(t("Time is up."));
    if (!(await this.clock.say("work")) || !this.isLeaving) setTimeout(() => this.clock.say("work"), AFTER_END);
  }

  // Submitting, skipping, the preview

  async submit() {
    this.set({ isBusy: true });
    await this.adding; // chosen files belong to the answer
    const { state } = this;
    const isEmpty = !state.text.trim() && !state.files.length;
    const checked = isEmpty ? null : await send(this.data.urls.check, state);
    this.set({ isBusy: false });
    if (isEmpty) {
      tell(t("Nothing to submit"), t("Write an answer or add a file before you submit."));
      return;
    }
    const named = checked?.status === 200 ? checked.answer.named : [];
    $("#named-list").replaceChildren(...named.map((text) => h("li", {}, text)));
    if (await ask(named.length ? "named" : "send") === "yes") this.saver.save(this.state, { submit: true });
  }

  async skip() {
    await this.saver.pump();
    $("#skipping").showModal();
  }

  async togglePreview() {
    const sent = this.isPreviewed ? null : await send(this.data.urls.preview, { text: this.text.value });
    if (sent?.status === 200) $("#shown").innerHTML = sent.answer.html; // sanitized by the server
    else if (!this.isPreviewed) {
      noAnswer(t("No preview"));
      return;
    }
    this.set({ isPreviewed: !this.isPreviewed });
    setFormulas($("#shown"));
  }

  // Files

  listenToFiles() {
    const [input, drop] = [$("#choose"), $("#drop")];
    input.addEventListener("change", () => {
      this.add([...input.files]);
      input.value = "";
    });
    const look = ({ type }) => drop.classList.toggle("is-over", type === "dragenter" || type === "dragover");
    for (const event of ["dragenter", "dragover", "dragleave", "drop"]) {
      drop.addEventListener(event, look);
      // A file dropped elsewhere must not replace the page.
      addEventListener(event, (over) => over.preventDefault());
    }
    drop.addEventListener("drop", ({ dataTransfer }) => this.add([...dataTransfer.files]));
  }

  /** Queue files for upload. */
  add(files) {
    this.adding = this.adding.then(() => this.uploadAll(files));
  }

  async uploadAll(files) {
    const say = (text) => { $("#file-status").textContent = text; };
    const refused = [];
    for (const file of files) {
      say(t("Uploading {name}…", { name: file.name }));
      const trouble = await this.upload(file);
      if (trouble) refused.push(`${file.name}: ${trouble}`);
    }
    say(refused.join("\n") || (files.length ? tn("{n} file added.", "{n} files added.", files.length) : ""));
  }

  /** Upload a file; returns an error text or nothing. */
  async upload(file) {
    const { mostFiles, urls } = this.data;
    if (this.files.length >= mostFiles) return tn("There can be {n} file.", "There can be {n} files.", mostFiles);
    if (file.size > LONGEST_UPLOAD) return t("The file is larger than 50 MB. Make it smaller.");
    const sent = await send(`${urls.files}?name=${encodeURIComponent(file.name)}`, file);
    if (!sent) return t("The server does not answer. Try again in a moment.");
    if (sent.status !== 200) return sent.answer.message;
    this.data.files[sent.answer.id] = sent.answer;
    this.keep([...new Set([...this.files, sent.answer.id])]);
    return "";
  }

  /** Replace the list of files, and save. */
  keep(files) {
    this.set({ files });
    this.saver.save(this.state);
  }

  leave(url) {
    this.isLeaving = true;
    this.saver.end();
    location.assign(url);
  }
}

new Solving(JSON.parse($("#task-data").textContent));
