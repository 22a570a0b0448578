// The ranking page: puts model, drawing, dragging, keys and saving together.

import { Clock } from "./clock.js";
import { openComparison, zoomImages } from "./comparing.js";
import { ask, tell } from "./dialogs.js";
import { makeDraggable } from "./dragging.js";
import { draw } from "./drawing.js";
import { History } from "./history.js";
import { listen } from "./keys.js";
import * as model from "./model.js";
import { Saver } from "./saving.js";

const data = JSON.parse(document.getElementById("group-data").textContent);
const page = document.getElementById("ranking-page");
const history = new History(model.check(data.state, data.labels));
const clock = new Clock(data.urls.time);
let submitted = data.submitted;
let readOnly = data.closed || submitted;

const cardOf = (label) => document.getElementById(`card-${label}`);
const announce = (text) => { document.getElementById("announcement").textContent = text; };

const saver = new Saver(data, {
  status(word, text) {
    const status = document.getElementById("save-status");
    status.dataset.word = word;
    status.textContent = text;
  },
  submitted(answer) { if (answer.next) location.assign(answer.next); },
  reopened() {
    submitted = readOnly = false;
    redraw();
    announce("The ranking is open again.");
  },
  closed(text) {
    readOnly = data.closed = true;
    redraw();
    tell("The study is closed", `${text} What you see here was not saved any more.`);
  },
  ended(text) {
    readOnly = true;
    redraw();
    tell("This cannot be saved", `${text} Your order is kept in this browser.`);
  },
  conflict,
}, () => clock.take());

/** Somebody saved since, in another tab or on another device: show the newer, or keep this. */
async function conflict(answer) {
  const mine = history.state;
  if (model.same(mine, answer.state) && !answer.submitted) {
    saver.resume(answer.revision, null);
    return;
  }
  const choice = await ask("conflict", answer.submitted
    ? "There it has been submitted as well."
    : "Nothing is lost: you can look at the newer order, or keep the one on this page.");
  if (choice === "mine") {
    if (answer.submitted) {
      saver.resume(answer.revision, null);
      saver.save(mine, { reopen: true });
      saver.waiting = { state: mine, submit: false, reopen: false };
    } else saver.resume(answer.revision, mine);
    return;
  }
  history.push(answer.state);
  saver.resume(answer.revision, null);
  submitted = answer.submitted;
  readOnly = data.closed || submitted;
  redraw();
  announce("The newer order is shown.");
}

function redraw() {
  draw(page, history, data.labels, { readOnly, submitted, closed: data.closed });
  dragging.enable(!readOnly);
}

/** Take a new state: draw it, say it, save it. */
function take(state, { label = null, said = "", kind = "", focus = null } = {}) {
  if (readOnly || model.same(state, history.state)) return;
  history.push(model.check(state, data.labels), kind);
  const held = focus ?? document.activeElement;
  redraw();
  keepFocus(held, label);
  if (label && held !== document.body) cardOf(label)?.scrollIntoView({ block: "nearest" });
  if (label || said) announce(said || `Solution ${label} is now ${model.place(state, label)}.`);
  saver.save(state);
}

/** A card that moves loses the focus, and a button may be gone: its card's handle is nearest. */
function keepFocus(held, label) {
  if (!held || held === document.body) return;
  const gone = held.hidden || held.disabled;
  const next = gone ? cardOf(label ?? held.closest(".card")?.dataset.label)?.querySelector(".handle") : held;
  if (next !== document.activeElement) next?.focus({ preventScroll: true });
}

/** Undo or redo. */
function step(move) {
  if (readOnly || !history[move]()) return;
  const held = document.activeElement;
  redraw();
  keepFocus(held, null);
  announce(move === "undo" ? "Undone." : "Done again.");
  saver.save(history.state);
}

async function cannotJudge(label) {
  const reason = await ask("cannot-reason", "", `Why can solution ${label} not be judged?`);
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
  else if (name === "recognised") {
    const state = model.toggleRecognised(history.state, label);
    const now = state.recognised.includes(label) ? "recognised" : "not recognised";
    take(state, { label, said: `Author of solution ${label}: ${now}.` });
  }
}

page.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  const label = button?.closest(".card")?.dataset.label;
  if (!button) return;
  if (label) act(button.dataset.do, label);
  else if (["undo", "redo"].includes(button.dataset.do)) step(button.dataset.do);
  else if (button.dataset.do === "submit") submit();
  else if (button.dataset.do === "reopen") saver.save(history.state, { reopen: true });
  else if (button.dataset.do === "compare") openComparison(data.labels);
  else if (button.dataset.do === "problem") document.getElementById("problem").showModal();
  else if (button.dataset.do === "keys") document.getElementById("keys").showModal();
  else if (button.dataset.do === "open-all") openAll(button);
});

page.addEventListener("change", (event) => {
  if (event.target.matches("[data-do=recognised]")) return;
  if (event.target.matches("textarea")) saver.pump();
});

page.addEventListener("input", (event) => {
  if (!event.target.matches("textarea")) return;
  const label = event.target.closest(".card")?.dataset.label;
  const text = event.target.value;
  const state = label
    ? model.commentOn(history.state, label, text)
    : model.commentOnGroup(history.state, text);
  // While somebody types nothing is drawn anew, and a pause saves.
  if (readOnly) return;
  history.push(state, `typing ${label}`);
  saver.soon(state);
  clearTimeout(typing);
  typing = setTimeout(() => saver.save(history.state), 600);
});
let typing = 0;

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
  if (state.tray.length) {
    const left = state.tray.length === 1 ? "One solution is" : `${state.tray.length} solutions are`;
    tell("Not all are placed", `${left} not ranked yet: ${state.tray.join(", ")}. Rank them, or say that you cannot judge them.`);
    return;
  }
  clearTimeout(typing);
  saver.save(state, { submit: true });
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
      if (model.same(next, state)) redraw(); // put the card back where the model has it
      else take(next, { label, focus: document.body });
    },
  },
);

zoomImages(page);
redraw();
const left = saver.left();
if (left && !readOnly && !data.preview) restore(left);

/** Bring back what an earlier visit could not save. */
function restore({ base, state }) {
  try {
    model.check(state, data.labels);
  } catch {
    saver.keep(null);
    return;
  }
  if (model.same(state, history.state)) saver.keep(null);
  else if (base === data.revision) take(state, { said: "Your unsaved order is back." });
  else {
    const stored = history.state;
    history.push(state);
    redraw();
    saver.stop(() => conflict({ revision: data.revision, submitted, state: stored }));
  }
}
