// The solutions of a task: what is said of each, and its text, which comes with the page or later.

import { $, $$, h } from "./dom.js";
import { setFormulas } from "./formulas.js";
import { number, roughly, t, tn } from "./words.js";

const WORDS_A_MINUTE = 230;
const LONGEST_WAIT = 20_000;

export class Solutions {
  constructor(data) {
    this.data = data;
    this.texts = new Map(); // DocumentFragment or Promise, by version
    this.take(document);
  }

  /** Take the texts over that a page brings. */
  take(page) {
    for (const template of $$("template[data-solution]", page)) {
      const text = document.importNode(template.content, true);
      this.texts.set(template.dataset.version, text);
    }
  }

  about(label) {
    return this.data.solutions[label];
  }

  /** The text, if it is here. */
  ready(label) {
    const text = this.texts.get(this.data.versions[label]);
    return text instanceof Promise ? null : text ?? null;
  }

  /** Get a text; another attempt is made after one that failed. */
  async load(label) {
    const version = this.data.versions[label];
    const known = this.texts.get(version);
    if (known) return known;
    const loading = this.fetch(version).then(
      (text) => { this.texts.set(version, text); },
      (error) => {
        this.texts.delete(version);
        throw error;
      },
    );
    this.texts.set(version, loading);
    return loading;
  }

  async fetch(version) {
    const url = this.data.urls.solution.replace("VERSION", version);
    const response = await fetch(url, { signal: AbortSignal.timeout(LONGEST_WAIT) });
    if (!response.ok) throw new Error(`the solution is not there: ${response.status}`);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    return document.importNode($("template", page).content, true);
  }

  /** A text as it is read, or null; ids begin with a prefix, as two copies may be on the page. */
  prose(label, prefix = "") {
    const text = this.ready(label);
    if (!text) return null;
    const prose = h(`div.prose.is-${this.about(label).shape}`, { dir: "auto" });
    prose.append(text.cloneNode(true));
    return finish(prose, `${prefix}${label}`);
  }

  /** How large a solution is, in words: "8,056 words, 2 pictures". */
  size(label) {
    const { words, lines, pages, pictures } = this.about(label);
    return [
      words && tn("1 word", "{n} words", words),
      lines && tn("1 line of code", "{n} lines of code", lines),
      pages && tn("1 page", "{n} pages", pages),
      pictures && tn("1 picture", "{n} pictures", pictures),
    ].filter(Boolean).join(", ");
  }

  /** The same, in a few letters. */
  shortSize(label) {
    const { words, lines, pages, pictures } = this.about(label);
    if (pages) return tn("1 page", "{n} pages", pages);
    if (lines) return tn("1 line", "{n} lines", lines);
    if (pictures && words < 100) return tn("1 picture", "{n} pictures", pictures);
    return words < 1000
      ? tn("1 word", "{n} words", words)
      : t("{n} words", { n: roughly(words) });
  }

  /** How long reading it may take; empty where that is a moment. */
  reading(label) {
    const minutes = Math.round(this.about(label).words / WORDS_A_MINUTE);
    return minutes > 2 ? t("about {n} min", { n: number(minutes) }) : "";
  }
}

/** Give a text what it needs on a page: targets for its contents, names of regions, enlarging. */
export function finish(prose, prefix) {
  headings(prose).forEach((heading, n) => { heading.id = `${prefix}-${n + 1}`; });
  for (const code of $$("pre.code", prose)) {
    const lines = code.querySelectorAll(".line").length;
    code.setAttribute("role", "region");
    code.setAttribute("aria-label", tn("Code, 1 line", "Code, {n} lines", lines));
  }
  for (const table of $$(".table-scroll", prose)) {
    table.setAttribute("role", "region");
    table.setAttribute("aria-label", t("Table"));
  }
  for (const image of $$("img", prose)) {
    const alt = image.alt || t("image");
    const zoom = h("button.zoom", { type: "button", "aria-label": t("Enlarge: {alt}", { alt }) });
    image.replaceWith(zoom);
    zoom.append(image);
  }
  // Once the text is on the page: a formula may then be wider than it.
  queueMicrotask(() => setFormulas(prose));
  return prose;
}

export const headings = (prose) => $$("h3, h4, h5, h6", prose).filter((one) => one.textContent.trim());
