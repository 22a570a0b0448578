// What is not saved yet is also kept in this browser, so that a reload or a crash loses nothing.
//
// Each tab keeps its own: that one has saved says nothing of what another has not.

export class DraftStorage {
  constructor(data, tab) {
    this.data = data;
    this.group = `webjudge:${data.key}:`;
    this.own = this.group + tab;
    this.works = true;
  }

  /** Keep a state, the revision that it was made from, the state on its way, and what its letters mean. */
  put({ base, state, sent }) {
    const { layout, contents } = this.data;
    this.works = this.store(this.own, JSON.stringify({ base, state, sent, layout, contents }));
  }

  store(key, text) {
    try {
      localStorage.setItem(key, text);
      return true;
    } catch {
      return false; // A full or forbidden storage is no reason to stop ranking; the page says so.
    }
  }

  drop() {
    try {
      localStorage.removeItem(this.own);
    } catch {
      // Where storage is forbidden there is nothing to remove.
    }
  }

  /** Take over what an earlier visit left unsaved here, or null: {base, state, sent, layout, contents}. */
  takeOver() {
    try {
      const key = Object.keys(localStorage).find((name) => name.startsWith(this.group));
      if (!key) return null;
      const text = localStorage.getItem(key);
      if (this.store(this.own, text)) localStorage.removeItem(key);
      else this.own = key; // no room for a copy: go on under its name
      return JSON.parse(text);
    } catch {
      return null;
    }
  }
}
