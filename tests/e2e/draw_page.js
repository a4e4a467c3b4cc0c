// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the page has drawn, in the order of drawing: {rect: [x, y, width, height], fill}, with the colour of its line
// (maybe none) if it is an element, and {text, at: [x, y], font, size, bold, fill}, at the start of its baseline.
// draw_page.py runs this in the page and gets the value at the end.

(() => {
  const SURFACES = 'body, #timeline, thead, footer, #functions, select, button:not(th button, .sandwich), summary, input, #legend i';
  const CONTROLS = new Set(['SELECT', 'BUTTON', 'SUMMARY', 'INPUT']);
  const CAPITAL = 0.72; // the height of a capital letter in a line of height 1
  const shapes = [];

  function addText(text, x, y, style) {
    const font = /mono/i.test(style.family) ? 'monospace' : 'sans-serif';
    shapes.push({text, at: [x, y], font, size: style.size, bold: Boolean(style.bold), fill: style.fill});
  }

  // The part of it that is on the canvas: a row may begin above.
  function addPainted(canvas, x, y, width, height, fill) {
    const {left, top} = canvas.getBoundingClientRect();
    const upper = Math.max(y, 0);
    const lower = Math.min(y + height, canvas.height);
    if (lower > upper)
      shapes.push({rect: [left + x, top + upper, width, lower - upper], fill});
  }

  function addPaintedText(context, text, x, y) {
    const {left, top} = context.canvas.getBoundingClientRect();
    const [, size, family] = /([\d.]+)px (.*)/.exec(context.font);
    if (y > 0)
      addText(text, left + x, top + y + baseline(context), {size: Number(size), family, fill: context.fillStyle});
  }

  // Canvases are painted once more, to listen.
  function addCanvases() {
    const {prototype} = CanvasRenderingContext2D;
    const {fillRect, fillText} = prototype;
    prototype.fillRect = function(...rect) {
      addPainted(this.canvas, ...rect, this.fillStyle);
      fillRect.apply(this, rect);
    };
    prototype.fillText = function(text, x, y, ...rest) {
      addPaintedText(this, text, x, y);
      fillText.call(this, text, x, y, ...rest);
    };
    document.querySelector('#colour').dispatchEvent(new Event('change'));
    Object.assign(prototype, {fillRect, fillText});
  }

  // From where a canvas has put a text down to its alphabetic baseline.
  function baseline(context) {
    const asked = context.textBaseline;
    const above = context.measureText('x').fontBoundingBoxAscent;
    context.textBaseline = 'alphabetic';
    const ascent = context.measureText('x').fontBoundingBoxAscent;
    context.textBaseline = asked;
    return ascent - above;
  }

  function isShown(element) {
    return element.checkVisibility() && !element.closest('dialog, noscript, canvas');
  }

  function isClear(colour) {
    return colour === 'rgba(0, 0, 0, 0)';
  }

  function addSurface(element) {
    const style = getComputedStyle(element);
    const {x, y, width, height} = element.getBoundingClientRect();
    const isControl = CONTROLS.has(element.tagName);
    if (!isClear(style.backgroundColor) || isControl)
      shapes.push({rect: [x, y, width, height], fill: style.backgroundColor, line: isControl ? '#999' : ''});
    for (const [side, rect] of [['Top', [x, y, width, 1]], ['Bottom', [x, y + height - 1, width, 1]],
      ['Left', [x, y, 1, height]]])
      if (!isControl && style[`border${side}Style`] === 'solid')
        shapes.push({rect, fill: style[`border${side}Color`], line: ''});
  }

  function styleOf(element) {
    const style = getComputedStyle(element);
    return {size: parseFloat(style.fontSize), family: style.fontFamily, bold: Number(style.fontWeight) > 500,
      fill: style.color};
  }

  const measuring = document.createElement('canvas').getContext('2d');

  function ascentOf(element) {
    measuring.font = getComputedStyle(element).font;
    return measuring.measureText('x').fontBoundingBoxAscent;
  }

  // What hides the rest of a text.
  function clipOf(element) {
    const boxes = [document.documentElement.getBoundingClientRect()];
    for (let at = element; at; at = at.parentElement)
      if (getComputedStyle(at).overflow !== 'visible')
        boxes.push(at.getBoundingClientRect());
    return {left: Math.max(...boxes.map(box => box.left)), right: Math.min(...boxes.map(box => box.right)),
      top: Math.max(...boxes.map(box => box.top)), bottom: Math.min(...boxes.map(box => box.bottom))};
  }

  // The characters from..to of a text; a text that is cut off ends in an ellipsis.
  function fitting(node, range, right, from, to) {
    const text = node.data.slice(from, to).trim();
    if (range.getBoundingClientRect().right <= right + 1)
      return text;
    let end = to;
    while (end > from && range.getBoundingClientRect().right > right - 12)
      range.setEnd(node, --end);
    return `${node.data.slice(from, end)}\u2026`;
  }

  // [first, behind the last] character of each line of a text.
  function linesOf(node) {
    const range = document.createRange();
    const lines = [];
    let top = -Infinity;
    for (let at = node.data.length - node.data.trimStart().length; at < node.data.trimEnd().length; at++) {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const box = range.getBoundingClientRect();
      if (box.height && box.top > top + box.height / 2) {
        top = box.top;
        lines.push([at, at]);
      }
      if (lines.length)
        lines[lines.length - 1][1] = at + 1;
    }
    return lines;
  }

  function addTextNode(node) {
    const element = node.parentElement;
    const clip = clipOf(element);
    for (const [from, to] of linesOf(node)) {
      const range = document.createRange();
      range.setStart(node, from);
      range.setEnd(node, to);
      const box = range.getBoundingClientRect();
      const middle = box.y + box.height / 2;
      if (box.width && box.left < clip.right && middle > clip.top && middle < clip.bottom)
        addText(fitting(node, range, clip.right, from, to), box.left, box.top + ascentOf(element), styleOf(element));
    }
  }

  function addTexts() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (node.data.trim() && isShown(node.parentElement) && !node.parentElement.closest('select, script'))
        addTextNode(node);
    }
  }

  // What a list or a field shows, and what the style adds, is no text of the document.
  function addValue(element, text, indent, style = {}) {
    const {x, y, height} = element.getBoundingClientRect();
    addText(text, x + indent, y + height / 2 + CAPITAL / 2 * styleOf(element).size, {...styleOf(element), ...style});
  }

  function addValues() {
    for (const select of document.querySelectorAll('select'))
      if (isShown(select)) {
        addValue(select, select.selectedOptions[0]?.text ?? '', 5);
        addValue(select, '\u25be', select.getBoundingClientRect().width - 14);
      }
    const search = document.querySelector('#search');
    addValue(search, search.value || search.placeholder, 5, search.value ? {} : {fill: 'rgb(117, 117, 117)'});
    const sorted = document.querySelector('th[aria-sort="descending"] button');
    if (isShown(sorted))
      addValue(sorted, '\u25be', sorted.getBoundingClientRect().width - 14);
  }

  for (const element of document.querySelectorAll(SURFACES))
    if (isShown(element))
      addSurface(element);
  addCanvases();
  addTexts();
  addValues();
  return {size: [innerWidth, innerHeight], shapes};
})()
