// What the saver tells: how far saving is, and what came from elsewhere.

import { $ } from "./dom.js";
import { askMissing, begin, goOn, show, stopComparing } from "./going.js";
import { announce, ask, sayStatus, tell } from "./messages.js";
import * as model from "./model.js";
import { read } from "./network.js";
import { showReceipt } from "./review.js";
import { listed, t, tn } from "./words.js";

const RESUMES_AFTER = 30_000;

/** The functions that the saver calls. */
export const told = (page) => ({
  status: (word, ...said) => {
    const isNew = sayStatus(word, ...said);
    if (isNew && word === "offline" && page.saver.isSubmitting && page.view === "review") page.draw();
  },
  submitted: (answer) => finish(page, answer),
  submissionWithdrawn: () => page.draw(),
  reopened: () => {
    page.set({ submitted: false });
    show(page, "review");
    announce(t("Ranking reopened."));
  },
  closed: (text) => {
    page.learn({ closed: true });
    stop(page, t("The study is closed"), text, t("Your latest changes on this page were not saved."));
  },
  paused: (text) => {
    page.learn({ paused: true });
    stop(page, t("The study is paused"), text, page.saver.draftLocation);
    waitForResuming();
  },
  unanswered: ({ questions }) => {
    // They came after this page: the ranking stays a draft until they are answered.
    page.learn({ questions });
    page.saver.resume(page.saver, page.state);
    askMissing(page);
  },
  ended: (text) => {
    page.set({ ended: true });
    stop(page, t("This could not be saved"), text, page.saver.draftLocation);
  },
  conflict: (answer) => conflict(page, answer),
  relaid: () => relaid(page),
});

/** Nothing more can be saved here: say why. */
function stop(page, heading, ...text) {
  if (page.isComparing) stopComparing(page);
  else page.draw();
  tell(heading, text.join(" "));
}

/** It is stored as submitted: show the receipt, unless the judge is at something that may change it. */
function finish(page, answer) {
  if (!page.saver.submitted || page.saver.isBehind) return;
  if (document.body.matches(".is-dragging") || $("dialog[open]")) {
    setTimeout(finish, 300, page, answer);
    return;
  }
  page.set({ submitted: true, receipt: answer.receipt ? { code: answer.receipt, at: answer.saved_at } : null });
  show(page, "review");
  showReceipt(page, answer);
  announce(t("Submitted. Thank you."));
}

/** Look now and then whether a paused study goes on; then the page begins again, with what was kept. */
export function waitForResuming() {
  const look = async () => {
    const now = document.hidden ? null : await readAnew();
    if (now && !now.data.paused) location.reload();
  };
  setInterval(look, RESUMES_AFTER);
  document.addEventListener("visibilitychange", look);
}

/** Read the page anew; gives its document and data, or null where it cannot be read now. */
async function readAnew() {
  const answer = await read(location.href);
  const source = answer?.page.getElementById("group-data");
  return source ? { fresh: answer.page, data: JSON.parse(source.textContent) } : null;
}

/** The server has another layout: take it over, and go on with the order of what is still there. */
async function relaid(page) {
  const { saver } = page;
  const now = await readAnew();
  if (!now) {
    saver.postpone(t("Not saved yet"));
    return;
  }
  const { opening } = saver;
  const changed = changes(page.data, now.data);
  page.relay(now.fresh, now.data);
  goOn(page);
  if (now.data.revision === saver.revision) {
    saver.resume(now.data, opening ? null : page.state);
    page.set({ submitted: now.data.submitted });
    if (opening && page.submitted) saver.reopen();
  } else conflict(page, now.data);
  announce(changed);
  tell(t("The solutions have changed"), changed);
}

/** Say in sentences what changed between what two pages carry. */
function changes(then, now) {
  const removed = then.labels.filter((letter) => !now.labels.includes(letter));
  const added = now.labels.filter((letter) => !then.labels.includes(letter));
  const corrected = now.labels.filter(
    (letter) => then.labels.includes(letter) && then.versions[letter] !== now.versions[letter],
  );
  const named = (letters) => [letters.length, { letters: listed(letters) }];
  return [
    removed.length && tn(
      "Solution {letters} is no longer part of this task.",
      "Solutions {letters} are no longer part of this task.",
      ...named(removed),
    ),
    added.length && tn(
      "Solution {letters} is new and not ranked yet.",
      "Solutions {letters} are new and not ranked yet.",
      ...named(added),
    ),
    corrected.length && tn(
      "Solution {letters} was corrected and keeps its place.",
      "Solutions {letters} were corrected and keep their places.",
      ...named(corrected),
    ),
    t("Your order of all other solutions is kept."),
  ].filter(Boolean).join(" ");
}

/** Somebody saved since, in another tab or on another device. */
function conflict(page, answer) {
  const { saver, state } = page;
  if (saver.joins(answer, state, model.same)) {
    page.set({ submitted: saver.submitted });
    goOn(page);
  } else if (!page.canRank) showNewer(page, answer); // this page had nothing of its own
  else {
    decide(page, {
      ...answer,
      title: t("Ranking changed elsewhere"),
      text: t("This ranking was changed in another tab or on another device after you opened this page."),
    });
  }
}

/** Ask which order counts; until that is chosen both stay, and nothing is saved. */
export async function decide(page, newer) {
  page.set({ undecided: newer });
  sayStatus("offline", t("Not saved: choose a version"), page.saver.draftLocation);
  const choice = await ask("conflict", [
    newer.text,
    newer.submitted && t("The newer version is already submitted. If you keep this version, your ranking "
      + "becomes a draft and you must submit it again."),
    t("Nothing is lost: after you load the newer version, Undo restores this one."),
  ].filter(Boolean).join(" "), newer.title);
  if (!choice) return;
  page.set({ undecided: null });
  if (choice === "mine") follow(page, newer, page.state);
  else showNewer(page, newer);
}

function showNewer(page, answer) {
  page.replace(answer.state);
  follow(page, answer);
  announce(t("Newer version loaded."));
}

/** Go on from what the server has: with this order, as a draft, or with the server's. */
function follow(page, answer, order = null) {
  page.set({ submitted: answer.submitted && !order });
  page.saver.resume(answer, order);
  goOn(page);
  page.draw();
}

/** Bring back what an earlier visit could not save. */
export function restore(page, { base, state: draft, sent: onItsWay, layout, contents }) {
  const { data, saver } = page;
  let [state, sent] = [null, null];
  try {
    // Letters of another layout may mean other solutions: what tells them is their content.
    state = page.fitted(draft, contents);
    sent = onItsWay && page.fitted(onItsWay, contents);
  } catch {
    saver.drafts.drop();
    return;
  }
  if (layout !== data.layout) announce(t("The solutions have changed; your order of the others is kept."));
  const { revision, state: stored } = data;
  const whose = saver.takeUp({ base, state, sent }, stored, model.same, page.canRank);
  if (whose === "mine") {
    page.take(state);
    begin(page);
    announce(t("Your unsaved ranking was restored. It is not submitted yet."));
  } else if (whose === "both") {
    page.replace(state);
    decide(page, {
      revision,
      submitted: page.submitted,
      state: stored,
      title: t("Unsaved ranking found"),
      text: t("This browser holds an unsaved ranking, and a newer version has been saved since."),
    });
  }
}
