// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The flame graph itself. The canvas is as large as the part that is seen and is painted anew when that scrolls: a
// canvas of the whole height would meet the limits of browsers. What is under the pointer or has the focus is outlined
// by an element above the canvas, so that moving about paints nothing.

const ROW = 18;
const FONT = '12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace';
const TEXT_MIN = 24; // narrower frames have no text
const GAP_MIN = 2; // narrower frames have no gap to the next
const ROWS_BEFORE_ZOOM = 3;

class Chart extends EventTarget {
  constructor(elements, labelOf) {
    super();
    Object.assign(this, elements); // chart, view, canvas, spacer, hover, focus
    this.labelOf = labelOf;
    this.zoom = ROOT;
    this.focused = ROOT;
    this.isIcicle = false;
    this.context = this.canvas.getContext('2d', {alpha: false});
    this.listen();
  }

  listen() {
    this.chart.addEventListener('scroll', () => {
      this.noteScroll();
      this.paint();
    });
    this.canvas.addEventListener('pointermove', event => this.point(event));
    this.canvas.addEventListener('pointerleave', () => this.unpoint());
    this.canvas.addEventListener('click', event => {
      const node = this.nodeAt(event);
      if (node !== null)
        this.zoomTo(node);
    });
    new ResizeObserver(() => this.tree && this.resize()).observe(this.chart);
  }

  // {tree, total}: what is drawn; colourOf(node); matches: by frame, or null.
  show(content) {
    const isOther = this.tree !== content.tree;
    Object.assign(this, content);
    if (isOther)
      this.zoom = this.focused = ROOT;
    this.resize();
    if (isOther)
      this.reveal();
  }

  setIcicle(isIcicle) {
    this.isIcicle = isIcicle;
    if (!this.tree)
      return;
    this.resize();
    this.reveal();
  }

  resize() {
    const hidden = this.hidden ?? 0;
    this.width = this.chart.clientWidth;
    this.height = this.chart.clientHeight;
    this.layout = new Layout(this.tree, this.total, this.zoom, this.width);
    this.contentHeight = Math.max(this.height, this.layout.height * ROW);
    this.view.style.height = this.height + 'px';
    this.spacer.style.height = this.contentHeight - this.height + 'px';
    this.scrollPast(hidden);
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = this.width * ratio;
    this.canvas.height = this.height * ratio;
    this.canvas.style.width = this.width + 'px';
    this.canvas.style.height = this.height + 'px';
    this.context.scale(ratio, ratio);
    this.hover.hidden = true;
    this.paint();
  }

  // `hidden` is scrolled away at the edge at which the graph begins: that edge stays where it is when sizes change. A
  // browser moves scrollTop when the chart grows, before resize() is called, so only a chart of the known size tells.
  noteScroll() {
    const {scrollTop, clientHeight} = this.chart;
    if (clientHeight === this.height)
      this.hidden = this.isIcicle ? scrollTop : this.contentHeight - this.height - scrollTop;
  }

  scrollPast(hidden) {
    this.chart.scrollTop = this.isIcicle ? hidden : this.contentHeight - this.height - hidden;
    this.noteScroll();
  }

  // Of the upper edge, in the view.
  rowTop(row) {
    const top = this.isIcicle ? row * ROW : this.contentHeight - (row + 1) * ROW;
    return top - this.chart.scrollTop;
  }

  rowAt(y) {
    const top = y + this.chart.scrollTop;
    return Math.floor((this.isIcicle ? top : this.contentHeight - top) / ROW);
  }

  paint() {
    if (!this.layout)
      return;
    const style = getComputedStyle(document.body);
    this.context.fillStyle = style.backgroundColor;
    this.context.fillRect(0, 0, this.width, this.height);
    this.context.font = FONT;
    this.context.textBaseline = 'middle';
    this.letter = this.context.measureText('m').width;
    this.colours = {text: style.color, match: style.getPropertyValue('--accent'), back: style.backgroundColor};
    const rows = [this.rowAt(0), this.rowAt(this.height - 1)].sort((a, b) => a - b);
    for (let row = Math.max(rows[0], 0); row <= rows[1] && row < this.layout.height; row++)
      this.paintRow(row);
    this.outline(this.focus, this.focused === ROOT ? null : this.focused);
  }

  paintRow(row) {
    const {x, width, node} = this.layout.rows[row];
    const top = this.rowTop(row);
    for (let i = 0; i < x.length; i++) {
      const isMatch = this.matches?.[this.tree.frame[node[i]]];
      const gap = width[i] >= GAP_MIN ? 1 : 0;
      this.context.fillStyle = isMatch ? this.colours.match : this.colourOf(node[i]);
      this.context.fillRect(x[i], top, width[i] - gap, ROW - 1);
      if (width[i] >= TEXT_MIN) {
        this.context.fillStyle = isMatch ? this.colours.back : this.colours.text;
        this.context.fillText(this.fit(this.labelOf(node[i]), width[i] - 6), x[i] + 3, top + ROW / 2);
      }
    }
  }

  fit(text, width) {
    const letters = Math.floor(width / this.letter);
    return text.length <= letters ? text : text.slice(0, Math.max(letters - 1, 1)) + '\u2026';
  }

  outline(box, node) {
    const row = node === null ? -1 : this.tree.depth[node];
    const index = node === null ? -1 : this.layout.indexOf(this.tree, node);
    box.hidden = index < 0;
    if (box.hidden)
      return;
    box.style.left = this.layout.rows[row].x[index] + 'px';
    box.style.width = Math.max(this.layout.rows[row].width[index], 2) + 'px';
    box.style.top = this.rowTop(row) + 'px';
    box.style.height = ROW - 1 + 'px';
  }

  nodeAt(event) {
    const row = this.rowAt(event.offsetY);
    const index = this.layout.find(row, event.offsetX);
    return index < 0 ? null : this.layout.rows[row].node[index];
  }

  point(event) {
    const node = this.nodeAt(event);
    this.outline(this.hover, node);
    this.tell('point', {node, x: event.clientX, y: event.clientY});
  }

  unpoint() {
    this.hover.hidden = true;
    this.tell('point', {node: null});
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, {detail}));
  }

  zoomTo(node) {
    this.zoom = this.focused = node;
    this.resize();
    this.reveal();
    this.tell('zoom', {node});
    this.tell('focus', {node});
  }

  // The zoomed frame near the edge at which the graph begins.
  reveal() {
    this.scrollPast(Math.max(this.tree.depth[this.zoom] - ROWS_BEFORE_ZOOM, 0) * ROW);
    this.paint();
  }

  // Whole rows of the focused frame's place into the view.
  scrollToFocus() {
    const top = this.rowTop(this.tree.depth[this.focused]);
    if (top < 0)
      this.chart.scrollTop += top;
    else if (top + ROW > this.height)
      this.chart.scrollTop += top + ROW - this.height;
  }

  focusOn(node) {
    this.focused = node;
    this.scrollToFocus();
    this.paint();
    this.tell('focus', {node});
  }

  // Only what is wide enough to be seen can have the focus.
  focusOutwards() {
    if (this.focused !== ROOT)
      this.focusOn(this.tree.parent[this.focused]);
  }

  // The widest child.
  focusInwards() {
    const {rows} = this.layout;
    const row = rows[this.tree.depth[this.focused] + 1];
    let widest = -1;
    row?.node.forEach((node, i) => {
      const onWay = this.tree.depth[this.focused] < this.tree.depth[this.zoom] || this.tree.parent[node] === this.focused;
      if (onWay && (widest < 0 || row.width[i] > row.width[widest]))
        widest = i;
    });
    if (widest >= 0)
      this.focusOn(row.node[widest]);
  }

  focusBeside(step) {
    const row = this.layout.rows[this.tree.depth[this.focused]];
    const node = row?.node[this.layout.indexOf(this.tree, this.focused) + step];
    if (node !== undefined)
      this.focusOn(node);
  }
}
