// The order of a task: what each operation does to it, and how it outlives another layout.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as model from "../../webjudge/static/model.js";

const LABELS = ["A", "B", "C", "D"];
const BLANK = {
  ranked: [], tray: [], cannot: {}, recognized: [], comments: {}, comment: "",
  comparisons: [], placed_by: {}, sure: {}, answers: {}, written: {},
};
const STATE = { ...BLANK, ranked: [["A"], ["B", "C"]], tray: ["D"] };

const verdict = (one, other) => ({ new: one, other, verdict: "better", side: "left", seconds: 2.5 });
const ranked = (state) => model.check(state, LABELS).ranked;

test("a solution moves by one place, out of its tie first", () => {
  assert.deepEqual(ranked(model.better(STATE, "C")), [["A"], ["C"], ["B"]]);
  assert.deepEqual(ranked(model.worse(STATE, "C")), [["A"], ["B"], ["C"]]);
  assert.deepEqual(ranked(model.better(STATE, "A")), STATE.ranked);
  assert.deepEqual(ranked(model.worse(STATE, "A")), [["B", "C"], ["A"]]);
});

test("what is not ranked comes in at the bottom, or at the top", () => {
  assert.deepEqual(ranked(model.better(STATE, "D")), [["A"], ["B", "C"], ["D"]]);
  assert.deepEqual(ranked(model.worst(STATE, "D")), [["A"], ["B", "C"], ["D"]]);
  assert.deepEqual(ranked(model.best(STATE, "D")), [["D"], ["A"], ["B", "C"]]);
});

test("solutions are tied and untied", () => {
  assert.deepEqual(ranked(model.tieAbove(STATE, "B")), [["A", "B"], ["C"]]);
  assert.deepEqual(ranked(model.tieWith(STATE, "D", "A")), [["A", "D"], ["B", "C"]]);
  assert.deepEqual(ranked(model.untie(STATE, "C")), [["A"], ["B"], ["C"]]);
});

test("what cannot be judged keeps its reason until it is ranked", () => {
  const state = model.cannotJudge(STATE, "A", "torn");
  assert.deepEqual(model.check(state, LABELS).cannot, { A: "torn" });
  assert.equal(model.place(state, "A"), "cannot judge");
  assert.deepEqual(model.toTray(state, "A").cannot, {});
});

test("no operation changes a state in place", () => {
  const before = JSON.stringify(STATE);
  for (const name of ["better", "worse", "tieAbove", "untie", "toTray", "best", "worst"]) {
    for (const label of LABELS) model.check(model[name](STATE, label), LABELS);
  }
  assert.equal(JSON.stringify(STATE), before);
});

test("a state that lost or doubled a solution is refused", () => {
  assert.throws(() => model.check({ ...STATE, tray: [] }, LABELS));
  assert.throws(() => model.check({ ...STATE, tray: ["D", "A"] }, LABELS));
  assert.throws(() => model.check({ ...STATE, ranked: [...STATE.ranked, []] }, LABELS));
});

test("answers are marks and texts of solutions, or a text of the task", () => {
  let state = model.answer(STATE, "recognized", "B", true);
  assert.equal(model.answerOf(state, "recognized", "B"), true);
  state = model.answer(model.answer(state, "comments", "C", "Neat"), "comment", undefined, "Close");
  assert.deepEqual([state.comments, state.comment], [{ C: "Neat" }, "Close"]);
  assert.equal(model.answerOf(state, "comments", "A"), "");
  state = model.answer(model.answer(state, "comments", "C", " "), "recognized", "B", false);
  assert.deepEqual([state.comments, state.recognized], [{}, []]);
});

test("another layout keeps the order and the answers by content", () => {
  const then = { A: "one", B: "two", C: "three", D: "four" };
  const now = { A: "two", B: "one", E: "five", D: "four" };
  const state = {
    ...STATE,
    cannot: { D: "torn" },
    tray: [],
    comments: { C: "gone", B: "stays" },
    recognized: ["A"],
    comparisons: [verdict("A", "B"), verdict("C", "A")],
    placed_by: { B: "drag", C: "key" },
  };
  assert.deepEqual(model.fit(state, then, now, BLANK), {
    ...BLANK,
    ranked: [["B"], ["A"]],
    tray: ["E"],
    cannot: { D: "torn" },
    comments: { A: "stays" },
    recognized: ["B"],
    comparisons: [verdict("B", "A")],
    placed_by: { A: "drag" },
  });
});

test("states are compared whatever the order of their keys", () => {
  const turned = Object.fromEntries(Object.entries(STATE).reverse());
  assert.ok(model.same(STATE, turned));
  assert.ok(!model.same(STATE, model.untie(STATE, "C")));
});

test("how a solution got its place goes with the place", () => {
  let state = model.placedBy(model.answer(STATE, "sure", "A", "unsure"), "A", "drag");
  state = model.better(model.worse(state, "A"), "A");
  assert.deepEqual([state.placed_by, state.sure], [{ A: "drag" }, { A: "unsure" }]);
  for (const out of [model.toTray(state, "A"), model.cannotJudge(state, "A", "torn")]) {
    assert.deepEqual([out.placed_by, out.sure], [{}, {}]);
  }
});

test("verdicts are kept in their order, the last thousand of them", () => {
  let state = model.compared(STATE, [verdict("A", "B"), verdict("A", "C")]);
  assert.deepEqual(state.comparisons.map((one) => one.other), ["B", "C"]);
  state = model.compared(state, Array(999).fill(verdict("D", "A")));
  assert.deepEqual([state.comparisons.length, state.comparisons[0].other], [1000, "C"]);
});

test("what became of a solution is said with both neighbors", () => {
  assert.equal(model.placement(STATE, "A"), "A is 1st of 3, above B = C");
  assert.equal(model.placement(STATE, "C"), "C is 2nd of 3, tied with B, below A");
  assert.equal(model.placement(model.insertAt(STATE, "D", 1), "D"), "D is 2nd of 4, between A and B = C");
  assert.equal(model.placement({ ...STATE, ranked: [["A"]] }, "A"), "A is 1st of 1");
});

test("places are read out", () => {
  assert.equal(model.place(STATE, "A"), "1st of 3");
  assert.equal(model.place(STATE, "C"), "2nd of 3, tied with B");
  assert.equal(model.place(STATE, "D"), "not ranked yet");
});

test("answers to the study's questions are by question and solution, and outlive another layout", () => {
  const scale = { id: "clear", kind: "scale" };
  const text = { id: "why", kind: "text" };
  let state = model.reply(STATE, scale, "A", "4");
  state = model.reply(state, scale, "B", "2");
  state = model.reply(state, { id: "hard", kind: "choice" }, "", "easy");
  state = model.reply(state, text, "A", "because");
  assert.deepEqual(state.answers, { clear: { A: "4", B: "2" }, hard: { "": "easy" } });
  assert.deepEqual(state.written, { why: { A: "because" } });
  assert.equal(model.replyOf(state, scale, "A"), "4");
  assert.equal(model.replyOf(state, text, "B"), "");
  assert.deepEqual(model.reply(model.reply(state, scale, "A", ""), scale, "B", "").answers, { hard: { "": "easy" } });
  assert.deepEqual(STATE.answers, {}, "nothing is changed in place");
  const from = { A: "a", B: "b", C: "c", D: "d" };
  const moved = model.fit(state, from, { A: "b", B: "c", C: "d" }, BLANK);
  assert.deepEqual(moved.answers, { clear: { A: "2" }, hard: { "": "easy" } });
  assert.deepEqual(moved.written, {});
  assert.deepEqual(model.toTray(state, "A").answers, state.answers, "they are about the solution, not its place");
});

test("a grade puts a solution into the group of that grade, the highest first", () => {
  const blank = { ...BLANK, tray: [...LABELS] };
  // Whatever the order in which grades are given, and whichever were given before.
  for (const order of ["ABCD", "DCBA", "BDAC"]) {
    const grades = { A: "1", B: "2", C: "0", D: "1" };
    let state = blank;
    for (const label of order) state = model.grade(model.grade(state, label, "2"), label, grades[label]);
    assert.deepEqual(ranked(state).map((group) => group.toSorted()), [["B"], ["A", "D"], ["C"]]);
    assert.deepEqual(state.answers, { grade: grades });
    assert.equal(model.gradeOf(state, "B"), "2");
  }
  assert.deepEqual(ranked(model.grade(blank, "A", "9")), [["A"]]);
  const back = model.ungraded(model.toTray(model.grade(blank, "A", "9"), "A"), "A");
  assert.ok(model.same(back, { ...blank, tray: ["B", "C", "D", "A"] }));
  assert.equal(model.gradeOf(back, "A"), "");
});
