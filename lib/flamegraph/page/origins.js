// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Kernel workers, io_uring workers and timers do work that another thread has queued. The page has sums of such events by the
// queuer's thread and stack; the panel shows the sums of the frame at the focus. The begins of spans (record, stack=both) are shown alike.

const ORIGINS_MAX = 8;

class Origins {
  constructor(columns) {
    this.rows = columns.stack.map((stack, i) => ({stack, source: columns.source[i], thread: columns.thread[i],
      queuer: columns.queuer[i], queuerStack: columns.queuerStack[i], weights: {count: columns.count[i], value: columns.value[i]}}));
  }

  // Sums the chosen events whose stack satisfies isIn(): {queuer, queuerStack, weight}, the heaviest first.
  of(isIn, {source, measure, threads}) {
    const sums = new Map();
    for (const row of this.rows) {
      if (row.source !== source || threads && !threads[row.thread] || !isIn(row.stack))
        continue;
      const key = `${row.queuer} ${row.queuerStack}`;
      const sum = sums.get(key) ?? {source, queuer: row.queuer, queuerStack: row.queuerStack, weight: 0};
      sum.weight += row.weights[measure];
      sums.set(key, sum);
    }
    return [...sums.values()].sort((a, b) => b.weight - a.weight);
  }
}

const SPAN_BEGIN = /^span:.*[.][.]$/;

// The origins of a span are its begins, if these have events.
function areBegins(origins, {sources}) {
  const {name} = sources[origins[0].source];
  return name.startsWith('span:') && sources.some(source => SPAN_BEGIN.test(source.name) && source.unit);
}

// The line of a frame's description.
function originLine(origins, profile) {
  const others = origins.length > 1 ? ` and ${origins.length - 1} ${origins.length > 2 ? 'others' : 'other'}` : '';
  return origins.length ? [`${areBegins(origins, profile) ? 'begun' : 'queued'} by ${threadText(profile.threads[origins[0].queuer])}${others}`] : [];
}

class OriginPanel {
  constructor({panel, title, list}, profile) {
    Object.assign(this, {panel, title, list, profile});
    this.isWanted = null; // true: always open, false: closed, null: open while a frame is chosen
  }

  get isOpen() {
    return !this.panel.hidden;
  }

  toggle() {
    this.isWanted = !this.isOpen;
  }

  // label: of the frame, '' for everything; part: the part of the recording that the sums are of, if it is not what the graph shows.
  show(origins, label, unit, part) {
    const isWanted = this.isWanted ?? Boolean(label);
    this.panel.hidden = !isWanted || !origins.length;
    if (this.panel.hidden)
      return;
    this.title.textContent = [areBegins(origins, this.profile) ? 'Who began the spans' : 'Who queued the work', label && `of ${shortened(label)}`, part].filter(Boolean).join(' ');
    const items = origins.slice(0, ORIGINS_MAX).flatMap(origin => this.item(origin, unit));
    if (origins.length > ORIGINS_MAX)
      items.push(this.paragraph(`${origins.length - ORIGINS_MAX} others`));
    this.list.replaceChildren(...items);
  }

  paragraph(text) {
    const paragraph = document.createElement('p');
    paragraph.textContent = text;
    return paragraph;
  }

  item({source, queuer, queuerStack, weight}, unit) {
    const stack = document.createElement('ol');
    listStack(stack, queuerStack, this.profile);
    const verb = areBegins([{source}], this.profile) ? 'begun' : 'queued';
    return [this.paragraph(`${verb} by ${threadText(this.profile.threads[queuer])}: ${amountText(weight, unit)}`), stack];
  }
}
