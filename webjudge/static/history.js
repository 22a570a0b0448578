// Undo and redo.

const MOST = 200;

export class History {
  constructor(state) {
    this.state = state;
    this.past = [];
    this.future = [];
  }

  /** Take a new state; one of the same kind (such as typing on) replaces the last. */
  push(state, kind = "") {
    if (!(kind && kind === this.kind)) {
      this.past.push(this.state);
      if (this.past.length > MOST) this.past.shift();
    }
    this.kind = kind;
    this.state = state;
    this.future = [];
  }

  /** Change all states alike. */
  map(change) {
    this.past = this.past.map(change);
    this.future = this.future.map(change);
    this.state = change(this.state);
  }

  undo() {
    return this.move(this.past, this.future);
  }

  redo() {
    return this.move(this.future, this.past);
  }

  move(from, to) {
    if (!from.length) return false;
    to.push(this.state);
    this.state = from.pop();
    this.kind = "";
    return true;
  }

  get canUndo() {
    return this.past.length > 0;
  }

  get canRedo() {
    return this.future.length > 0;
  }
}
