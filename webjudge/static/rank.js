// The ranking page: puts model, drawing, dragging, keys and saving together.

import { Clock } from "./clock.js";
import { openComparison, zoomImages } from "./comparing.js";
import { ask, tell } from "./dialogs.js";
import { makeDraggable } from "./dragging.js";
import { draw } from "./drawing.js";
import { keepFocus } from "./focus.js";
import { History } from "./history.js";
import { listen } from "./keys.js";
import * as model from "./model.js";
import { inWords, readAnew, takeCards } from "./relaying.js";
import { Saver } from "./saving.js";

const SUBMITTED_ELSEWHERE = "The newer version is already submitted. If you keep this version, your ranking "
  + "becomes a draft and you must submit it again.";

const data = JSON.parse(document.getElementById("group-data").textContent);
const page = document.getElementById("ranking-page");
const history = new History(model.check(data.state, data.labels));
const clock = new Clock(data.urls.time);
let submitted = data.submitted;
let readOnly = data.closed || submitted;
let undecided = null; // a newer order elsewhere, about which the person has not decided

const cardOf = (label) => document.getElementById(`card-${label}`);
const handleOf = (label) => cardOf(label).querySelector(".handle");

/** Say something to those who do not see the page; the same twice in a row is said twice. */
function announce(text) {
  const live = document.getElementById("announcement");
  live.textContent = live.textContent === text ? `${text}\u00a0` : text;
}

function status(word, text) {
  const line = document.getElementById("save-status");
  line.dataset.word = word;
  if (line.textContent !== text) line.textContent = text;
}

const saver = new Saver(data, {
  status,
  submitted: (answer) => leave(answer.next),
  submissionWithdrawn: () => redraw(),
  reopened() {
    const held = document.activeElement;
    submitted = readOnly = false;
    redraw();
    // Not on the button that stands there now: pressed twice, it would submit.
    if (held.dataset.do === "reopen") page.querySelector(".card .handle").focus();
    announce("Ranking reopened.");
  },
  closed(text) {
    readOnly = data.closed = true;
    redraw();
    tell("The study is closed", `${text} Your latest changes on this page were not saved.`);
  },
  ended(text) {
    readOnly = true;
    redraw();
    tell("This could not be saved", `${text} ${saver.draftLocation}`);
  },
  conflict,
  relaid,
}, () => clock.take());

/** The server has another layout: take it over, and go on with the order of what is still there. */
async function relaid() {
  const read = await readAnew();
  if (!read) {
    saver.stopped = false;
    saver.later("Not saved yet");
    return;
  }
  const { fresh, data: now } = read;
  const { opening } = saver;
  const from = data.contents;
  const changes = takeCards(fresh, data, now);
  const { labels, layout, contents, versions } = now;
  Object.assign(data, { labels, layout, contents, versions });
  history.map((state) => model.check(model.fit(state, from, contents, data), labels));
  if (now.revision === saver.revision) {
    submitted = now.submitted;
    readOnly = data.closed || submitted;
    saver.resume(now, opening ? null : history.state);
    redraw();
    if (opening && submitted) saver.reopen();
  } else conflict(now);
  const said = inWords(changes);
  announce(said);
  tell("The solutions have changed", said);
}

/** Go on to the next group, unless somebody is at something that may become a change. */
function leave(next) {
  if (!saver.submitted || saver.isBehind) return;
  if (page.matches(".is-dragging") || document.querySelector("dialog[open]")) {
    setTimeout(() => leave(next), 300);
    return;
  }
  submitted = readOnly = true; // a change that is made while the next page loads would be lost
  redraw();
  location.assign(data.preview ? next : `${next}?submitted=${data.key}`); // shows the receipt there
}

/** Somebody saved since, in another tab or on another device. */
function conflict(answer) {
  const mine = history.state;
  const { unanswered, isSubmitting } = saver;
  if (unanswered && !answer.submitted && model.same(unanswered, answer.state)) {
    saver.unanswered = null;
    // What arrived since is the beginning of this order.
    saver.resume(answer, mine, { submit: isSubmitting });
  } else if (model.same(mine, answer.state)) {
    if (isSubmitting && !answer.submitted) saver.resume(answer, mine, { submit: true });
    else follow(answer);
  } else if (readOnly) showNewer(answer); // this page had nothing of its own
  else {
    decide({
      ...answer,
      title: "Ranking changed elsewhere",
      text: "This ranking was changed in another tab or on another device after you opened this page.",
    });
  }
}

/** Ask which order counts; until that is chosen both stay, and nothing is saved. */
async function decide(question) {
  undecided = question;
  redraw();
  status("offline", `Not saved: choose a version. ${saver.draftLocation}`);
  const choice = await ask("conflict", [
    question.text,
    question.submitted ? SUBMITTED_ELSEWHERE : "",
    "Nothing is lost: after you load the newer version, Undo restores this one.",
  ].join(" "), question.title);
  if (!choice) return;
  undecided = null;
  if (choice === "mine") follow(question, history.state);
  else showNewer(question);
}

function showNewer(answer) {
  history.push(answer.state);
  follow(answer);
  announce("Newer version loaded.");
}

/** Go on from what the server has: with this order, as a draft, or with the server's. */
function follow(answer, order = null) {
  submitted = answer.submitted && !order;
  readOnly = data.closed || submitted;
  saver.resume(answer, order);
  redraw();
}

/** Draw the page; the focus stays, or goes to what is nearest. */
function redraw() {
  const held = document.activeElement;
  const { submissionWithdrawn } = saver;
  draw(page, history, data.labels, { readOnly, submitted, closed: data.closed, submissionWithdrawn });
  document.getElementById("decide").hidden = !undecided;
  dragging.enable(!readOnly);
  keepFocus(held);
}

/** Take a new state: draw it, say it, save it. */
function take(state, { label = null, said = "", scroll = true } = {}) {
  if (readOnly || model.same(state, history.state)) return;
  history.push(model.check(state, data.labels));
  redraw();
  if (label && scroll) cardOf(label).scrollIntoView({ block: "nearest" });
  if (label || said) announce(said || `Solution ${label} is now ${model.place(state, label)}.`);
  saver.save(state);
}

/** Undo or redo. */
function step(move) {
  if (readOnly || !history[move]()) return;
  redraw();
  document.activeElement.closest(".card")?.scrollIntoView({ block: "nearest" });
  announce(move === "undo" ? "Undone." : "Redone.");
  saver.save(history.state);
}

async function cannotJudge(label) {
  const reason = await ask("cannot-reason", "", `Why can't you judge solution ${label}?`);
  if (reason) take(model.cannotJudge(history.state, label, reason), { label });
}

const operations = {
  better: model.better,
  worse: model.worse,
  tie: model.tieAbove,
  untie: model.untie,
  tray: model.toTray,
  best: model.best,
  worst: model.worst,
};

function act(name, label) {
  if (name in operations) take(operations[name](history.state, label), { label });
  else if (name === "cannot") cannotJudge(label);
  else if (name === "compare") openComparison(data.labels, label);
}

page.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  const label = button?.closest(".card")?.dataset.label;
  if (!button) return;
  if (label) act(button.dataset.do, label);
  else if (["undo", "redo"].includes(button.dataset.do)) step(button.dataset.do);
  else if (button.dataset.do === "submit") submit();
  else if (button.dataset.do === "reopen") reopen();
  else if (button.dataset.do === "compare") openComparison(data.labels);
  else if (button.dataset.do === "problem") document.getElementById("problem").showModal();
  else if (button.dataset.do === "keys") document.getElementById("keys").showModal();
  else if (button.dataset.do === "open-all") openAll(button);
});

document.getElementById("decide").addEventListener("click", () => decide(undecided));

/** The state with the answer that a control shows. */
function answered({ dataset, type, checked, value }, label) {
  return model.answer(history.state, dataset.field, label, type === "checkbox" ? checked : value);
}

page.addEventListener("change", ({ target }) => {
  if (target.matches("textarea")) saver.pump();
  else if (target.matches("[data-field]")) {
    const { yes, no } = target.dataset;
    take(answered(target, target.closest(".card")?.dataset.label), { said: target.checked ? yes : no });
  }
});

page.addEventListener("input", ({ target }) => {
  if (!target.matches("textarea") || readOnly) return;
  const label = target.closest(".card")?.dataset.label;
  const state = answered(target, label);
  // While somebody types nothing is redrawn, and a pause saves.
  history.push(state, `typing ${target.dataset.field} ${label}`);
  saver.save(state, { soon: true });
});

listen((label) => model.whereabouts(history.state, label).area === "ranked", {
  act,
  step,
  help: () => document.getElementById("keys").showModal(),
});

function openAll(button) {
  const open = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(open));
  for (const details of page.querySelectorAll("details.content")) details.open = open;
}

function submit() {
  const state = history.state;
  if (undecided) decide(undecided);
  else if (state.tray.length) {
    const left = `${model.listed(state.tray)} ${state.tray.length === 1 ? "is" : "are"} not ranked yet.`;
    tell("Some solutions are not ranked", `${left} Rank them or mark them as “cannot judge”.`);
  } else {
    saver.save(state, { submit: true });
    redraw();
  }
}

function reopen() {
  if (undecided) decide(undecided);
  else saver.reopen();
}

const dragging = makeDraggable(
  [document.getElementById("tray"), document.getElementById("ranked")],
  {
    start(card) {
      // Long texts would make every place far away; the card stays under the pointer.
      const top = card.getBoundingClientRect().top;
      page.classList.add("is-dragging");
      scrollBy({ top: card.getBoundingClientRect().top - top, behavior: "instant" });
    },
    drop({ label, list, before, after, tie }) {
      page.classList.remove("is-dragging");
      handleOf(label).focus({ preventScroll: true });
      const state = history.state;
      let next = state;
      if (list === "tray") next = model.toTray(state, label);
      else if (tie) next = model.tieWith(state, label, tie);
      else {
        const tiedNeighbours = before && after && before !== after
          && model.whereabouts(state, before).group === model.whereabouts(state, after).group;
        if (tiedNeighbours) next = model.tieWith(state, label, before);
        else if (before) next = model.placeBefore(state, label, before);
        else next = model.worst(state, label);
      }
      if (readOnly || model.same(next, state)) redraw(); // back to where the model has the card
      else take(next, { label, scroll: false });
    },
  },
);

zoomImages(page);
redraw();
const left = data.closed || data.preview ? null : saver.drafts.takeOver();
if (left) restore(left);

/** Bring back what an earlier visit could not save. */
function restore({ base, state: draft, sent: onItsWay, layout, contents }) {
  let [state, sent] = [null, null];
  try {
    // Letters of another layout may mean other solutions: what tells them is their content.
    state = model.check(model.fit(draft, contents, data.contents, data), data.labels);
    if (onItsWay) sent = model.check(model.fit(onItsWay, contents, data.contents, data), data.labels);
  } catch {
    saver.drafts.drop();
    return;
  }
  if (layout !== data.layout) announce("The solutions have changed; your order of the others is kept.");
  const { revision, state: stored } = data;
  if (model.same(state, stored)) saver.drafts.drop();
  else if (!submitted && (base === revision || (sent && model.same(sent, stored)))) {
    // An order on its way may arrive even after the page that sent it is closed.
    saver.unanswered = base === revision ? sent : null;
    take(state, { said: "Your unsaved ranking was restored. It is not submitted yet." });
  } else {
    history.push(state);
    // What is kept must go on saying what it was made from, until the person has decided.
    saver.revision = base;
    saver.stop(() => decide({
      revision,
      submitted,
      state: stored,
      title: "Unsaved ranking found",
      text: "This browser holds an unsaved ranking, and a newer version has been saved since.",
    }));
  }
}
