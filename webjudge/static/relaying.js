// Another layout: what is different on the page as it is now.

import { listed, t, tn } from "./words.js";

const LONGEST_WAIT = 20_000;

/** Read the page anew; gives its document and data, or null where it cannot be read now. */
export async function readAnew() {
  try {
    const response = await fetch(location.href, { signal: AbortSignal.timeout(LONGEST_WAIT) });
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    const data = JSON.parse(fresh.getElementById("group-data").textContent);
    return { fresh, data };
  } catch {
    return null;
  }
}

/** Say in sentences what changed between what two pages carry. */
export function changes(then, now) {
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
