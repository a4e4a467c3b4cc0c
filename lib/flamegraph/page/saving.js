// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The view as a text to be copied, and as a picture to be saved. A picture has all rows of the graphs, those too that are scrolled
// away. SvgPaper takes the calls that a canvas takes, so both pictures are painted by the same code.

const COPIED_FUNCTIONS = 25;
const PICTURE_HEAD = 44;
const PIXELS_MAX = 16000; // in height: browsers make no larger canvas

function escapeMarkup(text) {
  return text.replace(/[&<>"]/g, sign => `&#${sign.charCodeAt(0)};`);
}

class SvgPaper {
  constructor(width, height, measuring) {
    this.size = [width, height];
    this.measuring = measuring;
    this.shapes = [];
  }

  measureText(text) {
    this.measuring.font = this.font;
    return this.measuring.measureText(text);
  }

  fillRect(x, y, width, height) {
    this.shapes.push(`<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${width.toFixed(1)}" height="${height.toFixed(1)}" ` +
      `fill="${this.fillStyle}"/>`);
  }

  fillText(text, x, y) {
    const [, size, family] = /(\d+)px (.*)/.exec(this.font);
    this.shapes.push(`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}" font-family="${escapeMarkup(family)}" ` +
      `dominant-baseline="central" fill="${this.fillStyle}">${escapeMarkup(text)}</text>`);
  }

  toString() {
    const [width, height] = this.size;
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">\n` +
      `${this.shapes.join('\n')}\n</svg>\n`;
  }
}

// Paints the charts that are seen, one below the other, under two lines of text.
function paintView(context, width, height, {charts, title, about}) {
  const style = getComputedStyle(document.body);
  let top = PICTURE_HEAD;
  context.fillStyle = style.backgroundColor;
  context.fillRect(0, 0, width, height);
  for (const chart of charts) {
    chart.paintPicture(context, top);
    top += chart.layout.height * ROW;
  }
  context.fillStyle = style.backgroundColor;
  context.fillRect(0, 0, width, PICTURE_HEAD);
  context.textBaseline = 'middle';
  [[title, 14, style.color], [about, 32, style.getPropertyValue('--faint')]].forEach(([text, y, colour]) => {
    context.font = '12px system-ui, sans-serif';
    context.fillStyle = colour;
    context.fillText(text, 6, y);
  });
}

function pictureSize({charts}) {
  const rows = charts.reduce((sum, chart) => sum + chart.layout.height, 0);
  return [Math.max(...charts.map(chart => chart.width)), PICTURE_HEAD + rows * ROW];
}

function svgOf(view) {
  const [width, height] = pictureSize(view);
  const paper = new SvgPaper(width, height, document.createElement('canvas').getContext('2d'));
  paintView(paper, width, height, view);
  return new Blob([paper.toString()], {type: 'image/svg+xml'});
}

function pngOf(view) {
  const [width, height] = pictureSize(view);
  const canvas = document.createElement('canvas');
  const ratio = Math.min(window.devicePixelRatio || 1, PIXELS_MAX / height);
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const context = canvas.getContext('2d', {alpha: false});
  context.scale(ratio, ratio);
  paintView(context, width, height, view);
  return new Promise(done => canvas.toBlob(done, 'image/png'));
}

function saveAs(name, blob) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The event of copying takes the text, wherever the page is opened from.
function copyText(text) {
  const give = event => {
    event.clipboardData.setData('text/plain', text);
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.addEventListener('copy', give, true);
  document.execCommand('copy');
  document.removeEventListener('copy', give, true);
}

// The stack of the focused frame, outermost frame first, with the share of each frame.
function stackText(chart) {
  const lines = [];
  for (let node = chart.focused; ; node = chart.tree.parent[node]) {
    lines.unshift(`${percentText(chart.total[node], chart.whole).padStart(8)}  ${chart.label(node)}`);
    if (node === ROOT)
      return lines.join('\n');
  }
}

function functionsText(table) {
  const rows = table.hottest(table.shown()).slice(0, COPIED_FUNCTIONS).map(frame =>
    [table.sums.self[frame], table.sums.total[frame]].map(weight => percentText(weight, table.whole).padStart(8)).join(' ') +
    `  ${table.labels[frame]}`);
  return [`${'self'.padStart(8)} ${'total'.padStart(8)}  function`, ...rows].join('\n');
}
