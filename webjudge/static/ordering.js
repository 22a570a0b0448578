// Changes of the order and of answers.

import { $ } from "./dom.js";
import { focusTitle } from "./focus.js";
import { next, open, question, stopComparing } from "./going.js";
import { gradeText } from "./grading.js";
import { announce, ask, hideToast, toast } from "./messages.js";
import * as model from "./model.js";
import * as placing from "./placing.js";
import { askSure } from "./questions.js";
import { t } from "./words.js";

/** Apply a placement and go to the next solution; undo returns to its search. */
export function place(page, label, state, way, search = null) {
  const wasRanked = page.isRanked(label);
  const isReading = page.current !== label && page.state.tray.includes(page.current);
  if (!page.take(model.placedBy(state, label, way), { step: { label, search }, placed: label })) return;
  const said = page.isGrading
    ? t("{label}: {grade}", { label, grade: gradeText(page, label) })
    : model.placement(page.state, label);
  if (wasRanked && search) open(page, label, { place: 0 });
  else if (wasRanked || isReading) page.draw();
  else next(page);
  if (isReading && !wasRanked) focusTitle();
  if (way !== "key" || !wasRanked) toast(said, () => step(page, "undo"), askSure(page, label));
  announce(wasRanked ? `${said}.` : `${said}. ${whatNext(page)}`);
}

export function whatNext({ view, current: label, isGrading }) {
  if (view === "review") {
    return isGrading ? t("All candidates are graded.") : t("All solutions are ranked. Review and submit.");
  }
  return isGrading ? t("Now reading candidate {label}.", { label }) : t("Now reading solution {label}.", { label });
}

/** Undo or redo; during a comparison, undo takes back the last answer. */
export function step(page, way) {
  if (page.isComparing) {
    if (way === "undo") back(page);
    return;
  }
  const done = page.move(way);
  if (!done) return;
  hideToast();
  if (way === "undo" && done.search?.asked.length) {
    question(page, { current: done.label, search: placing.back(done.search) });
  } else if (page.view === "review" && page.state.tray.length) {
    open(page, done.label ?? page.state.tray[0], { focus: false });
  } else page.draw();
  announce(way === "undo" ? t("Undone") : t("Redone"));
}

export function back(page) {
  if (!page.search?.asked.length) return;
  question(page, { search: placing.back(page.search) });
  announce(t("Answer taken back."));
}

/** Grade a candidate, and go to the next one. */
export function grade(page, label, value, way) {
  if (!label || !page.canRank || page.data.grades[value] === undefined) return;
  place(page, label, model.grade(page.state, label, value), way);
}

/** The state without the grade of a solution that left the order. */
const ungraded = (page, state, label) => (page.isGrading ? model.ungraded(state, label) : state);

export function unrank(page, label) {
  if (!page.take(ungraded(page, model.toTray(page.state, label), label), { step: { label } })) return;
  page.draw();
  announce(page.isGrading
    ? t("{label} has no grade now.", { label })
    : t("{label} is not ranked any more.", { label }));
}

export async function cannotJudge(page, label) {
  const reason = await ask("cannot-reason", "", t("Why can't you judge solution {label}?", { label }));
  if (!reason) return;
  const state = ungraded(page, model.cannotJudge(page.state, label, reason), label);
  if (!page.take(state, { step: { label } })) return;
  const said = t("{label} is marked “cannot judge”", { label });
  if (page.current === label) next(page);
  else page.draw();
  toast(said, () => step(page, "undo"));
  announce(`${said}.`);
}

/** Open the comment dialog, which saves while the judge types. */
export function comment(page, label) {
  const dialog = $("#comment");
  const text = $("textarea", dialog);
  const heading = t("Comment on solution {label}", { label });
  $("h2", dialog).textContent = heading;
  text.ariaLabel = heading;
  text.dataset.label = label;
  text.value = model.answerOf(page.state, "comments", label);
  dialog.showModal();
}

/** Mark a solution, or choose for it. */
export function mark(page, field, label, value) {
  const before = model.answerOf(page.state, field, label);
  const isMark = typeof before === "boolean";
  const now = isMark ? !before : value;
  if (!page.take(model.answer(page.state, field, label, now))) return;
  page.draw();
  const said = now
    ? t("Author of solution {label} marked as recognized.", { label })
    : t("Author of solution {label} marked as not recognized.", { label });
  announce(isMark ? said : t("Noted."));
}

/** Apply a drop at the target `aim`. */
export function drop(page, label, { isFirst, isOut, how, other, grade: value }) {
  const move = { above: model.placeBefore, below: model.placeAfter, tie: model.tieWith }[how];
  if (isOut) unrank(page, label);
  else if (value) grade(page, label, value, "drag");
  else place(page, label, isFirst ? model.best(page.state, label) : move(page.state, label, other), "drag");
}

/** Read a text or the answer to a question from its control. */
export function reply(page, control) {
  const { field, question: id, label } = control.dataset;
  const isTyped = control.matches("textarea");
  const value = control.type === "checkbox" && !control.checked ? "" : control.value;
  const asked = page.data.questions.find((one) => one.id === id);
  const now = field ? model.answer(page.state, field, label, value) : model.reply(page.state, asked, label, value);
  // Typing is saved after a pause.
  page.take(now, { kind: isTyped ? `typing ${field ?? id} ${label}` : "", soon: isTyped });
  page.draw();
}

// Comparing

/** Place a solution by comparing it with ranked ones. */
export function compare(page, label) {
  if (!label || !page.canRank || page.isComparing) return;
  const { ranked } = model.without(page.state, label);
  if (ranked.length) {
    question(page, { current: label, search: placing.begin(ranked, page.data.chance[label].lower) });
  } else place(page, label, model.best(page.state, label), "compare");
}

export function compareTwo(page, label, other) {
  if (page.canRank && !page.isComparing) question(page, { pair: { label, other, from: page.view } });
}

/** Handle the answer "better", "equal", or "worse"; a pressed button keeps the focus. */
export function answer(page, verdict, isPressed = false) {
  page.clock.count();
  const { label, other, side } = page.question;
  const seconds = Math.round((page.clock.total - page.askedAt) * 10) / 10;
  if (page.pair) {
    settle(page, { new: label, other, verdict, side, seconds });
    return;
  }
  const search = placing.answer(page.search, verdict, { side, seconds });
  const { groups, end, asked } = search;
  if (end) {
    const order = "tie" in end
      ? model.tieWith(page.state, label, groups[end.tie][0])
      : model.insertAt(page.state, label, end.at);
    const answers = asked.map((one) => ({
      new: label, other: one.other, verdict: one.verdict, side: one.side, seconds: one.seconds,
    }));
    place(page, label, model.compared(order, answers), "compare", search);
    return;
  }
  question(page, { search }, isPressed ? verdict : "");
  announce(t("{better} is better. Next: solution {label} or solution {other}? At most {n} more.", {
    better: verdict === "better" ? label : other, label, other: page.question.other, n: page.question.most,
  }));
}

/** An answer on two ranked solutions: one against the order moves the winner directly above. */
function settle(page, given) {
  const { new: label, other, verdict } = given;
  const { state, pair: { from } } = page;
  const [mine, theirs] = [label, other].map((one) => model.whereabouts(state, one).group);
  const moved = verdict === "worse" ? other : label;
  const order = {
    better: () => (mine >= theirs ? model.placeBefore(state, label, other) : state),
    worse: () => (mine <= theirs ? model.placeBefore(state, other, label) : state),
    equal: () => model.tieWith(state, label, other),
  }[verdict]();
  const isKept = order === state;
  const now = isKept ? state : model.placedBy(order, moved, "compare");
  page.take(model.compared(now, [given]), { step: { label } });
  stopComparing(page, from);
  const said = isKept ? t("Your answer agrees with the order.") : `${model.placement(page.state, moved)}.`;
  toast(said, () => step(page, "undo"));
  announce(said);
}
