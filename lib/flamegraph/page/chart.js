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
  // The section has the elements by their classes; labels: by frame.
  constructor(section, labels) {
    super();
    this.section = section;
    for (const name of ['view', 'canvas', 'spacer', 'hover', 'focus', 'frames'])
      this[name] = section.querySelector(`.${name}`);
    this.labels = labels;
    this.zoom = ROOT;
    this.focused = ROOT;
    this.isIcicle = false;
    this.context = this.canvas.getContext('2d', {alpha: false});
    this.listen();
  }

  listen() {
    this.section.addEventListener('scroll', () => {
      this.noteScroll();
      this.paint();
    });
    this.canvas.addEventListener('pointermove', event => this.point(event));
    this.canvas.addEventListener('pointerleave', () => this.unpoint());
    this.canvas.addEventListener('click', event => {
      const node = this.nodeAt(event);
      if (node !== null)
        this.tell(event.altKey ? 'sandwich' : 'click', {node});
    });
    this.frames.addEventListener('click', event => this.tell('click', {node: Number(event.target.dataset.node)}));
    new ResizeObserver(() => this.tree && this.resize()).observe(this.section);
  }

  // {tree, total}: what is drawn; whole: the weight of everything; colourOf(node); matches: by frame, or null.
  show(content) {
    const isOther = this.tree !== content.tree;
    Object.assign(this, content);
    if (isOther)
      this.zoom = this.focused = ROOT;
    this.resize();
    if (isOther)
      this.reveal();
  }

  label(node) {
    const frame = this.tree.frame[node];
    return frame === NO_FRAME ? 'all' : this.labels[frame];
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
    this.width = this.section.clientWidth;
    this.height = this.section.clientHeight;
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
    listFrames(this);
  }

  // `hidden` is scrolled away at the edge at which the graph begins: that edge stays where it is when sizes change. A
  // browser moves scrollTop when the chart grows, before resize() is called, so only a chart of the known size tells.
  noteScroll() {
    const {scrollTop, clientHeight} = this.section;
    if (clientHeight === this.height)
      this.hidden = this.isIcicle ? scrollTop : this.contentHeight - this.height - scrollTop;
  }

  scrollPast(hidden) {
    this.section.scrollTop = this.isIcicle ? hidden : this.contentHeight - this.height - hidden;
    this.noteScroll();
  }

  // Of the upper edge, in the view.
  rowTop(row) {
    const top = this.isIcicle ? row * ROW : this.contentHeight - (row + 1) * ROW;
    return top - this.section.scrollTop;
  }

  rowAt(y) {
    const top = y + this.section.scrollTop;
    return Math.floor((this.isIcicle ? top : this.contentHeight - top) / ROW);
  }

  paint() {
    if (!this.layout)
      return;
    const rows = [this.rowAt(0), this.rowAt(this.height - 1)].sort((a, b) => a - b);
    this.context.fillStyle = getComputedStyle(document.body).backgroundColor;
    this.context.fillRect(0, 0, this.width, this.height);
    this.paintRows(this.context, rows, row => this.rowTop(row));
    this.outline(this.focus, this.focused === ROOT ? null : this.focused);
  }

  // rows: the first and the last; topOf(row): where its upper edge is.
  paintRows(context, rows, topOf) {
    const style = getComputedStyle(document.body);
    context.font = FONT;
    context.textBaseline = 'middle';
    this.letter = context.measureText('m').width;
    this.colours = {text: style.color, match: style.getPropertyValue('--accent'), back: style.backgroundColor};
    for (let row = Math.max(rows[0], 0); row <= rows[1] && row < this.layout.height; row++)
      this.paintRow(context, row, topOf(row));
  }

  // All rows, those too that are scrolled away; below `top`.
  paintPicture(context, top) {
    const {height} = this.layout;
    this.paintRows(context, [0, height - 1], row => top + ROW * (this.isIcicle ? row : height - 1 - row));
  }

  paintRow(context, row, top) {
    const {x, width, node} = this.layout.rows[row];
    for (let i = 0; i < x.length; i++) {
      const isMatch = this.matches?.[this.tree.frame[node[i]]];
      const gap = width[i] >= GAP_MIN ? 1 : 0;
      context.fillStyle = isMatch ? this.colours.match : this.colourOf(node[i]);
      context.fillRect(x[i], top, width[i] - gap, ROW - 1);
      if (width[i] >= TEXT_MIN) {
        context.fillStyle = isMatch ? this.colours.back : this.colours.text;
        context.fillText(this.fit(this.label(node[i]), width[i] - 6), x[i] + 3, top + ROW / 2);
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
      this.section.scrollTop += top;
    else if (top + ROW > this.height)
      this.section.scrollTop += top + ROW - this.height;
  }

  focusOn(node) {
    this.focused = node;
    this.scrollToFocus();
    this.paint();
    listFocused(this);
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
