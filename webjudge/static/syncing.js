// The saver's events, and changes from other tabs, devices, or earlier visits.

import { $ } from "./dom.js";
import { begin, goOn, show, stopComparing } from "./going.js";
import { announce, ask, tell } from "./messages.js";
import * as model from "./model.js";
import { read } from "./network.js";
import { showReceipt } from "./review.js";
import { listed, t, tn } from "./words.js";

const RESUMES_AFTER = 10_000;

const TOLD = {
  changed: (page) => page.draw(),
  submitted: finish,
  reopened(page) {
    page.set({ submitted: false });
    show(page, "review");
    announce(t("Ranking reopened."));
  },
  closed(page, { message }) {
    page.learn({ closed: true });
    stop(page, t("The study is closed"), message, t("Your latest changes on this page were not saved."));
  },
  paused(page, { message }) {
    page.learn({ paused: true });
    const again = t("This page continues automatically when the study is resumed.");
    stop(page, t("The study is paused"), message, page.saver.draftLocation, again);
    waitForResuming();
  },
  ended: (page, { message }) => stop(page, t("This could not be saved"), message, page.saver.draftLocation),
  stale: conflict,
};

/** Handlers of the saver's events. */
export const told = (page, word, answer) => TOLD[word](page, answer);

/** Explain why this page can no longer save. */
function stop(page, heading, ...text) {
  if (page.isComparing) stopComparing(page);
  tell(heading, text.join(" "));
}

/** Show the receipt of a submission, unless the judge is editing. */
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

/** Poll a paused study; reload with the stored changes when it resumes. */
export function waitForResuming() {
  const look = async () => {
    const answer = document.hidden ? null : await read(location.href);
    const source = answer && $("#group-data", answer.page);
    if (source && !JSON.parse(source.textContent).paused) location.reload();
  };
  setInterval(look, RESUMES_AFTER);
  document.addEventListener("visibilitychange", look);
}

/** Handle a newer save from another tab or device. */
function conflict(page, answer) {
  if (page.saver.joins(answer, page.state, model.same)) {
    page.set({ submitted: page.saver.submitted });
    goOn(page);
  } else if (!page.canRank) follow(page, answer, false); // this page has no changes
  else {
    decide(page, {
      ...answer,
      title: t("Ranking changed elsewhere"),
      text: t("This ranking was changed in another tab or on another device after you opened this page."),
    });
  }
}

/** Ask which order counts; until then both stay, and nothing is saved. */
export async function decide(page, newer) {
  page.set({ undecided: newer });
  const choice = await ask("conflict", [
    newer.text,
    newer.submitted && t("The newer version is already submitted. If you keep this version, your ranking "
      + "becomes a draft and you must submit it again."),
    t("Nothing is lost: after you load the newer version, Undo restores this one."),
  ].filter(Boolean).join(" "), newer.title);
  if (!choice) return;
  page.set({ undecided: null });
  follow(page, newer, choice === "mine");
}

/** Continue from the server's revision: with this page's order as a draft, or with the server's. */
function follow(page, newer, isMine) {
  if (!isMine) page.replace(newer.state);
  page.set({ submitted: newer.submitted && !isMine });
  page.saver.resume(newer, isMine ? page.state : null);
  goOn(page);
  if (!isMine) announce(t("Newer version loaded."));
}

/** Restore an earlier visit's unsaved state, possibly from another layout. */
export function restore(page, left) {
  const { data, saver } = page;
  let [state, sent] = [null, null];
  try {
    state = page.fitted(left.state, left.contents);
    sent = left.sent && page.fitted(left.sent, left.contents);
  } catch {
    saver.drafts.drop();
    return;
  }
  const whose = saver.takeUp({ base: left.base, state, sent }, data.state, model.same, page.canRank);
  if (whose === "mine") {
    page.take(state);
    begin(page);
    announce(t("Your unsaved ranking was restored. It is not submitted yet."));
  } else if (whose === "both") {
    page.replace(state);
    decide(page, {
      revision: data.revision,
      submitted: page.submitted,
      state: data.state,
      title: t("Unsaved ranking found"),
      text: t("This browser holds an unsaved ranking, and a newer version has been saved since."),
    });
  }
  if (left.layout !== data.layout) tell(t("The solutions have changed"), changes(left.versions, data.versions));
}

/** Describe the changed solutions between two layouts, by letter. */
function changes(then, now) {
  const removed = Object.keys(then).filter((letter) => !(letter in now));
  const added = Object.keys(now).filter((letter) => !(letter in then));
  const corrected = Object.keys(now).filter((letter) => letter in then && then[letter] !== now[letter]);
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
