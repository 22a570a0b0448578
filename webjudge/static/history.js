// Undo and redo.

const MOST = 200;

export class History {
  constructor(state) {
    this.entries = [{ state, step: {} }]; // each with the step that led to it
    this.at = 0;
    this.kind = "";
  }

  get state() {
    return this.entries[this.at].state;
  }

  get canUndo() {
    return this.at > 0;
  }

  get canRedo() {
    return this.at < this.entries.length - 1;
  }

  /** Add a state and its step; a step of the same kind, such as more typing, replaces the last. */
  push(state, kind = "", step = {}) {
    const isMore = kind !== "" && kind === this.kind;
    const before = this.entries.slice(0, isMore ? this.at : this.at + 1);
    this.entries = [...before.slice(-MOST), { state, step }];
    this.at = this.entries.length - 1;
    this.kind = kind;
  }

  /** Undo a step; returns it, or null if there is none. */
  undo() {
    return this.canUndo ? this.move(this.at, this.at - 1) : null;
  }

  redo() {
    return this.canRedo ? this.move(this.at + 1, this.at + 1) : null;
  }

  move(done, at) {
    this.at = at;
    this.kind = "";
    return this.entries[done].step;
  }
}
