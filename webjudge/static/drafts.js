// What is not saved yet is also kept in this browser, so that a reload or a crash loses nothing.
//
// Each tab keeps its own: that one has saved says nothing of what another has not.

import { keep, kept } from "./storage.js";

export class DraftStorage {
  constructor(data, tab) {
    this.data = data;
    this.group = `webjudge:${data.key}:`;
    this.own = this.group + tab;
    this.works = true; // where it does not, the page says so
  }

  /** Keep a state, the revision that it was made from, the state on its way, and what its letters mean. */
  put({ base, state, sent }) {
    const { layout, contents } = this.data;
    this.works = keep(this.own, JSON.stringify({ base, state, sent, layout, contents }));
  }

  drop() {
    keep(this.own, null);
  }

  /** Take over what an earlier visit left unsaved here, or null: {base, state, sent, layout, contents}. */
  takeOver() {
    try {
      const key = Object.keys(localStorage).find((name) => name.startsWith(this.group));
      if (!key) return null;
      const text = kept(key);
      if (keep(this.own, text)) keep(key, null);
      else this.own = key; // no room for a copy: go on under its name
      return JSON.parse(text);
    } catch {
      return null;
    }
  }
}
