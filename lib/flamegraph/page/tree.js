// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A tree of frames as columns, its nodes in preorder: a subtree is the range from a node to its end, parents come
// before their children, siblings are in the order of their names. Node 0 is the root and has no frame.

const ROOT = 0;
const NO_FRAME = -1;
const FOLDED_MAX = 8; // functions that call one another in turn

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

  // The same stacks with repeated calls drawn once: a function that calls itself, and up to FOLDED_MAX functions that call one
  // another in turn. `endOf` tells where each node of this tree is in the folded one.
  folded(functionOf) {
    const builder = new TreeBuilder();
    const made = new Uint32Array(this.count);
    for (let node = 1; node < this.count; node++)
      made[node] = builder.withoutRepeat(builder.child(made[this.parent[node]], this.frame[node]), functionOf);
    const {tree, place} = builder.finish();
    return {tree, endOf: made.map(node => place[node])};
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

// Makes a tree whose nodes come in any order, each after its parent. Equal children of a node are one.
class TreeBuilder {
  constructor(rootFrame = NO_FRAME) {
    this.parent = [ROOT];
    this.frame = [rootFrame];
    this.children = new Map(); // by parent, by frame
  }

  child(parent, frame) {
    let children = this.children.get(parent);
    if (!children)
      this.children.set(parent, children = new Map());
    let node = children.get(frame);
    if (node === undefined) {
      children.set(frame, node = this.frame.length);
      this.parent.push(parent);
      this.frame.push(frame);
    }
    return node;
  }

  // The node, or the one that it repeats: the last `run` frames are those before them.
  withoutRepeat(node, functionOf) {
    let before = node;
    for (let run = 1; run <= FOLDED_MAX && before !== ROOT; run++) {
      before = this.parent[before];
      if (this.isRepeat(node, before, run, functionOf))
        return before;
    }
    return node;
  }

  isRepeat(node, before, run, functionOf) {
    for (let i = 0; i < run; i++) {
      if (before === ROOT || functionOf[this.frame[node]] !== functionOf[this.frame[before]])
        return false;
      node = this.parent[node];
      before = this.parent[before];
    }
    return true;
  }

  // The tree in preorder, and the place of each node in it.
  finish() {
    const count = this.frame.length;
    const firstChild = new Int32Array(count).fill(-1);
    const sibling = new Int32Array(count).fill(-1);
    const lastFirst = Uint32Array.from(this.frame.keys()).subarray(1).sort((a, b) => this.frame[b] - this.frame[a]);
    for (const node of lastFirst) {
      sibling[node] = firstChild[this.parent[node]];
      firstChild[this.parent[node]] = node;
    }
    const tree = new Tree(count);
    const place = new Uint32Array(count);
    tree.frame[ROOT] = this.frame[ROOT];
    let next = 1;
    for (let node = firstChild[ROOT]; node > ROOT;) {
      place[node] = next;
      tree.place(next++, place[this.parent[node]], this.frame[node]);
      if (firstChild[node] >= 0) {
        node = firstChild[node];
        continue;
      }
      while (node !== ROOT && sibling[node] < 0)
        node = this.parent[node];
      node = node === ROOT ? ROOT : sibling[node];
    }
    return {tree: tree.setEnds(), place};
  }
}
