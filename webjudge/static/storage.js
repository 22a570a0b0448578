// What this browser keeps. It may be full or forbidden: pages work without.

/** What is kept under a key, or null. */
export function kept(key, storage = "localStorage") {
  try {
    return globalThis[storage].getItem(key);
  } catch {
    return null;
  }
}

/** Keep a text, or with null forget what was kept; gives whether that worked. */
export function keep(key, text, storage = "localStorage") {
  try {
    if (text === null) globalThis[storage].removeItem(key);
    else globalThis[storage].setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

/**
 * What is not saved yet, so that a reload or a crash loses nothing.
 *
 * Each tab keeps its own: that one has saved says nothing of what another has not.
 */
export class Drafts {
  constructor({ key, layout, contents, versions }, tab) {
    this.layout = { layout, contents, versions }; // what the letters of a state mean
    this.task = `webjudge:${key}:`;
    this.own = this.task + tab;
    this.works = true; // where it does not, the page says so
  }

  /** Keep a state, the revision that it was made from, and the state on its way. */
  put(draft) {
    this.works = keep(this.own, JSON.stringify({ ...draft, ...this.layout }));
  }

  drop() {
    keep(this.own, null);
  }

  /** Take over what an earlier visit left unsaved here, or null: {base, state, sent, layout, contents, versions}. */
  takeOver() {
    try {
      const key = Object.keys(localStorage).find((name) => name.startsWith(this.task));
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
