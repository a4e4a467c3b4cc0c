// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The values of events: the panel shows those of the frame at the focus as a histogram, with their sum, average and percentiles,
// as `report --hist` has them.

const PERCENTILES = [['p50', 500], ['p90', 900], ['p99', 990], ['p99.9', 999]];
const LINEAR_BUCKETS = 20;

class Values {
  constructor(columns, {threads, sources, idleNodes}) {
    this.digits = columns.digits;
    this.isAggregated = columns.aggregated;
    let at = 0;
    this.rows = columns.stack.map((stack, i) => {
      const values = columns.value.slice(at, at + columns.length[i]);
      for (let j = 1; j < values.length; j++)
        values[j] += values[j - 1];
      const counts = columns.count.slice(at, at += columns.length[i]);
      const source = columns.source[i];
      return {stack, source, values, counts, sum: columns.sum[i],
        isIdle: threads[columns.thread[i]].tid === 0 || WAITS.test(sources[source].name) && idleNodes[stack] === 1};
    });
    this.withValues = new Set(this.rows.map(({source}) => source));
  }

  has(source) {
    return this.withValues.has(source);
  }

  // The values of the chosen event in stacks that satisfy isIn(): {sum, count, items: [value, count], ascending}.
  of(isIn, {source, hasIdle}) {
    const counts = new Map();
    let sum = 0;
    let count = 0;
    for (const row of this.rows) {
      if (row.source !== source || row.isIdle && !hasIdle || !isIn(row.stack))
        continue;
      sum += row.sum;
      row.values.forEach((value, i) => {
        counts.set(value, (counts.get(value) ?? 0) + row.counts[i]);
        count += row.counts[i];
      });
    }
    return {sum, count, items: [...counts].sort((a, b) => a[0] - b[0])};
  }
}

// The smallest value that at least `permille` of a thousand events do not exceed.
function percentileOf({items, count}, permille) {
  const rank = Math.ceil(count * permille / 1000);
  let passed = 0;
  return items.find(([, events]) => (passed += events) >= rank)[0];
}

function log2Index(value) {
  let index = value < 1 ? 0 : Math.floor(Math.log2(value)) + 1;
  while (index && 2 ** (index - 1) > value)
    index--;
  while (2 ** index <= value)
    index++;
  return index;
}

// The smallest width of 1, 2, 5, 10, 20, 50... with which at most LINEAR_BUCKETS buckets cover the range.
function linearWidth(least, most) {
  for (let power = 1;; power *= 10)
    for (const step of [1, 2, 5])
      if (Math.floor(most / (power * step)) - Math.floor(least / (power * step)) < LINEAR_BUCKETS)
        return power * step;
}

// All buckets from that of the smallest value to that of the largest: {from, to, count}; both bounds are inclusive.
function bucketsOf({items}, scale) {
  const least = items[0][0];
  const most = items[items.length - 1][0];
  const width = scale === 'log2' ? 0 : linearWidth(least, most);
  const indexOf = value => width ? Math.floor(value / width) : log2Index(value);
  const first = indexOf(least);
  const begin = index => width ? index * width : index && 2 ** (index - 1);
  const buckets = Array.from({length: indexOf(most) - first + 1}, (_, i) =>
    ({from: begin(first + i), to: Math.max(begin(first + i + 1) - 1, 0), count: 0}));
  for (const [value, count] of items)
    buckets[indexOf(value) - first].count += count;
  return buckets;
}

class ValuePanel {
  constructor(elements) {
    Object.assign(this, elements); // panel, title, about, scale, bars
    this.isWanted = false;
  }

  get isOpen() {
    return !this.panel.hidden;
  }

  // found: the result of Values.of(); values: the Values it is of; part: a note if the graph shows only a part of the time, threads or
  // CPUs, to which the values are not limited.
  show(found, {digits, isAggregated}, label, unit, part) {
    this.panel.hidden = !this.isWanted || !found.count;
    if (this.panel.hidden)
      return;
    this.title.textContent = ['Values', label && `of ${shortened(label)}`, part].filter(Boolean).join(' ');
    const {items, sum, count} = found;
    const numbers = [['sum', sum], ['average', Math.floor(sum / count)], ['min', items[0][0]],
      ...PERCENTILES.map(([name, permille]) => [name, percentileOf(found, permille)]), ['max', items[items.length - 1][0]]];
    this.about.replaceChildren(exactText(count, ''), ...numbers.flatMap(([name, value]) => [` \u00b7 ${name} `, this.number(name, value, unit)]),
      ...isAggregated ? [' \u00b7 aggregated in the kernel: exact by powers of two; percentiles and linear histograms are estimates'] : [],
      ...digits < 64 ? [` \u00b7 too many different values: rounded down to ${digits} binary ${digits === 1 ? 'digit' : 'digits'}`] : []);
    this.showBars(bucketsOf(found, this.scale.value), unit);
  }

  number(name, value, unit) {
    const element = document.createElement('span');
    element.textContent = weightText(value, unit);
    element.title = exactText(value, unit);
    element.dataset.name = name;
    element.dataset.value = value;
    return element;
  }

  showBars(buckets, unit) {
    const most = Math.max(...buckets.map(({count}) => count));
    this.bars.replaceChildren(...buckets.map(({from, to, count}) => {
      const row = document.createElement('li');
      const [range, number, bar] = ['span', 'span', 'i'].map(tag => row.appendChild(document.createElement(tag)));
      range.textContent = [from, ...to > from ? [to] : []].map(value => weightText(value, unit)).join(' .. ');
      range.title = [from, ...to > from ? [to] : []].map(value => exactText(value, unit)).join(' .. ');
      number.textContent = weightText(count, '');
      number.title = exactText(count, '');
      bar.style.width = count ? `max(2px, ${(100 * count / most).toFixed(1)}%)` : '0';
      Object.assign(row.dataset, {from, to, count});
      return row;
    }));
  }
}
