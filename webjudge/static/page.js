// State of a task's page; `set` changes and draws it.

import { Clock } from "./clock.js";
import { History } from "./history.js";
import * as model from "./model.js";
import * as placing from "./placing.js";
import { Saver } from "./saving.js";
import { Solutions } from "./solutions.js";

export class Page {
  /** From the page's data, the draw function, and the saver's callback. */
  constructor(data, draw, told) {
    this.data = data;
    this.draw = () => draw(this);
    this.history = new History(model.check(data.state, data.labels));
    this.clock = new Clock(data.urls.time);
    this.solutions = new Solutions(data, this.draw);
    this.saver = new Saver(data, this.clock, (word, answer) => told(this, word, answer));
    this.submitted = data.submitted;
    this.receipt = data.receipt;
    this.undecided = null; // a newer order from elsewhere that awaits the judge's decision
    this.view = "";
    this.current = null; // the open solution
    this.row = null; // the solution with the ladder's tab stop; else the open one
    this.placed = null; // the solution just placed
    this.search = null; // the binary search of the open solution
    this.pair = null; // two ranked solutions in comparison
    this.askedAt = 0;
    this.shown = null; // the pane that a phone shows
    this.together = null; // the judge's choice whether panes scroll together
    this.isQueryOpen = true; // above each candidate, where judges grade
    this.isSheetOpen = false; // the ladder on a phone
    this.places = new Map(); // scroll position per solution
    this.opened = new Set(data.labels.filter((label) => data.views[label] > 0));
  }

  set(changes) {
    Object.assign(this, changes);
    this.draw();
  }

  get state() {
    return this.history.state;
  }

  /** Whether judges grade instead of ranking. */
  get isGrading() {
    return this.data.grades.length > 0;
  }

  get isOpen() {
    return !(this.data.closed || this.data.paused || this.saver.ended);
  }

  get canRank() {
    return this.isOpen && !this.submitted;
  }

  get canReopen() {
    return this.isOpen && this.submitted;
  }

  get isComparing() {
    return Boolean(this.search || this.pair);
  }

  /** Whether nothing has a place yet. */
  get isUntouched() {
    return !this.state.ranked.length && !Object.keys(this.state.cannot).length;
  }

  /** The solution that is likely to be read next. */
  get upcoming() {
    const { tray } = this.state;
    return tray[tray.indexOf(this.current) + 1] ?? tray[0];
  }

  /** The current question: {label, other, side, isNew, tied, asked, most}. */
  get question() {
    const { search, pair, data } = this;
    if (pair) return { ...pair, side: data.chance[pair.label].side, isNew: false, tied: [], asked: 0, most: 1 };
    const [other, ...tied] = search.groups[placing.pivot(search)];
    const { side } = data.chance[this.current];
    const most = placing.mostQuestions(search);
    return { label: this.current, other, side, isNew: true, tied, asked: search.asked.length, most };
  }

  isRanked(label) {
    return model.whereabouts(this.state, label).area === "ranked";
  }

  /** Record opened and visible solutions, and load their texts. */
  see(labels, inView = labels) {
    for (const label of labels) {
      this.opened.add(label);
      this.solutions.load(label);
    }
    this.clock.show(inView);
  }

  /** Apply and save a new state; returns whether it differs. */
  take(state, { kind = "", step = {}, soon = false, placed = null } = {}) {
    if (!this.canRank || model.same(state, this.state)) return false;
    this.history.push(model.check(state, this.data.labels), kind, step);
    this.placed = placed;
    this.saver.save(state, { soon });
    return true;
  }

  /** Adopt a state from the server or an earlier visit. */
  replace(state) {
    this.history.push(state);
  }

  /** Undo or redo; returns the step, or null. */
  move(way) {
    const done = this.canRank && this.history[way]();
    if (!done) return null;
    this.placed = null;
    this.saver.save(this.state);
    return done;
  }

  /** Update the task's status from the server. */
  learn(more) {
    Object.assign(this.data, more);
    this.draw();
  }

  /** Translate a state of another layout to this one, matching by content. */
  fitted(state, from) {
    const { contents, blank, labels } = this.data;
    return model.check(model.fit(state, from, contents, blank), labels);
  }
}
