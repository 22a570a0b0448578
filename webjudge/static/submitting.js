// Submitting: the review, what is asked before, and opening again after.

import { $ } from "./dom.js";
import { askMissing, open, show } from "./going.js";
import { isGrading } from "./grading.js";
import { announce, ask, hideToast, toast } from "./messages.js";
import { whatNext } from "./ordering.js";
import { unanswered } from "./questions.js";
import { isThisIt, orderText } from "./review.js";
import { decide } from "./syncing.js";
import { number, t, tn } from "./words.js";

/** Go to what is left to do, or to the review; from there, submit. */
export function submit(page) {
  const { tray } = page.state;
  if (page.undecided) decide(page, page.undecided);
  else if (tray.length) goToWaiting(page, tray);
  else if (page.view !== "review") show(page, "review");
  else send(page, { asks: true });
}

function goToWaiting(page, { length: n, 0: label }) {
  open(page, label);
  if (isGrading(page)) {
    const said = tn("1 candidate left to grade", "{n} candidates left to grade", n);
    toast(said);
    announce(`${said}. ${whatNext(page)}`);
  } else {
    toast(tn("1 solution is not ranked yet", "{n} solutions are not ranked yet", n));
    announce(t("{n} still to rank. Opening solution {label}.", { n: number(n), label }));
  }
}

/** Submit; ask first where all are tied, and where the button is the one that led to the review. */
export async function send(page, { asks = false } = {}) {
  const { state } = page;
  if (page.undecided || state.tray.length) {
    submit(page);
    return;
  }
  if (unanswered(page).length) {
    askMissing(page);
    return;
  }
  const [group, ...others] = state.ranked;
  const areTied = group?.length > 2 && !others.length && !isGrading(page);
  const question = areTied
    ? [t("You tied all {n} solutions. Is that right?", { n: number(group.length) }), t("All solutions are tied")]
    : [orderText(page), isThisIt(page)];
  if ((areTied || asks) && await ask("submitting", ...question) !== "yes") return;
  hideToast();
  page.saver.save(page.state, { submit: true });
  page.draw();
}

export function reopen(page) {
  $("#receipt").close();
  if (page.undecided) decide(page, page.undecided);
  else page.saver.reopen();
}
