// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A tree of frames as columns, its nodes in preorder: a subtree is the range from a node to its end, parents come
// before their children, siblings are in the order of their names. Node 0 is the root and has no frame.

const ROOT = 0;
const NO_FRAME = -1;

class Tree {
  constructor(count) {
    this.count = count;
    this.frame = new Int32Array(count);
    this.parent = new Int32Array(count);
    this.depth = new Uint16Array(count);
    this.end = new Uint32Array(count);
    this.frame[ROOT] = NO_FRAME;
    this.parent[ROOT] = ROOT;
  }

  place(node, parent, frame) {
    this.parent[node] = parent;
    this.frame[node] = frame;
    this.depth[node] = this.depth[parent] + 1;
  }

  // Each parent has seen all its children when it is reached backwards.
  setEnds() {
    for (let node = this.count - 1; node >= 0; node--) {
      this.end[node] = Math.max(this.end[node], node + 1);
      this.end[this.parent[node]] = Math.max(this.end[this.parent[node]], this.end[node]);
    }
    return this;
  }

  // A node's parent is up[] levels above the node before it.
  static fromColumns(up, frame) {
    const tree = new Tree(frame.length + 1);
    const path = [ROOT];
    for (let i = 0; i < frame.length; i++) {
      path.length -= up[i];
      tree.place(i + 1, path[path.length - 1], frame[i]);
      path.push(i + 1);
    }
    return tree.setEnds();
  }

  // From a node to the outermost frame.
  compareUpwards(a, b) {
    while (a !== b && this.frame[a] === this.frame[b]) {
      a = this.parent[a];
      b = this.parent[b];
    }
    return this.frame[a] - this.frame[b];
  }

  sharedUpwards(a, b) {
    let shared = 0;
    while (a !== ROOT && this.frame[a] === this.frame[b]) {
      a = this.parent[a];
      b = this.parent[b];
      shared++;
    }
    return shared;
  }

  // The same stacks from the inside out. Sorted that way, each shares its first frames with the one before it, so
  // preorder comes by itself. `endOf` tells where in the new tree each of the given stacks ends.
  inverted(ends) {
    const sorted = ends.slice().sort((a, b) => this.compareUpwards(a, b));
    const shared = sorted.map((node, i) => i ? this.sharedUpwards(node, sorted[i - 1]) : 0);
    const tree = new Tree(sorted.reduce((count, node, i) => count + this.depth[node] - shared[i], 1));
    const endOf = new Uint32Array(this.count);
    const path = [ROOT];
    let next = 1;
    sorted.forEach((stack, i) => {
      let from = stack;
      for (let skip = shared[i]; skip > 0; skip--)
        from = this.parent[from];
      path.length = shared[i] + 1;
      for (; from !== ROOT; from = this.parent[from]) {
        tree.place(next, path[path.length - 1], this.frame[from]);
        path.push(next++);
      }
      endOf[stack] = path[path.length - 1];
    });
    return {tree: tree.setEnds(), endOf};
  }
}
