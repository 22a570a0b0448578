// What buttons, keys, and menus do.

import { isTogether } from "./comparing.js";
import { $ } from "./dom.js";
import { next, open, show, stopComparing } from "./going.js";
import { isGrading } from "./grading.js";
import { openMenu } from "./menu.js";
import { ask, hideToast } from "./messages.js";
import * as model from "./model.js";
import {
  answer, back, cannotJudge, comment, compare, compareTwo, grade, mark, place, regrade, step, unrank,
} from "./ordering.js";
import { put, sign } from "./parts.js";
import { goToQuestions } from "./questions.js";
import { enlarge, fit, goTo, links } from "./reader.js";
import { headings } from "./solutions.js";
import { reopen, send, submit } from "./submitting.js";
import { decide } from "./syncing.js";
import { html } from "./vendor/lit-html.js";
import { t } from "./words.js";

const MOVES = {
  better: model.better,
  worse: model.worse,
  tie: model.tieAbove,
  untie: model.untie,
  best: model.best,
  worst: model.worst,
};

/** Do what a menu or a key says with a solution. */
export function act(page, name, label, way, value) {
  if (!label || !page.canRank || page.isComparing) return;
  const move = MOVES[name];
  if (isGrading(page) && (move || ["place", "with"].includes(name))) regrade(page, name, label, way);
  else if (move) place(page, label, move(page.state, label), way);
  else if (name === "grade") grade(page, label, value, way);
  else if (name === "place") compare(page, label);
  else if (name === "with") chooseOther(page, label);
  else if (name === "tray") unrank(page, label);
  else if (name === "cannot") cannotJudge(page, label);
  else if (name === "comment") comment(page, label);
  else mark(page, name, label, value);
}

async function chooseOther(page, label) {
  const others = page.state.ranked.flat().filter((other) => other !== label);
  put(others.map((other) => html`<button class="btn" value=${other}>${sign(other)}<span class="snippet" dir="auto">${
    page.solutions.about(other).snippet}</span></button>`), $("#others"));
  const other = await ask("with", "", t("Compare solution {label} with…", { label }));
  if (other) compareTwo(page, label, other);
}

/** What buttons do, by their `data-do`. */
export const DOING = {
  undo: (page) => step(page, "undo"),
  redo: (page) => step(page, "redo"),
  next,
  submit,
  send: (page) => send(page),
  reopen,
  decide: (page) => decide(page, page.undecided),
  place: (page) => compare(page, page.current),
  "place-now": placeNow,
  back,
  stop: (page) => stopComparing(page),
  together: (page) => page.set({ together: !isTogether(page) }),
  reload: (page) => {
    const { label, other } = page.isComparing ? page.question : { label: page.current };
    for (const one of [label, other].filter(Boolean)) page.solutions.load(one);
    page.draw();
  },
  sheet: (page) => {
    page.set({ isSheetOpen: !page.isSheetOpen });
    if (page.isSheetOpen) $("#ladder .open-it[tabindex='0']")?.focus();
  },
  help: () => $("#help").showModal(),
  fit: () => fit(),
  contents: () => {
    put(links(headings($("#reader article > .prose"))), $("#contents nav"));
    $("#contents").showModal();
  },
  problem: (page) => {
    if ($("#statement") && page.isComparing) {
      $("#problem .view").replaceChildren(page.solutions.statement("dialog"));
      $("#problem").showModal();
    } else if ($("#statement")) show(page, "problem");
  },
};

/** The main button of a phone. */
function placeNow(page) {
  const { current, state, view } = page;
  const isWaiting = current && model.whereabouts(state, current).area !== "ranked";
  if (!state.tray.length) submit(page);
  else if (view === "reader" && isWaiting && !isGrading(page)) compare(page, current);
  else next(page);
}

/** Open the menu of a solution, by the button of the row that has the focus. */
export function menu(page, label) {
  if (!label || !page.canRank || page.isComparing) return;
  const more = `[data-more="${CSS.escape(label)}"]`;
  const inLadder = document.activeElement.closest("#ladder .chip");
  openMenu(page, label, (inLadder && $(more, inLadder)) || $(`#main ${more}`) || $(`#ladder ${more}`), act);
}

async function openQuestions(page, label) {
  await page.solutions.load(label);
  open(page, label);
  goToQuestions();
}

// What else is pressed, by the attribute that says what.
const PRESSED = {
  do: (page, name) => DOING[name](page),
  open: (page, label) => open(page, label),
  more: (page, label, target) => openMenu(page, label, target, act),
  verdict: (page, verdict, target, event) => { if (isMeant(event)) answer(page, verdict, true); },
  grade: (page, value, target, event) => { if (isMeant(event)) grade(page, page.current, value, "menu"); },
  show: (page, label) => {
    page.set({ shown: label });
    page.clock.show([label]);
  },
  // How sure the judge is of a place: said in the message after it was found, or in the review.
  sure: (page, level, { dataset: { label } }) => {
    hideToast();
    if (model.whereabouts(page.state, label).area === "ranked") mark(page, "sure", label, level);
  },
  answer: openQuestions,
  pair: (page, labels) => compareTwo(page, ...labels.split(" ").reverse()),
  section: (page, id, target, event) => {
    event.preventDefault();
    $("#contents").close();
    goTo(id);
  },
};

/** The second press of a double click is no answer to the next question; fingers tap once. */
const isMeant = ({ detail, pointerType }) => detail < 2 || pointerType !== "mouse";

const PRESSABLE = Object.keys(PRESSED).map((name) => `[data-${name}]`).join();

export function press(page, event) {
  const target = event.target.closest(`${PRESSABLE}, .zoom`);
  const name = Object.keys(PRESSED).find((one) => one in (target?.dataset ?? {}));
  if (name) PRESSED[name](page, target.dataset[name], target, event);
  else if (target) enlarge(target);
}
