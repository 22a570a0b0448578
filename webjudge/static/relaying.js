// Another layout: the page as it is, with the cards of the solutions that are there now.

import { wrapImages } from "./comparing.js";

/** Read the page anew; gives its document and data, or null where it cannot be read now. */
export async function readAnew() {
  try {
    const response = await fetch(location.href, { signal: AbortSignal.timeout(20_000) });
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    const data = JSON.parse(fresh.getElementById("group-data").textContent);
    return { fresh, data };
  } catch {
    return null;
  }
}

/**
 * Let the page have the cards of a newer one: those that are the same stay as they are.
 *
 * @param {Document} fresh the newer page
 * @param {object} then what the page carried
 * @param {object} now what the newer page carries
 * @returns {{removed: string[], added: string[], corrected: string[]}} letters
 */
export function takeCards(fresh, then, now) {
  const changes = {
    removed: then.labels.filter((letter) => !now.labels.includes(letter)),
    added: now.labels.filter((letter) => !then.labels.includes(letter)),
    corrected: now.labels.filter(
      (letter) => then.labels.includes(letter) && then.versions[letter] !== now.versions[letter],
    ),
  };
  for (const letter of changes.removed) card(document, letter).remove();
  for (const letter of changes.added) {
    const added = document.importNode(card(fresh, letter), true);
    document.getElementById("tray").append(added);
    wrapImages(added);
  }
  for (const letter of changes.corrected) {
    const body = document.importNode(card(fresh, letter).querySelector(".card-body"), true);
    card(document, letter).querySelector(".card-body").replaceWith(body);
    wrapImages(card(document, letter));
  }
  for (const choice of document.querySelectorAll("#comparison select")) {
    choice.replaceChildren(...[...fresh.getElementById(choice.id).children].map(
      (option) => document.importNode(option, true),
    ));
  }
  return changes;
}

/** Say what changed, in sentences. */
export function inWords({ removed, added, corrected }) {
  const one = (letters, single, several) => (letters.length === 0 ? ""
    : `Solution${letters.length === 1 ? "" : "s"} ${letters.join(", ")} ${letters.length === 1 ? single : several}.`);
  return [
    one(removed, "is no longer part of this task", "are no longer part of this task"),
    one(added, "is new and not ranked yet", "are new and not ranked yet"),
    one(corrected, "was corrected and keeps its place", "were corrected and keep their places"),
    "Your order of all other solutions is kept.",
  ].filter(Boolean).join(" ");
}

const card = (page, letter) => page.getElementById(`card-${letter}`);
