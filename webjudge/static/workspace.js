// The judging workspace: one solution in hand, the order in sight. Puts model, views, and saving together.

import { Clock } from "./clock.js";
import { drawComparing, showPane, toggleTogether } from "./comparing.js";
import { ask, tell } from "./dialogs.js";
import { $, $$, announce, h, hideToast, letter, toast } from "./dom.js";
import { makeDraggable } from "./dragging.js";
import { holdFocus, title } from "./focus.js";
import { gradeText, isGrading } from "./grading.js";
import { History } from "./history.js";
import { closeWhenLeft, listen, singleKeys, switchKeys } from "./keys.js";
import { drawLadder, openSheet } from "./ladder.js";
import { closeMenu, openMenu } from "./menu.js";
import * as model from "./model.js";
import * as placing from "./placing.js";
import { askSure, drawMissing, goToQuestions, unanswered } from "./questions.js";
import { drawProblem, drawReader, enlarge, fit, goTo, links, statement } from "./reader.js";
import { changes, readAnew } from "./relaying.js";
import { drawOrder, drawReview, isThisIt, showReceipt } from "./review.js";
import { Saver } from "./saving.js";
import { headings, Solutions } from "./solutions.js";
import { number, t, time, tn } from "./words.js";

const SAVING_AFTER = 150;
const RESUMES_AFTER = 30_000;
const DRAW = { problem: drawProblem, reader: drawReader, compare: drawComparing, review: drawReview };

class Workspace {
  constructor(data) {
    this.data = data;
    this.history = new History(model.check(data.state, data.labels));
    this.clock = new Clock(data.urls.time);
    this.solutions = new Solutions(data);
    this.submitted = data.submitted;
    this.receipt = data.receipt;
    this.ended = false; // nothing can be saved any more
    this.undecided = null; // a newer order elsewhere, about which the judge has not decided
    this.view = "";
    this.current = null; // the solution in hand
    this.search = null; // where it may be placed, while it is compared
    this.pair = null; // two ranked solutions that are compared
    this.isQueryOpen = true; // above each candidate, where judges grade
    this.together = null; // whether panes scroll together, where the judge has said so
    this.shown = null; // the pane that a phone shows
    this.places = new Map(); // how far each solution is scrolled
    this.opened = new Set(data.labels.filter((label) => data.views[label] > 0));
    this.saver = new Saver(data, this.saving(), this.clock);
    this.doing = this.actions();
  }

  get state() {
    return this.history.state;
  }

  get canRank() {
    return !(this.data.closed || this.data.paused || this.submitted || this.ended);
  }

  get canReopen() {
    return this.submitted && !this.data.closed && !this.data.paused && !this.ended;
  }

  get isComparing() {
    return Boolean(this.search || this.pair);
  }

  get isWithdrawn() {
    return this.saver.submissionWithdrawn;
  }

  /** The solution that is likely to be read next. */
  get upcoming() {
    const { tray } = this.state;
    return tray[tray.indexOf(this.current) + 1] ?? tray[0];
  }

  /** The index of the group that is asked about, or null. */
  get pivot() {
    return this.search ? placing.pivot(this.search) : null;
  }

  /** What is asked: {label, other, side, isNew, tied, asked, most}. */
  get question() {
    const { search, pair, data } = this;
    if (pair) return { ...pair, side: data.chance[pair.label].side, isNew: false, tied: [], asked: 0, most: 1 };
    const [other, ...tied] = search.groups[this.pivot];
    const { side } = data.chance[this.current];
    const most = placing.mostQuestions(search);
    return { label: this.current, other, side, isNew: true, tied, asked: search.asked.length, most };
  }

  /** The ranked solutions that were never opened. */
  unopened() {
    return this.state.ranked.flat().filter((label) => !this.opened.has(label)).sort();
  }

  // Drawing and going about

  /** Draw the page; the focus stays, or goes to what is nearest. */
  redraw(...more) {
    const bringBack = holdFocus();
    const reader = $("#reader");
    const place = reader?.scrollTop ?? 0;
    drawLadder(this);
    DRAW[this.view](this, ...more);
    if ($("#reader") && $("#reader") !== reader) $("#reader").scrollTop = place;
    this.drawBar();
    bringBack();
  }

  drawBar() {
    const { history, canRank } = this;
    const canUndo = this.search ? this.search.asked.length > 0 : canRank && history.canUndo && !this.pair;
    for (const button of $$("[data-do=undo]")) button.disabled = !canUndo;
    for (const button of $$("[data-do=redo]")) button.disabled = !canRank || this.isComparing || !history.canRedo;
    $("#decide").hidden = !this.undecided;
    $("#reopen").hidden = !this.canReopen;
    document.body.classList.toggle("is-comparing", this.isComparing);
    document.body.classList.toggle("is-read-only", !this.canRank);
    document.body.dataset.view = this.view;
  }

  /** Show something else in the main part, from its top or where it was left. */
  show(view, label = null, { focus = true, place = 0 } = {}) {
    this.keepPlace();
    this.stopComparing();
    closeMenu();
    this.view = view;
    this.current = label;
    if (label) this.opened.add(label);
    this.clock.show(label ? [label] : []);
    openSheet(false);
    this.redraw();
    const reader = $("#reader");
    if (reader) reader.scrollTop = place;
    if (focus) title().focus({ preventScroll: true });
  }

  keepPlace() {
    if (this.view === "reader" && $("#reader")) this.places.set(this.current, $("#reader").scrollTop);
  }

  /** Take a solution in hand, where it was left. */
  open(label, options = {}) {
    this.keepPlace();
    this.show("reader", label, { place: this.places.get(label) ?? 0, ...options });
  }

  /** Go to the next solution without a place, or to the review. */
  next() {
    const { tray } = this.state;
    if (!tray.length) this.show("review");
    else this.open(tray[(tray.indexOf(this.current) + 1) % tray.length], { place: 0 });
  }

  /** Go to the solution before or after in the ladder. */
  go(by) {
    const { ranked, tray, cannot } = this.state;
    const all = [...ranked.flat(), ...tray, ...Object.keys(cannot)];
    const at = all.indexOf(this.current);
    this.open(all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))]);
  }

  // Changing the order

  /** Take a new state and save it; gives whether it is one. */
  take(state, { kind = "", step = {}, soon = false, submit = false } = {}) {
    if (!this.canRank || model.same(state, this.state)) return false;
    this.history.push(model.check(state, this.data.labels), kind, step);
    this.saver.save(state, { soon, submit });
    return true;
  }

  /** Take a state in which a solution has a place; go on to the next one, or by undo back to its search. */
  place(label, state, way, search = null) {
    const wasRanked = model.whereabouts(this.state, label).area === "ranked";
    if (model.same(state, this.state)) return;
    const { current } = this;
    const isReading = current && current !== label && model.whereabouts(this.state, current).area === "tray";
    if (!this.take(model.placedBy(state, label, way), { step: { label, search } })) return;
    const said = isGrading(this)
      ? t("{label}: {grade}", { label, grade: gradeText(this, label) })
      : model.placement(this.state, label);
    if (wasRanked && !this.search) this.redraw();
    else if (wasRanked) this.open(label, { place: 0 });
    else if (isReading) {
      this.redraw();
      title().focus({ preventScroll: true });
    } else this.next();
    for (const chip of $$(`#ranked [data-label="${CSS.escape(label)}"]`)) chip.classList.add("is-placed");
    if (way !== "key" || !wasRanked) toast(said, t("Undo"), () => this.step("undo"), askSure(this, label));
    announce([`${said}.`, !wasRanked && this.whatNext()].filter(Boolean).join(" "));
  }

  whatNext() {
    const values = { label: this.current };
    if (isGrading(this)) {
      return this.view === "review" ? t("All candidates are graded.") : t("Now reading candidate {label}.", values);
    }
    if (this.view === "review") return t("All solutions are ranked. Review and submit.");
    return t("Now reading solution {label}.", values);
  }

  /** Undo or redo; while two are compared, undoing takes the last answer back. */
  step(move) {
    if (this.isComparing) {
      if (move === "undo") this.back();
      return;
    }
    const done = this.canRank && this.history[move]();
    if (!done) return;
    hideToast();
    this.saver.save(this.state);
    if (move === "undo" && done.search?.asked.length) {
      this.current = done.label;
      this.search = placing.back(done.search);
      this.ask();
    } else if (this.view === "review" && this.state.tray.length) {
      this.open(done.label ?? this.state.tray[0], { focus: false });
    } else this.redraw();
    announce(move === "undo" ? t("Undone") : t("Redone"));
  }

  /** Do what a menu or a key says with a solution. */
  act(name, label, way, value) {
    if (!label || !this.canRank || this.isComparing) return;
    const { state } = this;
    const change = {
      better: model.better,
      worse: model.worse,
      tie: model.tieAbove,
      untie: model.untie,
      best: model.best,
      worst: model.worst,
    }[name];
    if (isGrading(this) && (change || ["place", "with"].includes(name))) this.regrade(name, label, way);
    else if (change) this.place(label, change(state, label), way);
    else if (name === "grade") this.grade(label, value, way);
    else if (name === "place") this.compare(label);
    else if (name === "with") this.chooseOther(label);
    else if (name === "tray") this.unrank(label);
    else if (name === "cannot") this.cannotJudge(label);
    else if (name === "comment") this.comment(label);
    else this.mark(name, label, value);
  }

  /** Give a candidate a grade, and go on to the next one. */
  grade(label, value, way) {
    if (!label || !this.canRank || this.data.grades[value] === undefined) return;
    this.place(label, model.grade(this.state, label, value), way);
  }

  /** One grade up or down. */
  regrade(name, label, way) {
    const step = { better: 1, worse: -1 }[name];
    const now = model.gradeOf(this.state, label);
    if (step && now) this.grade(label, String(Number(now) + step), way);
  }

  /** The state without a grade of what is taken out of the order. */
  without(state, label) {
    return isGrading(this) ? model.ungraded(state, label) : state;
  }

  unrank(label) {
    if (!this.take(this.without(model.toTray(this.state, label), label), { step: { label } })) return;
    this.redraw();
    announce(isGrading(this)
      ? t("{label} has no grade now.", { label })
      : t("{label} is not ranked any more.", { label }));
  }

  async cannotJudge(label) {
    const reason = await ask("cannot-reason", "", t("Why can't you judge solution {label}?", { label }));
    if (!reason) return;
    const state = this.without(model.cannotJudge(this.state, label, reason), label);
    if (!this.take(state, { step: { label } })) return;
    const said = t("{label} is marked “cannot judge”", { label });
    if (this.current === label) this.next();
    else this.redraw();
    toast(said, t("Undo"), () => this.step("undo"));
    announce(`${said}.`);
  }

  /** Let a comment be written, which is saved while it is. */
  comment(label) {
    const dialog = $("#comment");
    const text = $("textarea", dialog);
    $("h2", dialog).textContent = t("Comment on solution {label}", { label });
    text.dataset.label = label;
    text.setAttribute("aria-label", t("Comment on solution {label}", { label }));
    text.value = model.answerOf(this.state, "comments", label);
    dialog.showModal();
  }

  /** Mark a solution, or choose for it. */
  mark(field, label, value) {
    const before = model.answerOf(this.state, field, label);
    const isMark = typeof before === "boolean";
    const now = isMark ? !before : value;
    if (!this.take(model.answer(this.state, field, label, now))) return;
    this.redraw();
    const said = now
      ? t("Author of solution {label} marked as recognized.", { label })
      : t("Author of solution {label} marked as not recognized.", { label });
    announce(isMark ? said : t("Noted."));
  }

  /** A solution was let go of: `aim` says where. */
  drop(label, { isFirst, isOut, how, other, grade }) {
    const { state } = this;
    if (isOut) this.unrank(label);
    else if (grade) this.grade(label, grade, "drag");
    else if (isFirst) this.place(label, model.best(state, label), "drag");
    else {
      const move = { above: model.placeBefore, below: model.placeAfter, tie: model.tieWith }[how];
      this.place(label, move(state, label, other), "drag");
    }
  }

  // Comparing

  /** Place a solution by comparing it with those that are ranked. */
  compare(label) {
    if (!label || !this.canRank || this.isComparing) return;
    const { ranked } = model.without(this.state, label);
    if (!ranked.length) {
      this.place(label, model.best(this.state, label), "compare");
      return;
    }
    this.keepPlace();
    this.current = label;
    this.search = placing.begin(ranked, this.data.chance[label].lower);
    this.ask();
  }

  /** Compare two that are ranked. */
  compareTwo(label, other) {
    if (!this.canRank || this.isComparing) return;
    this.keepPlace();
    this.pair = { label, other, from: this.view };
    this.ask();
  }

  async chooseOther(label) {
    const others = this.state.ranked.flat().filter((other) => other !== label);
    $("#others").replaceChildren(...others.map((other) => h("button.btn", { value: other }, letter(other), h(
      "span.snippet", { dir: "auto" }, this.solutions.about(other).snippet,
    ))));
    const other = await ask("with", "", t("Compare solution {label} with…", { label }));
    if (other) this.compareTwo(label, other);
  }

  /** Ask which is better. */
  ask(focus = "") {
    this.view = "compare";
    this.shown = null;
    const { label, other } = this.question;
    for (const one of [label, other]) this.opened.add(one);
    this.askedAt = this.clock.total;
    closeMenu();
    hideToast();
    openSheet(false);
    this.redraw(focus);
    const isOneShown = $(".pane-switch").getClientRects().length > 0;
    this.clock.show(isOneShown ? [this.shown] : [label, other]);
    const held = focus && $(`[data-verdict=${focus}]`);
    (held || title()).focus({ preventScroll: true });
  }

  /** Take whether the solution is "better", "equal", or "worse"; a button that was pressed keeps the focus. */
  answer(verdict, isPressed = false) {
    this.clock.count();
    const { label, other, side } = this.question;
    const seconds = Math.round((this.clock.total - this.askedAt) * 10) / 10;
    if (this.pair) {
      this.settle({ new: label, other, verdict, side, seconds });
      return;
    }
    const search = placing.answer(this.search, verdict, { side, seconds });
    this.search = search;
    if (search.end) {
      const { groups, end, asked } = search;
      const order = "tie" in end
        ? model.tieWith(this.state, label, groups[end.tie][0])
        : model.insertAt(this.state, label, end.at);
      const answers = asked.map((one) => ({
        new: label, other: one.other, verdict: one.verdict, side: one.side, seconds: one.seconds,
      }));
      this.place(label, model.compared(order, answers), "compare", search);
      return;
    }
    this.ask(isPressed ? verdict : "");
    announce(t("{better} is better. Next: solution {label} or solution {other}? At most {n} more.", {
      better: verdict === "better" ? label : other,
      label,
      other: this.question.other,
      n: number(this.question.most),
    }));
  }

  /** An answer on two ranked solutions: one against the order moves the winner directly above. */
  settle(answer) {
    const { new: label, other, verdict } = answer;
    const { from } = this.pair;
    const { state } = this;
    const [mine, theirs] = [label, other].map((one) => model.whereabouts(state, one).group);
    let order = state;
    let moved = label;
    if (verdict === "better" && mine >= theirs) order = model.placeBefore(state, label, other);
    else if (verdict === "worse" && mine <= theirs) {
      moved = other;
      order = model.placeBefore(state, other, label);
    } else if (verdict === "equal" && mine !== theirs) order = model.tieWith(state, label, other);
    const isKept = order === state;
    const next = isKept ? state : model.placedBy(order, moved, "compare");
    this.take(model.compared(next, [answer]), { step: { label } });
    this.endComparing(from);
    const said = isKept ? t("Your answer agrees with the order.") : `${model.placement(this.state, moved)}.`;
    toast(said, t("Undo"), () => this.step("undo"));
    announce(said);
  }

  /** Take the last answer back. */
  back() {
    if (!this.search?.asked.length) return;
    this.search = placing.back(this.search);
    this.ask();
    announce(t("Answer taken back."));
  }

  stopComparing() {
    this.search = null;
    this.pair = null;
  }

  /** Stop without a change, and go back to where the comparison was begun. */
  endComparing(from = this.pair?.from ?? "reader") {
    const { current } = this;
    if (from === "reader" && current) this.open(current);
    else this.show(from === "compare" ? "review" : from);
  }

  // Submitting

  submit() {
    const { state } = this;
    if (this.undecided) this.decide(this.undecided);
    else if (state.tray.length) {
      const [label] = state.tray;
      this.open(label);
      const n = state.tray.length;
      const said = isGrading(this)
        ? tn("1 candidate left to grade", "{n} candidates left to grade", n)
        : tn("1 solution is not ranked yet", "{n} solutions are not ranked yet", n);
      toast(said);
      announce(isGrading(this)
        ? `${said}. ${this.whatNext()}`
        : t("{n} still to rank. Opening solution {label}.", { n: number(n), label }));
    } else if (this.view !== "review") this.show("review");
    else this.send({ asks: true });
  }

  /** Submit; ask first where all are tied, and where the button is the one that led to the review. */
  async send({ asks = false } = {}) {
    const { state } = this;
    if (this.undecided) {
      this.decide(this.undecided);
      return;
    }
    if (state.tray.length) {
      this.submit();
      return;
    }
    if (unanswered(this).length) {
      this.askMissing();
      return;
    }
    const [group, ...others] = state.ranked;
    const areTied = group?.length > 2 && !others.length && !isGrading(this);
    const question = areTied
      ? [t("You tied all {n} solutions. Is that right?", { n: number(group.length) }), t("All solutions are tied")]
      : [drawOrder(this), isThisIt(this)];
    if ((areTied || asks) && await ask("submitting", ...question) !== "yes") return;
    hideToast();
    this.saver.save(this.state, { submit: true });
    this.redraw();
  }

  /** Show what has to be answered before the ranking can be submitted. */
  askMissing() {
    hideToast();
    this.show("review", null, { focus: false });
    announce(t("Some questions need an answer before you submit."));
    const first = $(".to-answer [data-sure], .to-answer [data-answer]") ?? $("#to-answer-title");
    first.scrollIntoView({ block: "center" });
    first.focus({ preventScroll: true });
  }

  reopen() {
    $("#receipt").close();
    if (this.undecided) this.decide(this.undecided);
    else this.saver.reopen();
  }

  /** It is stored as submitted: show the receipt, unless the judge is at something that may change it. */
  finish(answer) {
    if (!this.saver.submitted || this.saver.isBehind) return;
    if (document.body.matches(".is-dragging") || $("dialog[open]")) {
      setTimeout(() => this.finish(answer), 300);
      return;
    }
    this.submitted = true;
    this.receipt = answer.receipt ? { code: answer.receipt, at: answer.saved_at } : null;
    this.show("review");
    showReceipt(this, { code: answer.receipt, at: answer.saved_at, next: answer.next });
    announce(t("Submitted. Thank you."));
  }

  // Saving

  /** What the saver tells. */
  saving() {
    return {
      status: (...said) => this.status(...said),
      submitted: (answer) => this.finish(answer),
      submissionWithdrawn: () => this.redraw(),
      reopened: () => {
        this.submitted = false;
        this.show("review");
        announce(t("Ranking reopened."));
      },
      closed: (text) => {
        this.data.closed = true;
        this.stop(t("The study is closed"), [text, t("Your latest changes on this page were not saved.")].join(" "));
      },
      paused: (text) => {
        this.data.paused = true;
        this.stop(t("The study is paused"), [text, this.saver.draftLocation].join(" "));
        this.waitForResuming();
      },
      unanswered: ({ questions }) => {
        // They came after this page: the ranking stays a draft until they are answered.
        this.data.questions = questions;
        this.saver.resume(this.saver, this.state);
        this.askMissing();
      },
      ended: (text) => {
        this.ended = true;
        this.stop(t("This could not be saved"), [text, this.saver.draftLocation].join(" "));
      },
      conflict: (answer) => this.conflict(answer),
      relaid: () => this.relaid(),
    };
  }

  /** Look now and then whether a paused study goes on; then the page begins again, with what was kept. */
  waitForResuming() {
    const look = async () => {
      const read = document.hidden ? null : await readAnew();
      if (read && !read.data.paused) location.reload();
    };
    setInterval(look, RESUMES_AFTER);
    document.addEventListener("visibilitychange", look);
  }

  /** Nothing more can be saved here: say why. */
  stop(heading, text) {
    if (this.isComparing) this.endComparing();
    else this.redraw();
    tell(heading, text);
  }

  /** Say in the bar how far saving is; what takes a moment only is not said. */
  status(word, text, details = "", savedAt = null, short = text) {
    clearTimeout(this.pending);
    const line = $("#save-status");
    const before = this.said;
    line.dataset.word = word;
    if (before !== word && word === "offline" && this.saver.isSubmitting && this.view === "review") this.redraw();
    const say = () => {
      this.said = word;
      const at = savedAt ? ` ${time(savedAt)}` : "";
      if (before !== word && details) announce(details);
      line.title = details;
      const full = short === text ? [text] : [h("span.in-full", {}, text), h("span.in-short", {}, short)];
      // The time is for those who look; saying it with each save would be too much.
      const shown = h("p", {}, full, at && h("span", { "aria-hidden": "true" }, at));
      if (line.innerHTML !== shown.innerHTML) line.replaceChildren(...shown.childNodes);
    };
    if (word === "saving") this.pending = setTimeout(say, SAVING_AFTER);
    else say();
  }

  /** The server has another layout: take it over, and go on with the order of what is still there. */
  async relaid() {
    const { data, saver, history } = this;
    const read = await readAnew();
    if (!read) {
      saver.stopped = false;
      saver.later(t("Not saved yet"));
      return;
    }
    const { fresh, data: now } = read;
    const { opening } = saver;
    const from = data.contents;
    const said = changes(data, now);
    for (const name of ["labels", "layout", "contents", "versions", "solutions", "chance"]) data[name] = now[name];
    this.solutions.take(fresh);
    history.map((state) => model.check(model.fit(state, from, data.contents, data.blank), data.labels));
    this.goOn();
    if (now.revision === saver.revision) {
      this.submitted = now.submitted;
      saver.resume(now, opening ? null : history.state);
      this.redraw();
      if (opening && this.submitted) saver.reopen();
    } else this.conflict(now);
    announce(said);
    tell(t("The solutions have changed"), said);
  }

  /** After the order changed under the judge's hands: show what is still there. */
  goOn() {
    const isHere = this.data.labels.includes(this.current);
    if (this.isComparing || (this.view === "reader" && !isHere)) {
      if (isHere) this.open(this.current, { focus: false });
      else this.show("review", null, { focus: false });
    }
  }

  /** Somebody saved since, in another tab or on another device. */
  conflict(answer) {
    const { saver, state } = this;
    const { unanswered: sent, isSubmitting } = saver;
    if (sent && !answer.submitted && model.same(sent, answer.state)) {
      saver.unanswered = null;
      // What arrived since is the beginning of this order.
      saver.resume(answer, state, { submit: isSubmitting });
    } else if (model.same(state, answer.state)) {
      if (isSubmitting && !answer.submitted) saver.resume(answer, state, { submit: true });
      else this.follow(answer);
    } else if (!this.canRank) this.showNewer(answer); // this page had nothing of its own
    else {
      this.decide({
        ...answer,
        title: t("Ranking changed elsewhere"),
        text: t("This ranking was changed in another tab or on another device after you opened this page."),
      });
    }
  }

  /** Ask which order counts; until that is chosen both stay, and nothing is saved. */
  async decide(question) {
    this.undecided = question;
    this.redraw();
    this.status("offline", t("Not saved: choose a version"), this.saver.draftLocation);
    const choice = await ask("conflict", [
      question.text,
      question.submitted && t("The newer version is already submitted. If you keep this version, your ranking "
        + "becomes a draft and you must submit it again."),
      t("Nothing is lost: after you load the newer version, Undo restores this one."),
    ].filter(Boolean).join(" "), question.title);
    if (!choice) return;
    this.undecided = null;
    if (choice === "mine") this.follow(question, this.state);
    else this.showNewer(question);
  }

  showNewer(answer) {
    this.history.push(answer.state);
    this.follow(answer);
    announce(t("Newer version loaded."));
  }

  /** Go on from what the server has: with this order, as a draft, or with the server's. */
  follow(answer, order = null) {
    this.submitted = answer.submitted && !order;
    this.saver.resume(answer, order);
    this.goOn();
    this.redraw();
  }

  /** Bring back what an earlier visit could not save. */
  restore({ base, state: draft, sent: onItsWay, layout, contents }) {
    const { data, saver } = this;
    const fitted = (state) => model.check(model.fit(state, contents, data.contents, data.blank), data.labels);
    let [state, sent] = [null, null];
    try {
      // Letters of another layout may mean other solutions: what tells them is their content.
      state = fitted(draft);
      if (onItsWay) sent = fitted(onItsWay);
    } catch {
      saver.drafts.drop();
      return;
    }
    if (layout !== data.layout) announce(t("The solutions have changed; your order of the others is kept."));
    const { revision, state: stored } = data;
    if (model.same(state, stored)) saver.drafts.drop();
    else if (this.canRank && (base === revision || (sent && model.same(sent, stored)))) {
      // An order on its way may arrive even after the page that sent it is closed.
      saver.unanswered = base === revision ? sent : null;
      this.take(state);
      this.begin();
      announce(t("Your unsaved ranking was restored. It is not submitted yet."));
    } else {
      this.history.push(state);
      // What is kept must go on saying what it was made from, until the judge has decided.
      saver.revision = base;
      saver.stop(() => this.decide({
        revision,
        submitted: this.submitted,
        state: stored,
        title: t("Unsaved ranking found"),
        text: t("This browser holds an unsaved ranking, and a newer version has been saved since."),
      }));
    }
  }

  // What buttons do

  actions() {
    return {
      undo: () => this.step("undo"),
      redo: () => this.step("redo"),
      next: () => this.next(),
      submit: () => this.submit(),
      send: () => this.send(),
      reopen: () => this.reopen(),
      decide: () => this.decide(this.undecided),
      place: () => this.compare(this.current),
      "place-now": () => this.placeNow(),
      back: () => this.back(),
      stop: () => this.endComparing(),
      together: () => toggleTogether(this),
      reload: () => this.redraw(),
      sheet: () => openSheet(!$("#ladder").matches(".is-open")),
      help: () => $("#help").showModal(),
      fit: () => fit(),
      contents: () => this.showContents(),
      problem: () => {
        if (!$("#statement")) return;
        if (!this.isComparing) this.show("problem");
        else {
          $("#problem .view").replaceChildren(statement("dialog"));
          $("#problem").showModal();
        }
      },
    };
  }

  /** The main button of a phone. */
  placeNow() {
    const { current, state } = this;
    const isWaiting = current && model.whereabouts(state, current).area !== "ranked";
    if (!state.tray.length) this.submit();
    else if (this.view === "reader" && isWaiting && !isGrading(this)) this.compare(current);
    else this.next();
  }

  showContents() {
    const dialog = $("#contents");
    $("nav", dialog).replaceChildren(...links(headings($("#reader article > .prose"))));
    dialog.showModal();
  }

  menu(label) {
    if (!label || !this.canRank || this.isComparing) return;
    const mark = `[data-more="${CSS.escape(label)}"]`;
    const inLadder = document.activeElement.closest("#ladder .chip");
    openMenu(this, label, (inLadder && $(mark, inLadder)) || $(`#main ${mark}`) || $(`#ladder ${mark}`));
  }

  /** Show what a judge begins with. */
  begin() {
    const { state } = this;
    const isNew = !state.ranked.length && !Object.keys(state.cannot).length;
    const [first] = state.tray;
    if (isNew && $("#statement") && !isGrading(this)) this.show("problem", null, { focus: false });
    else if (first) this.open(first, { focus: false });
    else this.show("review", null, { focus: false });
  }

  start() {
    const left = this.data.closed || this.data.preview ? null : this.saver.drafts.takeOver();
    this.begin();
    listen(this);
    closeWhenLeft();
    makeDraggable(this);
    document.addEventListener("click", (event) => this.clicked(event));
    document.addEventListener("input", ({ target }) => this.typed(target));
    document.addEventListener("change", ({ target }) => {
      if (target.id === "single-keys") switchKeys(target.checked);
      else if (target.matches("input[data-question]")) this.reply(target);
      else if (target.matches("textarea")) this.saver.pump();
    });
    $("#single-keys").checked = singleKeys();
    // The choice of a language leads back to this task; a preview has links instead.
    for (const field of $$("#help [name=gid]")) field.value = this.data.key;
    if (this.data.paused && !this.data.preview) this.waitForResuming();
    document.body.dataset.ready = "yes";
    if (left && this.data.paused) this.status("offline", this.saver.draftLocation);
    else if (left) this.restore(left);
  }

  clicked(event) {
    const target = event.target.closest(
      "[data-do], [data-open], [data-more], [data-verdict], [data-show], [data-pair], [data-section], [data-sure], "
      + "[data-answer], [data-grade], .zoom",
    );
    if (!target) return;
    const { open, more, verdict, show, pair, section, sure, answer, grade } = target.dataset;
    if (target.dataset.do) this.doing[target.dataset.do]();
    else if (open) this.open(open);
    else if (more) openMenu(this, more, target);
    else if (verdict) this.pressed(event, () => this.answer(verdict, true));
    else if (grade) this.pressed(event, () => this.grade(this.current, grade, "menu"));
    else if (show) this.see(show);
    else if (sure) this.sure(target.dataset.label, sure);
    else if (answer) this.openQuestions(answer);
    else if (pair) this.compareTwo(...pair.split(" ").reverse());
    else if (section) {
      event.preventDefault();
      $("#contents").close();
      goTo(section);
    } else if (target.matches(".zoom")) enlarge(target);
  }

  /** The second press of a double click is no answer to the next question; fingers tap once. */
  pressed({ detail, pointerType }, act) {
    if (detail < 2 || pointerType !== "mouse") act();
  }

  /** On a phone: turn to the other solution. */
  see(label) {
    showPane(this, label);
    this.clock.show([label]);
  }

  /** How sure the judge is of a place: said in the message after it was found, or in the review. */
  sure(label, level) {
    hideToast();
    if (model.whereabouts(this.state, label).area === "ranked") this.mark("sure", label, level);
  }

  async openQuestions(label) {
    await this.solutions.load(label).catch(() => {});
    this.open(label);
    goToQuestions();
  }

  /** Take the answer to a question of the study from its control. */
  reply(control) {
    const { question: id, label } = control.dataset;
    const question = this.data.questions.find((one) => one.id === id);
    const value = control.type === "checkbox" && !control.checked ? "" : control.value;
    const isTyped = control.matches("textarea");
    const kind = isTyped ? `typing ${id} ${label}` : "";
    this.take(model.reply(this.state, question, label, value), { kind, soon: isTyped });
    drawMissing(this);
    this.drawBar();
  }

  /** While somebody types nothing is drawn anew, and a pause saves. */
  typed(target) {
    if (target.matches("textarea[data-question]")) this.reply(target);
    if (!target.matches("textarea[data-field]")) return;
    const { field, label } = target.dataset;
    const state = model.answer(this.state, field, label, target.value);
    this.take(state, { kind: `typing ${field} ${label}`, soon: true });
    if (label) drawLadder(this);
    this.drawBar();
  }
}

const data = JSON.parse($("#group-data").textContent);
const workspace = new Workspace(data);
workspace.start();
