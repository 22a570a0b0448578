// Placing by comparison: binary insertion with three answers.
//
// A search has bounds lo and hi in the list of ranked tie groups, best first; each answer
// narrows them. It ends with a place of its own, {at}, or a group to join, {tie}.

/** Start a search; `lower` chooses the better of two middle groups. */
export const begin = (groups, lower) => ({ groups, lower, lo: 0, hi: groups.length, asked: [], end: null });

/** The group to compare with: the middle one, or a random one of two. */
export function pivot({ lo, hi, lower }) {
  const isEven = (hi - lo) % 2 === 0;
  return Math.floor((lo + hi) / 2) - Number(isEven && lower);
}

/** Upper bound of the remaining questions. */
export const mostQuestions = ({ lo, hi, end }) => (end ? 0 : Math.ceil(Math.log2(hi - lo + 1)));

/** Apply the answer "better", "equal", or "worse", with further details to store. */
export function answer(search, verdict, more = {}) {
  const at = pivot(search);
  const { lo, hi } = search;
  const asked = [...search.asked, { lo, hi, other: search.groups[at][0], verdict, ...more }];
  if (verdict === "equal") return { ...search, asked, end: { tie: at } };
  const [low, high] = verdict === "better" ? [lo, at] : [at + 1, hi];
  return { ...search, lo: low, hi: high, asked, end: low === high ? { at: low } : null };
}

/** Take the last answer back. */
export function back(search) {
  const last = search.asked.at(-1);
  return last ? { ...search, lo: last.lo, hi: last.hi, asked: search.asked.slice(0, -1), end: null } : search;
}
