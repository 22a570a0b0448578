// What the page of a task knows and shows: one state, which `set` changes and draws.

import { Clock } from "./clock.js";
import { History } from "./history.js";
import * as model from "./model.js";
import * as placing from "./placing.js";
import { Saver } from "./saving.js";
import { Solutions } from "./solutions.js";

export class Page {
  /** Of what the page carries, what draws it, and what the saver tells. */
  constructor(data, draw, told) {
    this.data = data;
    this.draw = () => draw(this);
    this.history = new History(model.check(data.state, data.labels));
    this.clock = new Clock(data.urls.time);
    this.solutions = new Solutions(data, this.draw);
    this.saver = new Saver(data, this.clock, (word, answer) => told(this, word, answer));
    this.submitted = data.submitted;
    this.receipt = data.receipt;
    this.undecided = null; // a newer order elsewhere, about which the judge has not decided
    this.view = "";
    this.current = null; // the solution in hand
    this.row = null; // the solution whose row of the ladder the Tab key reaches; else the one in hand
    this.placed = null; // the solution that was placed just now
    this.search = null; // where the one in hand may be placed, while it is compared
    this.pair = null; // two ranked solutions that are compared
    this.askedAt = 0;
    this.shown = null; // the pane that a phone shows
    this.together = null; // whether panes scroll together, where the judge has said so
    this.isQueryOpen = true; // above each candidate, where judges grade
    this.isSheetOpen = false; // the ladder on a phone
    this.places = new Map(); // how far each solution is scrolled
    this.opened = new Set(data.labels.filter((label) => data.views[label] > 0));
  }

  set(changes) {
    Object.assign(this, changes);
    this.draw();
  }

  get state() {
    return this.history.state;
  }

  /** Whether judges grade here, and do not rank. */
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

  /** What is asked: {label, other, side, isNew, tied, asked, most}. */
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

  /** Note that solutions are opened, which ones are in view, and get their texts. */
  see(labels, inView = labels) {
    for (const label of labels) {
      this.opened.add(label);
      this.solutions.load(label);
    }
    this.clock.show(inView);
  }

  /** Take a new state and save it; gives whether it is one. */
  take(state, { kind = "", step = {}, soon = false, placed = null } = {}) {
    if (!this.canRank || model.same(state, this.state)) return false;
    this.history.push(model.check(state, this.data.labels), kind, step);
    this.placed = placed;
    this.saver.save(state, { soon });
    return true;
  }

  /** Take a state that is stored elsewhere, or was left. */
  replace(state) {
    this.history.push(state);
  }

  /** Undo or redo; gives what was done, or null. */
  move(way) {
    const done = this.canRank && this.history[way]();
    if (!done) return null;
    this.placed = null;
    this.saver.save(this.state);
    return done;
  }

  /** Learn what the server says of the task. */
  learn(more) {
    Object.assign(this.data, more);
    this.draw();
  }

  /** A state of another layout under the letters of this one, by the content of each. */
  fitted(state, from) {
    const { contents, blank, labels } = this.data;
    return model.check(model.fit(state, from, contents, blank), labels);
  }
}
