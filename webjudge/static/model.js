// The order of a group of solutions, as plain data that is never changed in place.
//
// A state holds the order, {ranked, tray, cannot}, and answers by field: `ranked` holds tie groups,
// best first. Each operation returns a new state, checked to hold each solution exactly once.
//
// An answer is a list of the solutions that are marked, an object of texts or choices by solution,
// or one text or choice for the task; `comparisons` lists verdicts on two solutions. Answers to
// the study's questions are by question, then by solution; "" is the task.
// quem/store/state.py declares the fields.

import { listed, ordinal, t } from "./words.js";

const MOST_COMPARISONS = 1000;
// Fields of answers to the study's questions: texts and choices.
const SHELVES = ["answers", "written"];

/** Throw if a state lost or duplicated a solution. */
export function check(state, labels) {
  const placed = [...state.ranked.flat(), ...state.tray, ...Object.keys(state.cannot)];
  const whole = placed.length === labels.length && new Set(placed).size === labels.length
    && labels.every((label) => placed.includes(label)) && state.ranked.every((g) => g.length > 0);
  if (!whole) throw new Error(`not every solution stands once: ${JSON.stringify(state)}`);
  return state;
}

/**
 * Translate a state to another layout, matching letters by content.
 *
 * Removed solutions are dropped, and new ones are unranked.
 */
export function fit(state, from, to, blank) {
  const letters = Object.fromEntries(Object.entries(to).map(([letter, content]) => [content, letter]));
  const now = (letter) => letters[from[letter]];
  const list = (value) => value.map(now).filter(Boolean);
  const texts = (value) => Object.fromEntries(
    Object.entries(value).map(([letter, text]) => [now(letter), text]).filter(([letter]) => letter),
  );
  const pair = (one) => ({ ...one, new: now(one.new), other: now(one.other) });
  const ofQuestions = (value) => Object.fromEntries(Object.entries(value).map(([id, given]) => {
    const { "": onTask, ...others } = given;
    return [id, { ...texts(others), ...(onTask && { "": onTask }) }];
  }).filter(([, given]) => Object.keys(given).length));
  const fitted = { ...blank };
  for (const [field, value] of Object.entries(state)) {
    if (field === "ranked") fitted.ranked = value.map(list).filter((group) => group.length);
    else if (field === "comparisons") fitted.comparisons = value.map(pair).filter((p) => p.new && p.other);
    else if (SHELVES.includes(field)) fitted[field] = ofQuestions(value);
    else if (Array.isArray(value)) fitted[field] = list(value);
    else fitted[field] = value?.constructor === Object ? texts(value) : value;
  }
  const { ranked, tray, cannot } = fitted;
  const placed = new Set([...ranked.flat(), ...tray, ...Object.keys(cannot)]);
  const fresh = Object.keys(to).filter((letter) => !placed.has(letter));
  return { ...fitted, tray: [...tray, ...fresh] };
}

/** Whether two states are equal, regardless of key order. */
export const same = (one, other) => text(one) === text(other);

const text = (state) => JSON.stringify(state, (_, value) => (
  value?.constructor === Object ? Object.fromEntries(Object.entries(value).sort()) : value
));

/** Where a solution is: {area: "ranked" | "tray" | "cannot", group, tied}. */
export function whereabouts(state, label) {
  const group = state.ranked.findIndex((members) => members.includes(label));
  if (group >= 0) {
    const tied = state.ranked[group].filter((other) => other !== label);
    return { area: "ranked", group, tied };
  }
  return { area: label in state.cannot ? "cannot" : "tray", group: -1, tied: [] };
}

/** The state without a solution, which the caller reinserts. */
export function without(state, label) {
  const cannot = { ...state.cannot };
  delete cannot[label];
  return {
    ...state,
    ranked: state.ranked.map((g) => g.filter((l) => l !== label)).filter((g) => g.length),
    tray: state.tray.filter((l) => l !== label),
    cannot,
  };
}

/** Insert a solution as a separate group, at an index among the others. */
export function insertAt(state, label, at) {
  const rest = without(state, label);
  return { ...rest, ranked: rest.ranked.toSpliced(at, 0, [label]) };
}

/** Insert a solution as a separate group, just above another's group. */
export const placeBefore = (state, label, other) => (
  insertAt(state, label, whereabouts(without(state, label), other).group)
);

/** Insert a solution as a separate group, just below another's group. */
export const placeAfter = (state, label, other) => (
  insertAt(state, label, whereabouts(without(state, label), other).group + 1)
);

/** Add a solution to another's tie group. */
export function tieWith(state, label, other) {
  if (whereabouts(state, label).tied.includes(other)) return state;
  const rest = without(state, label);
  const at = whereabouts(rest, other).group;
  return { ...rest, ranked: rest.ranked.with(at, [...rest.ranked[at], label]) };
}

export const best = (state, label) => insertAt(state, label, 0);

export const worst = (state, label) => insertAt(state, label, state.ranked.length);

/** Move one place up: above its tie group, past the group above, or into the ranking. */
export function better(state, label) {
  const { area, group, tied } = whereabouts(state, label);
  if (area !== "ranked") return area === "tray" ? worst(state, label) : state;
  if (tied.length) return placeBefore(state, label, tied[0]);
  return group === 0 ? state : placeBefore(state, label, state.ranked[group - 1][0]);
}

/** Move one place down: below its tie group, or past the group below; an unranked one to the bottom. */
export function worse(state, label) {
  const { area, group, tied } = whereabouts(state, label);
  if (area !== "ranked") return area === "tray" ? worst(state, label) : state;
  if (tied.length) return placeAfter(state, label, tied[0]);
  const below = state.ranked[group + 1];
  return below ? placeAfter(state, label, below[0]) : state;
}

export function tieAbove(state, label) {
  const { area, group } = whereabouts(state, label);
  return area === "ranked" && group > 0 ? tieWith(state, label, state.ranked[group - 1][0]) : state;
}

export function untie(state, label) {
  const { tied } = whereabouts(state, label);
  return tied.length ? placeAfter(state, label, tied[0]) : state;
}

/** Remove the answers about a solution's placement. */
function unplaced(state, label) {
  const [placed, sure] = [{ ...state.placed_by }, { ...state.sure }];
  delete placed[label];
  delete sure[label];
  return { ...without(state, label), placed_by: placed, sure };
}

export function toTray(state, label) {
  if (whereabouts(state, label).area === "tray") return state;
  const rest = unplaced(state, label);
  return { ...rest, tray: [...rest.tray, label] };
}

export function cannotJudge(state, label, reason) {
  const rest = unplaced(state, label);
  return { ...rest, cannot: { ...rest.cannot, [label]: reason } };
}

/** The answer about a solution or the task: marked or not, or the text or choice. */
export function answerOf(state, field, label) {
  const value = state[field];
  if (Array.isArray(value)) return value.includes(label);
  return typeof value === "string" ? value : value[label] ?? "";
}

/** Set the answer about a solution or the task, in the form that `answerOf` returns. */
export function answer(state, field, label, value) {
  const before = state[field];
  if (typeof before === "string") return { ...state, [field]: value };
  if (Array.isArray(before)) {
    const others = before.filter((other) => other !== label);
    return { ...state, [field]: value ? [...others, label] : others };
  }
  const answers = { ...before, [label]: value };
  if (!value.trim()) delete answers[label];
  return { ...state, [field]: answers };
}

// The question that grades answer; see quem/studyfile/relevance.py.
const GRADE = { id: "grade", kind: "scale" };

const shelfOf = ({ kind }) => (kind === "text" ? "written" : "answers");

/** The answer to a question of the study, or empty. */
export const replyOf = (state, question, label) => state[shelfOf(question)][question.id]?.[label] ?? "";

/** Set the answer to a question of the study; an empty one removes it. */
export function reply(state, question, label, value) {
  const shelf = shelfOf(question);
  const given = { ...state[shelf][question.id], [label]: value };
  if (!value.trim()) delete given[label];
  const all = { ...state[shelf], [question.id]: given };
  if (!Object.keys(given).length) delete all[question.id];
  return { ...state, [shelf]: all };
}

/** A solution's grade, a digit as text, or empty. */
export const gradeOf = (state, label) => replyOf(state, GRADE, label);

/** Grade a solution and move it to that grade's group; highest grade first. */
export function grade(state, label, value) {
  const { ranked, ...rest } = without(reply(state, GRADE, label, value), label);
  const of = (group) => Number(gradeOf(rest, group[0]));
  const at = ranked.findIndex((group) => of(group) <= Number(value));
  if (at < 0) return { ...rest, ranked: [...ranked, [label]] };
  const isThere = of(ranked[at]) === Number(value);
  const group = isThere ? [...ranked[at], label] : [label];
  return { ...rest, ranked: ranked.toSpliced(at, Number(isThere), group) };
}

/** Remove a grade. */
export const ungraded = (state, label) => reply(state, GRADE, label, "");

/** Record how a solution was placed: "compare", "drag", "menu", or "key". */
export const placedBy = (state, label, way) => (
  { ...state, placed_by: { ...state.placed_by, [label]: way } }
);

/** Record comparisons, {new, other, verdict, side, seconds} each. */
export const compared = (state, answers) => (
  { ...state, comparisons: [...state.comparisons, ...answers].slice(-MOST_COMPARISONS) }
);

/** The place of a group, in standard competition ranking: 1, 2, 2, 4. */
export const position = (ranked, group) => ranked.slice(0, group).flat().length + 1;

/** Describe a solution's place: "2nd of 5, tied with D". */
export function place(state, label) {
  const { area, group, tied } = whereabouts(state, label);
  if (area === "tray") return t("not ranked yet");
  if (area === "cannot") return t("cannot judge");
  const values = { place: ordinal(position(state.ranked, group)), all: state.ranked.flat().length };
  if (!tied.length) return t("{place} of {all}", values);
  return t("{place} of {all}, tied with {others}", { ...values, others: listed(tied) });
}

/** Describe a move: "C is 2nd of 4, between B and A". */
export function placement(state, label) {
  const { group } = whereabouts(state, label);
  const [above, below] = [state.ranked[group - 1], state.ranked[group + 1]];
  const [upper, lower] = [above?.join(" = "), below?.join(" = ")];
  const values = { label, place: place(state, label), above: upper, below: lower };
  if (above && below) return t("{label} is {place}, between {above} and {below}", values);
  if (above) return t("{label} is {place}, below {above}", values);
  if (below) return t("{label} is {place}, above {below}", values);
  return t("{label} is {place}", values);
}
