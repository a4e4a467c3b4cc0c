// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The table of the hottest functions: self is what ends in one, total what passes through it. Functions of one name in several
// files have a row each, with the file, as `stackmap report -s dso,symbol` has.

const ROWS_MAX = 200;

class FunctionTable extends EventTarget {
  constructor(elements, profile) {
    super();
    Object.assign(this, elements); // body, more, of, changeHead, heads: {self, total, change}
    this.profile = profile;
    this.labels = profile.labels;
    this.order = 'self';
    this.changeHead.hidden = !profile.isDiff;
    for (const [order, button] of Object.entries(this.heads))
      button.addEventListener('click', () => this.sortBy(order));
    this.body.addEventListener('click', event => {
      const row = event.target.closest('tr');
      const type = event.target.closest('button') ? 'sandwich' : 'choose';
      if (row)
        this.dispatchEvent(new CustomEvent(type, {detail: Number(row.dataset.frame)}));
    });
  }

  nextOrder() {
    const orders = Object.keys(this.heads);
    this.sortBy(orders[(orders.indexOf(this.order) + 1) % orders.length]);
  }

  sortBy(order) {
    this.order = order;
    this.fill();
  }

  // sums: {self, total} by frame, whole: of everything, change: by frame in parts of the whole, or null; sides: before and
  // after, each {functions: sums, whole}; scales: of both, for changeText(). part: what the sums are of, '' of everything.
  show(content) {
    Object.assign(this, content);
    this.of.textContent = content.part;
    this.of.hidden = !content.part;
    this.fill();
  }

  key(frame) {
    if (this.order === 'change')
      return Math.abs(this.change[frame]);
    return this.sums[this.order][frame];
  }

  shown() {
    const frames = [];
    for (let frame = 0; frame < this.profile.frameCount; frame++) {
      const isThere = this.sums.total[frame] > 0 || this.change?.[frame];
      if (isThere && this.profile.isFunction(frame) && (!this.matches || this.matches[frame]))
        frames.push(frame);
    }
    return frames;
  }

  compare(a, b) {
    return this.key(b) - this.key(a) || this.sums.total[b] - this.sums.total[a] || a - b;
  }

  // By insertion into a short list: hardly any of a hundred thousand functions gets into it.
  hottest(frames) {
    const hottest = [];
    for (const frame of frames) {
      let at = hottest.length;
      if (at === ROWS_MAX && this.compare(frame, hottest[at - 1]) > 0)
        continue;
      while (at > 0 && this.compare(frame, hottest[at - 1]) < 0)
        at--;
      hottest.splice(at, 0, frame);
      hottest.length = Math.min(hottest.length, ROWS_MAX);
    }
    return hottest;
  }

  cell(text, exact) {
    const cell = document.createElement('td');
    cell.textContent = text;
    if (exact)
      cell.title = exact;
    return cell;
  }

  weightCell(number) {
    const cell = this.cell(percentText(number, this.whole), exactText(number, this.unit));
    cell.dataset.weight = number;
    return cell;
  }

  // What the column says is of the share, with callees.
  changeOf(frame) {
    const [before, after] = this.sides.map(({functions, whole}) => ({weight: functions.total[frame], whole}));
    return `with callees\nbefore: ${exactText(before.weight, this.unit)}, ${percentText(before.weight, before.whole)}\n` +
      `after: ${exactText(after.weight, this.unit)}, ${percentText(after.weight, after.whole)}\n` +
      changeText(before, after, this.unit, this.scales);
  }

  row(frame) {
    const row = document.createElement('tr');
    const name = this.profile.names[frame];
    row.dataset.frame = frame;
    row.append(this.weightCell(this.sums.self[frame]), this.weightCell(this.sums.total[frame]));
    if (this.change)
      row.append(this.cell(pointsText(0, this.change[frame]), this.changeOf(frame)));
    const cell = this.cell(this.labels[frame], [name, this.profile.object(frame), ...lineTexts(this.profile, frame)].filter(Boolean).join('\n'));
    cell.prepend(this.sandwichButton(this.labels[frame]));
    row.append(cell);
    return row;
  }

  sandwichButton(label) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'sandwich';
    button.title = 'sandwich: callers above, callees below';
    button.setAttribute('aria-label', `sandwich of ${label}`);
    return button;
  }

  fill() {
    const frames = this.shown();
    this.body.replaceChildren(...this.hottest(frames).map(frame => this.row(frame)));
    this.more.textContent = frames.length > ROWS_MAX ? `${ROWS_MAX} of ${frames.length} functions` : '';
    for (const [order, button] of Object.entries(this.heads))
      button.closest('th').setAttribute('aria-sort', order === this.order ? 'descending' : 'none');
  }
}
