// Placing by comparison: binary insertion with three answers.
//
// A search holds lo and hi, over the tie groups that are ranked already, best first; each answer
// narrows them. It ends with a place of its own, {at}, or a group to join, {tie}.

/** Begin among tie groups without the new solution; `lower` asks about the better of two middle ones. */
export const begin = (groups, lower) => ({ groups, lower, lo: 0, hi: groups.length, asked: [], end: null });

/** The group that is asked about: the middle one, or one of both by chance. */
export function pivot({ lo, hi, lower }) {
  const isEven = (hi - lo) % 2 === 0;
  return Math.floor((lo + hi) / 2) - Number(isEven && lower);
}

/** The most questions that can still come. */
export const mostQuestions = ({ lo, hi, end }) => (end ? 0 : Math.ceil(Math.log2(hi - lo + 1)));

/** Take whether the new solution is "better", "equal", or "worse", and what else is kept of the answer. */
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
