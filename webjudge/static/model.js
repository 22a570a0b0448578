// The order of a group of solutions, as plain data that is never changed in place.
//
// A state holds the order, {ranked, tray, cannot}, and answers by field: `ranked` holds tie groups,
// best first. Each operation gives a new state, checked to hold each solution exactly once.
//
// An answer is a list of the solutions that are marked, an object of texts or choices by solution,
// or one text or choice for the task; `comparisons` lists verdicts on two solutions. What is said to
// the study's own questions is by question, and then by solution, under "" on the task.
// quem/store/state.py declares the fields.

import { listed, ordinal, t } from "./words.js";

const MOST_COMPARISONS = 1000;
// Where answers to the study's own questions are: what is written apart from what is chosen.
const SHELVES = ["answers", "written"];

/** Refuse a state that lost or doubled a solution. */
export function check(state, labels) {
  const placed = [...state.ranked.flat(), ...state.tray, ...Object.keys(state.cannot)];
  const whole = placed.length === labels.length && new Set(placed).size === labels.length
    && labels.every((label) => placed.includes(label)) && state.ranked.every((g) => g.length > 0);
  if (!whole) throw new Error(`not every solution stands once: ${JSON.stringify(state)}`);
  return state;
}

/**
 * The state under the letters of another layout, by the content of each letter there and here.
 *
 * What is no longer there is left out, and what is new is not ranked yet.
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

/** Whether two states are the same, whatever the order of their keys. */
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

/** The state without a solution, which the caller puts back somewhere. */
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

/** Put a solution on a place of its own, at an index among the other groups. */
export function insertAt(state, label, at) {
  const rest = without(state, label);
  return { ...rest, ranked: rest.ranked.toSpliced(at, 0, [label]) };
}

/** Put a solution on a place of its own, just above the group of another one. */
export const placeBefore = (state, label, other) => (
  insertAt(state, label, whereabouts(without(state, label), other).group)
);

/** Put a solution on a place of its own, just below the group of another one. */
export const placeAfter = (state, label, other) => (
  insertAt(state, label, whereabouts(without(state, label), other).group + 1)
);

/** Tie a solution with another one, and all that are tied with that. */
export function tieWith(state, label, other) {
  if (whereabouts(state, label).tied.includes(other)) return state;
  const rest = without(state, label);
  const at = whereabouts(rest, other).group;
  return { ...rest, ranked: rest.ranked.with(at, [...rest.ranked[at], label]) };
}

export const best = (state, label) => insertAt(state, label, 0);

export const worst = (state, label) => insertAt(state, label, state.ranked.length);

/** One place up: out of a tie to just above it, else past the group above; into the ranking. */
export function better(state, label) {
  const { area, group, tied } = whereabouts(state, label);
  if (area !== "ranked") return area === "tray" ? worst(state, label) : state;
  if (tied.length) return placeBefore(state, label, tied[0]);
  return group === 0 ? state : placeBefore(state, label, state.ranked[group - 1][0]);
}

/** One place down: out of a tie to just below it, else past the group below; at the bottom if not ranked. */
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

/** What was said of a solution's place; there is none any more. */
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

/** What is said of a solution, or of the task: whether it is marked, or the text or choice. */
export function answerOf(state, field, label) {
  const value = state[field];
  if (Array.isArray(value)) return value.includes(label);
  return typeof value === "string" ? value : value[label] ?? "";
}

/** Say something of a solution, or of the task; takes what `answerOf` gives. */
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

// The question that a grade answers, where judges grade; see quem/studyfile/relevance.py.
const GRADE = { id: "grade", kind: "scale" };

const shelfOf = ({ kind }) => (kind === "text" ? "written" : "answers");

/** The answer to one of the study's own questions; empty where there is none. */
export const replyOf = (state, question, label) => state[shelfOf(question)][question.id]?.[label] ?? "";

/** Answer one of the study's own questions, or take the answer back with an empty one. */
export function reply(state, question, label, value) {
  const shelf = shelfOf(question);
  const given = { ...state[shelf][question.id], [label]: value };
  if (!value.trim()) delete given[label];
  const all = { ...state[shelf], [question.id]: given };
  if (!Object.keys(given).length) delete all[question.id];
  return { ...state, [shelf]: all };
}

/** The grade of a solution, a digit as text; empty where it has none. */
export const gradeOf = (state, label) => replyOf(state, GRADE, label);

/** Give a solution a grade, which puts it into the group of that grade; the highest stand first. */
export function grade(state, label, value) {
  const { ranked, ...rest } = without(reply(state, GRADE, label, value), label);
  const of = (group) => Number(gradeOf(rest, group[0]));
  const at = ranked.findIndex((group) => of(group) <= Number(value));
  if (at < 0) return { ...rest, ranked: [...ranked, [label]] };
  const isThere = of(ranked[at]) === Number(value);
  const group = isThere ? [...ranked[at], label] : [label];
  return { ...rest, ranked: ranked.toSpliced(at, Number(isThere), group) };
}

/** Take a grade back. */
export const ungraded = (state, label) => reply(state, GRADE, label, "");

/** Note how a solution got its place: by "compare", "drag", "menu", or "key". */
export const placedBy = (state, label, way) => (
  { ...state, placed_by: { ...state.placed_by, [label]: way } }
);

/** Note verdicts on two solutions, {new, other, verdict, side, seconds} each. */
export const compared = (state, answers) => (
  { ...state, comparisons: [...state.comparisons, ...answers].slice(-MOST_COMPARISONS) }
);

/** The place of a group, as in competitions: 1, 2, 2, 4. */
export const position = (ranked, group) => ranked.slice(0, group).flat().length + 1;

/** Say where a solution is: "2nd of 5, tied with D". */
export function place(state, label) {
  const { area, group, tied } = whereabouts(state, label);
  if (area === "tray") return t("not ranked yet");
  if (area === "cannot") return t("cannot judge");
  const values = { place: ordinal(position(state.ranked, group)), all: state.ranked.flat().length };
  if (!tied.length) return t("{place} of {all}", values);
  return t("{place} of {all}, tied with {others}", { ...values, others: listed(tied) });
}

/** Say what became of a solution: "C is 2nd of 4, between B and A". */
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
