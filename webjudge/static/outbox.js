// Sends what earlier visits could not, of all tasks: also of those that nobody opens again.

import { leave, replace, unsent } from "./keeping.js";
import { same } from "./model.js";
import { reopening, transmit } from "./saving.js";

/** What is sent next of what is kept: exactly what may have been sent before comes first. */
function nextOf({ sending, submitted, base, layout, as, state, submit, seconds, views }) {
  if (sending) return sending;
  if (submitted) return { ...reopening(as), base, layout };
  return { ...as, base, layout, state, submit, seconds, views };
}

/**
 * Send one state that is kept.
 *
 * @returns {Promise<["sent" | "later" | "open" | "refused", string?]>} what became of it: "open"
 *   where the judge has to decide on the page of the task, "refused" with the server's reason
 */
async function deliver(row) {
  let kept = row;
  for (;;) {
    const change = nextOf(kept);
    const sent = await transmit(kept.urls, change);
    if (!sent || sent.status >= 500 || sent.status === 429) return ["later"];
    const { status, answer, isOver } = sent;
    const { task, layout, contents, state, submit } = kept;
    if (status === 401) {
      await leave({ all: isOver });
      return ["later"];
    }
    if (status === 404) {
      await replace(kept, {}); // the task is not this judge's any more
      return ["sent"];
    }
    const isThere = answer.error === "stale" && same(answer.state, state) && answer.submitted === submit;
    const isLast = change.client === kept.as.client && change.change === kept.as.change;
    if (isThere || (status === 200 && isLast)) {
      const { revision, submitted, receipt: code, saved_at: at } = answer;
      const receipt = code ? { code, at } : null;
      await replace(kept, { saved: { task, layout, contents, state, revision, submitted, receipt } });
      return ["sent"];
    }
    // Another layout, or another order: its page has the words.
    if (["layout", "stale", "submitted"].includes(answer.error)) return ["open"];
    // The study is closed or paused, or the task is not part of it now.
    if (status !== 200) return ["refused", answer.message];
    const next = { ...kept, sending: null, base: answer.revision, submitted: answer.submitted };
    await replace(kept, { next });
    kept = next;
  }
}

/**
 * Send what is kept and in no open page's hands.
 *
 * @param {string | null} except the task whose page does that by itself
 * @returns {Promise<{sent: object[], later: object[], open: object[], refused: object[]}>} what is
 *   kept, by what became of it
 */
export function deliverAll(except = null) {
  const done = { sent: [], later: [], open: [], refused: [] };
  return navigator.locks.request("quem-outbox", { ifAvailable: true }, async (lock) => {
    for (const row of await unsent()) {
      if (row.task === except) continue;
      // Where one was not answered there is no need to wait for the others.
      const [how, reason] = lock && !done.later.length ? await deliver(row) : ["later"];
      done[how].push({ ...row, reason });
    }
    return done;
  });
}
