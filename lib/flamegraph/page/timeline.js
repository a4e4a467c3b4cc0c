// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// When it happened: bars by bucket of time, of everything or a strip for each thread or CPU. Dragging selects a range of
// time; a click in a strip chooses its thread or CPU.

const BARS_HEIGHT = 44;
const STRIP_HEIGHT = 15;
const LABEL_WIDTH = 150;
const CLICK_WIDTH = 4;
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
    this.context = canvas.getContext('2d');
    canvas.addEventListener('pointerdown', event => this.press(event));
    canvas.addEventListener('pointermove', event => this.drag(event));
    canvas.addEventListener('pointerup', event => this.release(event));
    canvas.addEventListener('pointercancel', () => this.pressed = null);
    new ResizeObserver(() => this.strips && this.paint()).observe(scroll);
  }

  // strips: [{label, values by bucket, choice: what a click chooses}]; only one has no label.
  show(strips) {
    this.strips = strips;
    this.paint();
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
    return (this.width - this.left) / this.buckets;
  }

  paint() {
    const ratio = window.devicePixelRatio || 1;
    const style = getComputedStyle(document.body);
    this.rowHeight = this.isBars ? BARS_HEIGHT : STRIP_HEIGHT;
    this.width = this.scroll.clientWidth;
    this.canvas.style.height = this.rowHeight * this.strips.length + 'px';
    this.canvas.width = this.width * ratio;
    this.canvas.height = this.rowHeight * this.strips.length * ratio;
    this.context.scale(ratio, ratio);
    this.colours = {bar: style.getPropertyValue('--bar'), chosen: style.getPropertyValue('--chosen'), text: style.color};
    const highest = Math.max(...this.strips.map(strip => strip.values.reduce((a, b) => Math.max(a, b), 0)), 1);
    this.strips.forEach((strip, row) => this.paintStrip(strip, row, highest));
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
    const seconds = this.buckets * this.bucketSeconds;
    const step = roundStep(seconds, (this.width - this.left) / TICK_WIDTH);
    this.ticks = [];
    for (let tick = 0; tick * step < seconds; tick++) {
      const text = `${(tick * step).toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)))} s`;
      const x = this.left + tick * step / this.bucketSeconds * this.bucketWidth();
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
    if (strip.label) {
      context.font = '11px system-ui, sans-serif';
      context.fillStyle = this.colours.text;
      context.fillText(strip.label, 6, bottom - 3, LABEL_WIDTH - 12);
    }
    strip.values.forEach((value, bucket) => {
      if (!value)
        return;
      const height = Math.max(value / highest * (this.rowHeight - 3), 1);
      const isChosen = !this.isWhole && bucket >= this.from && bucket < this.to;
      context.fillStyle = isChosen ? this.colours.chosen : this.colours.bar;
      context.fillRect(this.left + bucket * width, bottom - height, Math.max(width - 0.5, 1), height);
    });
    if (!this.isWhole) {
      context.fillStyle = this.colours.chosen;
      context.fillRect(this.left + this.from * width - 1, bottom - this.rowHeight, 1, this.rowHeight);
      context.fillRect(this.left + this.to * width, bottom - this.rowHeight, 1, this.rowHeight);
    }
  }

  bucketAt(x) {
    const bucket = Math.floor((x - this.left) / this.bucketWidth());
    return Math.min(Math.max(bucket, 0), this.buckets - 1);
  }

  press(event) {
    this.pressed = {x: event.offsetX, isDrag: false};
    this.canvas.setPointerCapture(event.pointerId);
  }

  drag(event) {
    if (!this.pressed)
      return;
    this.pressed.isDrag ||= Math.abs(event.offsetX - this.pressed.x) >= CLICK_WIDTH;
    if (!this.pressed.isDrag)
      return;
    const ends = [this.bucketAt(this.pressed.x), this.bucketAt(event.offsetX)].sort((a, b) => a - b);
    this.select(ends[0], ends[1] + 1);
  }

  release(event) {
    const wasClick = this.pressed && !this.pressed.isDrag;
    this.pressed = null;
    if (!wasClick)
      return;
    if (this.isBars)
      this.select(0, this.buckets);
    else
      this.dispatchEvent(new CustomEvent('choose',
        {detail: this.strips[Math.floor(event.offsetY / this.rowHeight)]?.choice}));
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
