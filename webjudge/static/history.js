// Undo and redo.

const MOST = 200;

export class History {
  constructor(state) {
    this.state = state;
    this.past = [];
    this.future = [];
  }

  /** Take a new state, and what was done; one of the same kind (such as typing on) replaces the last. */
  push(state, kind = "", step = {}) {
    if (!(kind && kind === this.kind)) {
      this.past.push({ state: this.state, step });
      if (this.past.length > MOST) this.past.shift();
    }
    this.kind = kind;
    this.state = state;
    this.future = [];
  }

  /** Change all states alike; what was done to them is no longer known. */
  map(change) {
    const changed = ({ state }) => ({ state: change(state), step: {} });
    this.past = this.past.map(changed);
    this.future = this.future.map(changed);
    this.state = change(this.state);
  }

  /** Go back by one; gives what was done, or null where there is nothing to undo. */
  undo() {
    return this.move(this.past, this.future);
  }

  redo() {
    return this.move(this.future, this.past);
  }

  move(from, to) {
    const last = from.pop();
    if (!last) return null;
    to.push({ state: this.state, step: last.step });
    this.state = last.state;
    this.kind = "";
    return last.step;
  }

  get canUndo() {
    return this.past.length > 0;
  }

  get canRedo() {
    return this.future.length > 0;
  }
}
