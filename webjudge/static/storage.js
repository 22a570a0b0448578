// Local storage. Pages also work if it is full or disabled.

/** The value of a key, or null. */
export function kept(key, storage = "localStorage") {
  try {
    return globalThis[storage].getItem(key);
  } catch {
    return null;
  }
}

/** Store a text, or remove it with null; returns success. */
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
 * Unsaved changes, which survive a reload or crash.
 *
 * Each tab has a separate entry, since tabs save independently.
 */
export class Drafts {
  constructor({ key, layout, contents, versions }, tab) {
    this.layout = { layout, contents, versions }; // meaning of a state's letters
    this.task = `webjudge:${key}:`;
    this.own = this.task + tab;
    this.works = true; // if false, the page shows a notice
  }

  /** Store a state, its base revision, and the state in flight. */
  put(draft) {
    this.works = keep(this.own, JSON.stringify({ ...draft, ...this.layout }));
  }

  drop() {
    keep(this.own, null);
  }

  /** Claim an earlier visit's unsaved entry: {base, state, sent, layout, contents, versions}, or null. */
  takeOver() {
    try {
      const key = Object.keys(localStorage).find((name) => name.startsWith(this.task));
      if (!key) return null;
      const text = kept(key);
      if (keep(this.own, text)) keep(key, null);
      else this.own = key; // no room for a copy: reuse its key
      return JSON.parse(text);
    } catch {
      return null;
    }
  }
}
