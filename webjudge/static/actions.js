// Actions of buttons, keys, and menus.

import { isTogether } from "./comparing.js";
import { $ } from "./dom.js";
import { askMissing, next, open, show, stopComparing } from "./going.js";
import { openMenu } from "./menu.js";
import { announce, ask, hideToast, toast } from "./messages.js";
import * as model from "./model.js";
import {
  answer, back, cannotJudge, comment, compare, compareTwo, grade, mark, place, step, unrank, whatNext,
} from "./ordering.js";
import { put, sign } from "./parts.js";
import { goToQuestions, unanswered } from "./questions.js";
import { enlarge, fit, goTo, links } from "./reader.js";
import { isThisIt, orderText } from "./review.js";
import { headings } from "./solutions.js";
import { decide } from "./syncing.js";
import { html } from "./vendor/lit-html.js";
import { number, t, tn } from "./words.js";

const MOVES = {
  better: model.better,
  worse: model.worse,
  tie: model.tieAbove,
  untie: model.untie,
  best: model.best,
  worst: model.worst,
};
const OTHERS = { place: compare, with: chooseOther, tray: unrank, cannot: cannotJudge, comment };

/** Perform a menu's or key's action on a solution. */
export function act(page, name, label, way, value) {
  if (!label || !page.canRank || page.isComparing) return;
  if (name === "grade") grade(page, label, value, way);
  else if (page.isGrading && (name in MOVES || ["place", "with"].includes(name))) regrade(page, name, label, way);
  else if (name in MOVES) place(page, label, MOVES[name](page.state, label), way);
  else if (name in OTHERS) OTHERS[name](page, label);
  else mark(page, name, label, value);
}

function regrade(page, name, label, way) {
  const by = { better: 1, worse: -1 }[name];
  const now = model.gradeOf(page.state, label);
  if (by && now) grade(page, label, String(Number(now) + by), way);
}

async function chooseOther(page, label) {
  const others = page.state.ranked.flat().filter((other) => other !== label);
  put(others.map((other) => html`<button class="btn" value=${other}>${sign(other)}<span class="snippet" dir="auto">${
    page.solutions.about(other).snippet}</span></button>`), $("#others"));
  const other = await ask("with", "", t("Compare solution {label} with…", { label }));
  if (other) compareTwo(page, label, other);
}

/** Actions of buttons, by their `data-do`. */
export const DOING = {
  undo: (page) => step(page, "undo"),
  redo: (page) => step(page, "redo"),
  next,
  submit,
  send: (page) => send(page),
  reopen(page) {
    $("#receipt").close();
    if (page.undecided) decide(page, page.undecided);
    else page.saver.reopen();
  },
  decide: (page) => decide(page, page.undecided),
  place: (page) => compare(page, page.current),
  /** The main button of a phone. */
  "place-now": (page) => {
    const { current, state, view } = page;
    if (!state.tray.length) submit(page);
    else if (view === "reader" && !page.isRanked(current) && !page.isGrading) compare(page, current);
    else next(page);
  },
  back,
  stop: (page) => stopComparing(page),
  together: (page) => page.set({ together: !isTogether(page) }),
  reload(page) {
    const shown = page.isComparing ? [page.question.label, page.question.other] : [page.current];
    for (const label of shown) page.solutions.load(label);
    page.draw();
  },
  sheet(page) {
    page.set({ isSheetOpen: !page.isSheetOpen });
    if (page.isSheetOpen) $("#ladder .open-it[tabindex='0']")?.focus();
  },
  help: () => $("#help").showModal(),
  fit: () => fit(),
  contents() {
    put(links(headings($("#reader article > .prose"))), $("#contents nav"));
    $("#contents").showModal();
  },
  problem(page) {
    if (!$("#statement")) return;
    if (page.isComparing) {
      $("#problem .view").replaceChildren(page.solutions.statement("dialog"));
      $("#problem").showModal();
    } else show(page, "problem");
  },
};

/** Go to the next open step or the review; in the review, submit. */
function submit(page) {
  const { tray: { length: n, 0: label } } = page.state;
  if (page.undecided) decide(page, page.undecided);
  else if (n) {
    open(page, label);
    const said = page.isGrading
      ? tn("1 candidate left to grade", "{n} candidates left to grade", n)
      : tn("1 solution is not ranked yet", "{n} solutions are not ranked yet", n);
    toast(said);
    announce(page.isGrading
      ? `${said}. ${whatNext(page)}`
      : t("{n} still to rank. Opening solution {label}.", { n: number(n), label }));
  } else if (page.view !== "review") show(page, "review");
  else send(page, { asks: true });
}

/** Submit; ask first if all are tied, or if the same button has just opened the review. */
async function send(page, { asks = false } = {}) {
  const { ranked: [group, ...others], tray } = page.state;
  if (page.undecided || tray.length) {
    submit(page);
    return;
  }
  if (unanswered(page).length) {
    askMissing(page);
    return;
  }
  const areTied = group?.length > 2 && !others.length && !page.isGrading;
  const question = areTied
    ? [t("You tied all {n} solutions. Is that right?", { n: number(group.length) }), t("All solutions are tied")]
    : [orderText(page), isThisIt(page)];
  if ((areTied || asks) && await ask("submitting", ...question) !== "yes") return;
  hideToast();
  page.saver.save(page.state, { submit: true });
}

/** Open the menu of a solution, by the button of the row that has the focus. */
export function menu(page, label) {
  if (!label || !page.canRank || page.isComparing) return;
  const more = `[data-more="${CSS.escape(label)}"]`;
  const row = document.activeElement.closest("#ladder .chip");
  openMenu(page, label, (row && $(more, row)) || $(`#main ${more}`) || $(`#ladder ${more}`), act);
}

// Other clicks, by the attribute that names the action.
const PRESSED = {
  do: (page, name) => DOING[name](page),
  open: (page, label) => open(page, label),
  more: (page, label, target) => openMenu(page, label, target, act),
  verdict: (page, verdict, target, event) => { if (isMeant(event)) answer(page, verdict, true); },
  grade: (page, value, target, event) => { if (isMeant(event)) grade(page, page.current, value, "menu"); },
  show(page, label) {
    page.set({ shown: label });
    page.clock.show([label]);
  },
  /** Confidence in a placement, chosen in the message after it or in the review. */
  sure(page, level, { dataset: { label } }) {
    hideToast();
    if (page.isRanked(label)) mark(page, "sure", label, level);
  },
  async answer(page, label) {
    await page.solutions.load(label);
    open(page, label);
    goToQuestions();
  },
  pair: (page, labels) => compareTwo(page, ...labels.split(" ").reverse()),
  section(page, id, target, event) {
    event.preventDefault();
    $("#contents").close();
    goTo(id);
  },
};

/** Ignore the second click of a double click, which would answer the next question. */
const isMeant = ({ detail, pointerType }) => detail < 2 || pointerType !== "mouse";

const PRESSABLE = Object.keys(PRESSED).map((name) => `[data-${name}]`).join();

export function press(page, event) {
  const target = event.target.closest(`${PRESSABLE}, .zoom`);
  const name = Object.keys(PRESSED).find((one) => one in (target?.dataset ?? {}));
  if (name) PRESSED[name](page, target.dataset[name], target, event);
  else if (target) enlarge(target);
}
