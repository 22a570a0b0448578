// The judging workspace: the open solution and the order. Draws the page and dispatches events.

import { press } from "./actions.js";
import { drawComparing } from "./comparing.js";
import { $, $$ } from "./dom.js";
import { makeDraggable } from "./dragging.js";
import { holdingFocus } from "./focus.js";
import { begin } from "./going.js";
import { closeWhenLeft, listen } from "./keys.js";
import { drawLadder } from "./ladder.js";
import { sayStatus } from "./messages.js";
import { drop, reply } from "./ordering.js";
import { Page } from "./page.js";
import { drawProblem, drawReader } from "./reader.js";
import { drawReview } from "./review.js";
import { restore, told, waitForResuming } from "./syncing.js";

const DRAW = { problem: drawProblem, reader: drawReader, compare: drawComparing, review: drawReview };

/** Draw the page. */
function draw(page) {
  if (!page.view) return;
  holdingFocus(() => {
    drawLadder(page);
    DRAW[page.view](page);
    drawBar(page);
  });
}

function drawBar(page) {
  const { history, canRank, isComparing, search, pair, saver } = page;
  const canUndo = search ? search.asked.length > 0 : canRank && history.canUndo && !pair;
  for (const button of $$("[data-do=undo]")) button.disabled = !canUndo;
  for (const button of $$("[data-do=redo]")) button.disabled = !canRank || isComparing || !history.canRedo;
  $("#decide").hidden = !page.undecided;
  $("#reopen").hidden = !page.canReopen;
  if (saver.status) sayStatus(saver.status);
  document.body.classList.toggle("is-comparing", isComparing);
  document.body.classList.toggle("is-read-only", !canRank);
  document.body.dataset.view = page.view;
}

function start(page) {
  const { data, saver } = page;
  const left = data.closed || data.preview ? null : saver.drafts.takeOver();
  $("#main").replaceChildren();
  begin(page);
  listen(page);
  closeWhenLeft(page);
  makeDraggable(page, (label, aim) => drop(page, label, aim));
  document.addEventListener("click", (event) => press(page, event));
  document.addEventListener("input", ({ target }) => {
    if (target.matches("textarea")) reply(page, target);
  });
  document.addEventListener("change", ({ target }) => {
    if (target.matches("textarea")) saver.pump();
    else if (target.matches("[data-question]")) reply(page, target);
  });
  // Choosing a language returns to this task; a preview has links instead.
  for (const field of $$("#help [name=gid]")) field.value = data.key;
  if (data.paused && !data.preview) waitForResuming();
  document.body.dataset.ready = "yes";
  if (left && data.paused) sayStatus({ word: "offline", text: saver.draftLocation });
  else if (left) restore(page, left);
}

start(new Page(JSON.parse($("#group-data").textContent), draw, told));
