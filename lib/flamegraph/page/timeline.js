// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// When it happened: bars by bucket of time, of everything or a strip for each thread or CPU. Dragging selects a range of
// time; a click in a strip chooses its thread or CPU.

const BARS_HEIGHT = 44;
const STRIP_HEIGHT = 15;
const LABEL_WIDTH = 150;
const CLICK_WIDTH = 4;
const WAIT_WIDTH = 2; // narrower waits are seen in the sums of their bucket only
const AXIS_HEIGHT = 17;
const TICK_WIDTH = 90;

// 1, 2 or 5 times a power of ten, so that there are at most so many steps.
function roundStep(whole, steps) {
  const least = whole / Math.max(steps, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find(times => times * power >= least * 0.999);
}

class Timeline extends EventTarget {
  constructor(canvas, scroll, axis, {buckets, bucketSeconds}) {
    super();
    Object.assign(this, {canvas, scroll, axis, buckets, bucketSeconds});
    this.from = 0;
    this.to = buckets;
    this.view = [0, buckets]; // what the width shows
    this.cursor = 0; // the row that keys move
    this.arrow = null; // {from, to: rows, seconds} of a wait and its waker
    this.context = canvas.getContext('2d');
    canvas.addEventListener('pointerdown', event => this.press(event));
    canvas.addEventListener('pointermove', event => this.drag(event));
    canvas.addEventListener('pointerup', event => this.release(event));
    canvas.addEventListener('pointercancel', () => this.pressed = null);
    new ResizeObserver(() => this.strips && this.paint()).observe(scroll);
  }

  // strips: [{label, values by bucket, choice: what a click chooses}], or with bands and waits instead of values (states.js);
  // only one has no label.
  show(strips) {
    this.strips = strips;
    this.heat = null;
    this.arrow = null;
    this.cursor = Math.min(this.cursor, strips.length - 1);
    this.paint();
  }

  // A heat map of the values by bucket.
  showHeat(values) {
    this.view = [0, this.buckets];
    this.show([{label: '', values, isHeat: true}]);
  }

  get isHeat() {
    return Boolean(this.strips[0]?.isHeat);
  }

  get isBars() {
    return this.strips.length === 1 && !this.strips[0].label;
  }

  get left() {
    return this.isBars ? 0 : LABEL_WIDTH;
  }

  get isWhole() {
    return this.from === 0 && this.to === this.buckets;
  }

  bucketWidth() {
    return (this.width - this.left) / (this.view[1] - this.view[0]);
  }

  xOf(bucket) {
    return this.left + (bucket - this.view[0]) * this.bucketWidth();
  }

  xAt(seconds) {
    if (this.heat)
      return this.heat.xOf(seconds);
    return this.xOf(seconds / this.bucketSeconds);
  }

  // To the selected time, or back to all of it.
  zoom(isIn) {
    if (this.isHeat)
      return;
    this.view = isIn && !this.isWhole ? [this.from, this.to] : [0, this.buckets];
    this.paint();
    this.dispatchEvent(new Event('zoom'));
  }

  get isZoomed() {
    return this.view[1] - this.view[0] < this.buckets;
  }

  paint() {
    const ratio = window.devicePixelRatio || 1;
    const style = getComputedStyle(document.body);
    this.rowHeight = this.isHeat ? HEAT_HEIGHT : this.isBars ? BARS_HEIGHT : STRIP_HEIGHT;
    this.width = this.scroll.clientWidth;
    this.heat = this.isHeat ? new HeatMap(this, this.strips[0].values) : null;
    this.canvas.style.height = this.rowHeight * this.strips.length + 'px';
    this.canvas.width = this.width * ratio;
    this.canvas.height = this.rowHeight * this.strips.length * ratio;
    this.context.scale(ratio, ratio);
    this.colours = {bar: style.getPropertyValue('--bar'), chosen: style.getPropertyValue('--chosen'), text: style.color,
      heat: style.getPropertyValue('--heat'), states: Object.fromEntries(STATES.map(state => [state, style.getPropertyValue(`--${state}`)]))};
    const highest = Math.max(...this.strips.map(({values}) => values?.reduce((a, b) => Math.max(a, b), 0) ?? 0), 1);
    if (this.heat)
      this.heat.paint(this.context, this.colours);
    else
      this.strips.forEach((strip, row) => strip.bands ? this.paintStates(strip, row) : this.paintStrip(strip, row, highest));
    if (this.arrow)
      this.paintArrow(this.arrow);
    this.paintAxis(style.getPropertyValue('--faint'));
  }

  // Seconds since the first event, at round numbers.
  paintAxis(colour) {
    const ratio = window.devicePixelRatio || 1;
    const context = this.axis.getContext('2d');
    this.axis.width = this.width * ratio;
    this.axis.height = AXIS_HEIGHT * ratio;
    context.scale(ratio, ratio);
    context.font = '11px system-ui, sans-serif';
    context.fillStyle = colour;
    const [first, last] = this.view.map(bucket => bucket * this.bucketSeconds);
    const seconds = last - first;
    const step = roundStep(seconds, (this.width - this.left) / TICK_WIDTH);
    this.ticks = [];
    for (let tick = Math.ceil(first / step - 1e-9); tick * step < last; tick++) {
      const text = `${(tick * step).toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)))} s`;
      const x = this.xAt(tick * step);
      const width = context.measureText(text).width;
      if (x + 3 + width > this.width)
        break;
      context.fillRect(x, 0, 1, AXIS_HEIGHT);
      context.fillText(text, x + 3, 12);
      this.ticks.push(text);
    }
  }

  paintStrip(strip, row, highest) {
    const {context} = this;
    const bottom = (row + 1) * this.rowHeight - 1;
    const width = this.bucketWidth();
    this.paintLabel(strip, row);
    strip.values.forEach((value, bucket) => {
      if (!value || bucket < this.view[0] || bucket >= this.view[1])
        return;
      const height = Math.max(value / highest * (this.rowHeight - 3), 1);
      const isChosen = !this.isWhole && bucket >= this.from && bucket < this.to;
      context.fillStyle = isChosen ? this.colours.chosen : this.colours.bar;
      context.fillRect(this.xOf(bucket), bottom - height, Math.max(width - 0.5, 1), height);
    });
    this.paintSelection(bottom);
  }

  paintLabel({label}, row) {
    const {context} = this;
    if (!label)
      return;
    context.font = `${row === this.cursor && this.isStates ? 'bold ' : ''}11px system-ui, sans-serif`;
    context.fillStyle = this.colours.text;
    context.fillText(label, 6, (row + 1) * this.rowHeight - 4, LABEL_WIDTH - 12);
  }

  paintSelection(bottom) {
    if (this.isWhole)
      return;
    this.context.fillStyle = this.colours.chosen;
    for (const x of [this.xOf(this.from) - 1, this.xOf(this.to)])
      if (x >= this.left - 1)
        this.context.fillRect(x, bottom - this.rowHeight, 1, this.rowHeight);
  }

  get isStates() {
    return Boolean(this.strips[0]?.bands);
  }

  // A bucket is as high as the part of its time in which the thread was there, and has the state's parts one above the other.
  paintStates(strip, row) {
    const {context} = this;
    const bottom = (row + 1) * this.rowHeight - 1;
    const width = this.bucketWidth();
    const high = this.rowHeight - 3;
    this.paintLabel(strip, row);
    for (let bucket = this.view[0]; bucket < this.view[1]; bucket++) {
      let top = bottom;
      for (const state of STATES) {
        const height = Math.min(strip.bands[state][bucket] / this.bucketSeconds, 1) * high;
        if (height < 0.05)
          continue;
        top -= height;
        context.fillStyle = this.colours.states[state];
        context.fillRect(this.xOf(bucket), top, width + 0.3, height);
      }
    }
    for (const {begin, end, state} of strip.waits) {
      const x = Math.max(this.xAt(begin), this.left);
      if (!state || this.xAt(end) - x < WAIT_WIDTH)
        continue;
      context.fillStyle = this.colours.states[state];
      context.fillRect(x, bottom - high, Math.min(this.xAt(end), this.width) - x - 0.5, high);
    }
    this.paintSelection(bottom);
  }

  // From the waker's row to the wait's.
  paintArrow({from, to, seconds}) {
    const {context} = this;
    const x = Math.round(this.xAt(seconds)) + 0.5;
    const [start, end] = [from, to].map(row => (row + 0.5) * this.rowHeight);
    const point = Math.sign(end - start) * 5;
    context.strokeStyle = context.fillStyle = this.colours.text;
    context.beginPath();
    context.moveTo(x, start);
    context.lineTo(x, end);
    context.stroke();
    context.beginPath();
    context.moveTo(x, end);
    context.lineTo(x - 4, end - point);
    context.lineTo(x + 4, end - point);
    context.fill();
  }

  setArrow(arrow) {
    this.arrow = arrow;
    this.paint();
  }

  moveCursor(step) {
    this.cursor = Math.min(Math.max(this.cursor + step, 0), this.strips.length - 1);
    this.showRow(this.cursor);
    this.paint();
  }

  showRow(row) {
    const top = row * this.rowHeight;
    if (top < this.scroll.scrollTop || top + this.rowHeight > this.scroll.scrollTop + this.scroll.clientHeight)
      this.scroll.scrollTop = top - 4 * this.rowHeight;
  }

  bucketAt(x, y) {
    if (this.heat)
      return this.heat.bucketAt(x, y);
    const bucket = Math.floor(this.view[0] + (x - this.left) / this.bucketWidth());
    return Math.min(Math.max(bucket, 0), this.buckets - 1);
  }

  press(event) {
    this.pressed = {x: event.offsetX, y: event.offsetY, isDrag: false};
    this.canvas.setPointerCapture(event.pointerId);
  }

  drag(event) {
    if (!this.pressed)
      return;
    this.pressed.isDrag ||= Math.hypot(event.offsetX - this.pressed.x, this.heat ? event.offsetY - this.pressed.y : 0) >= CLICK_WIDTH;
    if (!this.pressed.isDrag)
      return;
    const ends = [this.bucketAt(this.pressed.x, this.pressed.y), this.bucketAt(event.offsetX, event.offsetY)].sort((a, b) => a - b);
    this.select(ends[0], ends[1] + 1);
  }

  release(event) {
    const wasClick = this.pressed && !this.pressed.isDrag;
    this.pressed = null;
    if (!wasClick)
      return;
    if (this.heat) {
      const bucket = this.bucketAt(event.offsetX, event.offsetY);
      this.select(bucket, bucket + 1);
      return;
    }
    const row = Math.floor(event.offsetY / this.rowHeight);
    const strip = this.strips[row];
    if (this.isBars)
      this.select(0, this.buckets);
    else if (strip?.bands && event.offsetX >= this.left)
      this.open(row, (this.view[0] + (event.offsetX - this.left) / this.bucketWidth()) * this.bucketSeconds);
    else if (strip)
      this.dispatchEvent(new CustomEvent('choose', {detail: strip.choice}));
  }

  // Shows what a thread did at a time.
  open(row, seconds) {
    this.cursor = row;
    this.paint();
    this.dispatchEvent(new CustomEvent('open', {detail: {row, strip: this.strips[row], seconds}}));
  }

  // The longest wait of the thread at the cursor in the time that is seen, or the next one after `seconds`.
  openWait(seconds) {
    const [from, to] = (this.isWhole ? this.view : [this.from, this.to]).map(bucket => bucket * this.bucketSeconds);
    const waits = this.strips[this.cursor]?.waits?.filter(({state, begin, end}) => state && end >= from && begin <= to) ?? [];
    const found = seconds === undefined ? waits.reduce((longest, wait) => longest && longest.ns >= wait.ns ? longest : wait, null) :
      waits.find(({begin}) => begin > seconds);
    if (found)
      this.open(this.cursor, (found.begin + found.end) / 2);
  }

  select(from, to) {
    if (from === this.from && to === this.to)
      return;
    this.from = from;
    this.to = to;
    this.paint();
    this.dispatchEvent(new Event('select'));
  }

  // As a link has it: "from-to", or "" for all.
  selectText(text) {
    const [from, to] = text ? text.split('-').map(Number) : [0, this.buckets];
    if (from >= 0 && from < to && to <= this.buckets)
      this.select(from, to);
  }

  // By the keyboard: moves the range, or its end.
  move(step, onlyEnd) {
    if (this.isWhole && !onlyEnd)
      return;
    const to = Math.min(Math.max(this.to + step, this.from + 1), this.buckets);
    const from = onlyEnd ? this.from : Math.max(this.from + step, 0);
    this.select(Math.min(from, to - 1), to);
  }
}
