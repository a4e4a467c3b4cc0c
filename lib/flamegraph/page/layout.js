// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which frames are where: rows of rectangles, outermost row first, each in the order of x. A frame narrower than
// MIN_WIDTH is left out with all its subtree, so the work and the memory depend on the pixels, not on the recording.

const MIN_WIDTH = 0.4;

class Layout {
  // The zoomed node and its ancestors fill the width.
  constructor(tree, total, zoom, width) {
    this.rows = [];
    for (let node = zoom; node !== ROOT; node = tree.parent[node])
      this.put(tree.depth[node], 0, width, node);
    this.put(0, 0, width, ROOT);
    if (total[zoom] > 0)
      this.placeBelow(tree, total, zoom, width / total[zoom]);
  }

  put(row, x, width, node) {
    this.rows[row] ??= {x: [], width: [], node: []};
    this.rows[row].x.push(x);
    this.rows[row].width.push(width);
    this.rows[row].node.push(node);
  }

  placeBelow(tree, total, zoom, scale) {
    const next = []; // by depth: where the next sibling begins
    next[tree.depth[zoom] + 1] = 0;
    for (let node = zoom + 1; node < tree.end[zoom];) {
      const depth = tree.depth[node];
      const x = next[depth];
      const width = total[node] * scale;
      next[depth] += width;
      if (width < MIN_WIDTH) {
        node = tree.end[node];
        continue;
      }
      next[depth + 1] = x;
      this.put(depth, x, width, node++);
    }
  }

  // The number of rows up to the last with a frame that has a fiftieth of the width: one deep thin stack asks for no room.
  wideHeight(whole) {
    return this.rows.findLastIndex(({width}) => width.some(each => each >= whole / 50)) + 1;
  }

  get height() {
    return this.rows.length;
  }

  // The index in a row of what is at x, or -1.
  find(row, x) {
    const {x: starts, width} = this.rows[row] ?? {x: [], width: []};
    let low = 0, high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= x)
        low = middle + 1;
      else
        high = middle;
    }
    return low > 0 && x < starts[low - 1] + width[low - 1] ? low - 1 : -1;
  }

  indexOf(tree, node) {
    return this.rows[tree.depth[node]]?.node.indexOf(node) ?? -1;
  }
}
