// Undo and redo.

import assert from "node:assert/strict";
import { test } from "node:test";

import { History } from "../../webjudge/static/history.js";

test("undo and redo go through what was done", () => {
  const history = new History("a");
  assert.deepEqual([history.canUndo, history.undo()], [false, null]);
  history.push("b", "", { label: "B" });
  history.push("c", "", { label: "C" });
  const steps = [history.undo(), history.undo(), history.redo()];
  assert.deepEqual(steps.map(({ label }) => label), ["C", "B", "B"]);
  assert.deepEqual([history.state, history.canUndo, history.canRedo], ["b", true, true]);
  history.push("d");
  assert.deepEqual([history.canRedo, history.redo(), history.state], [false, null, "d"]);
});

test("what is typed on is one step", () => {
  const history = new History("");
  for (const text of ["N", "Ne", "Neat"]) history.push(text, "typing A");
  history.push("other", "typing B");
  history.undo();
  assert.equal(history.state, "Neat");
  history.undo();
  assert.equal(history.state, "");
});

test("at most 200 steps are kept", () => {
  const history = new History(0);
  for (let n = 1; n <= 250; n += 1) history.push(n);
  while (history.canUndo) history.undo();
  assert.equal(history.state, 50);
});
