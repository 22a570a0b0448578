// Placing by comparison: right places, few questions, and answers that can be taken back.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as placing from "../../webjudge/static/placing.js";

/** Place by a quality; gives the search when it has ended. */
function place(groups, quality, of, lower) {
  let search = placing.begin(groups, lower);
  const most = placing.mostQuestions(search);
  while (!search.end) {
    const before = placing.mostQuestions(search);
    const pivot = of[groups[placing.pivot(search)][0]];
    const verdict = (quality > pivot && "better") || (quality < pivot && "worse") || "equal";
    search = placing.answer(search, verdict, { seconds: 1 });
    assert.ok(placing.mostQuestions(search) < before);
  }
  assert.ok(search.asked.length <= most);
  return search;
}

for (const lower of [false, true]) {
  test(`each place among up to 14 groups is found, of two middle ones the ${lower ? "better" : "worse"} first`, () => {
    for (let n = 1; n <= 14; n += 1) {
      const groups = Array.from({ length: n }, (_, at) => [`S${at}`]);
      const of = Object.fromEntries(groups.map(([label], at) => [label, -at]));
      assert.equal(placing.mostQuestions(placing.begin(groups, lower)), Math.ceil(Math.log2(n + 1)));
      for (let at = 0; at <= n; at += 1) {
        assert.deepEqual(place(groups, 0.5 - at, of, lower).end, { at });
        if (at < n) assert.deepEqual(place(groups, -at, of, lower).end, { tie: at });
      }
    }
  });
}

test("fourteen without ties take at most 41 answers", () => {
  let [worst, expected] = [0, 0];
  for (let k = 1; k < 14; k += 1) {
    expected += Math.ceil(Math.log2(k + 1));
    worst += placing.mostQuestions(placing.begin(Array.from({ length: k }, (_, at) => [at]), false));
  }
  assert.deepEqual([worst, expected], [41, 41]);
});

test("of two middle groups one is met first by chance, of three the middle one", () => {
  const met = (n, lower) => placing.pivot(placing.begin(Array.from({ length: n }, (_, at) => [at]), lower));
  assert.deepEqual([met(2, false), met(2, true), met(3, false), met(3, true)], [1, 0, 1, 1]);
});

test("answers are taken back one by one", () => {
  const groups = ["A", "B", "C", "D"].map((label) => [label]);
  const begun = placing.begin(groups, false);
  const once = placing.answer(begun, "better", { side: "left", seconds: 2 });
  const twice = placing.answer(once, "equal", { side: "left", seconds: 3 });
  assert.deepEqual(twice.asked.map(({ other, verdict }) => [other, verdict]), [["C", "better"], ["B", "equal"]]);
  assert.deepEqual(placing.back(twice), once);
  assert.deepEqual(placing.back(once), begun);
  assert.deepEqual(placing.back(begun), begun);
});
