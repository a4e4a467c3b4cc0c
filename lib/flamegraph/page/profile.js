// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The data of the page (lib/flamegraph/page_data.h), unpacked into typed columns.

// Names come from recordings, which may be of anybody: what would not be seen, or would turn text around, is shown.
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

function visible(text) {
  return text.replace(INVISIBLE, '?');
}

class Cells {
  constructor(columns) {
    this.count = columns.stack.length;
    this.bucket = new Uint32Array(this.count);
    let bucket = 0;
    for (let i = 0; i < this.count; i++)
      this.bucket[i] = bucket += columns.bucket[i];
    this.stack = Uint32Array.from(columns.stack);
    this.source = Uint16Array.from(columns.source);
    this.thread = Uint32Array.from(columns.thread);
    this.cpu = Uint16Array.from(columns.cpu);
    this.weights = {count: Float64Array.from(columns.count), value: Float64Array.from(columns.value)};
    this.buckets = bucket + 1;
  }
}

class Profile {
  constructor(data) {
    this.recordings = data.recordings;
    this.isDiff = data.recordings.length > 1;
    this.sources = data.sources;
    this.threads = data.threads.map(thread => ({...thread, comm: visible(thread.comm) || '[unknown]'}));
    this.kinds = data.kinds;
    this.objects = data.objects.map(visible);
    this.names = data.frames.name.map(visible);
    this.objectOf = data.frames.object;
    this.kindOf = data.frames.kind;
    this.functionOf = this.findFunctions();
    this.bucketSeconds = data.bucket;
    this.cells = data.cells.map(columns => new Cells(columns));
    this.buckets = Math.max(...this.cells.map(cells => cells.buckets));
    this.tree = Tree.fromColumns(data.nodes.up, data.nodes.frame);
  }

  // By frame, the first frame of the same name: functions of one name in several files are one, as in `stackmap report -s symbol`.
  findFunctions() {
    const first = new Map();
    this.sameName = new Map(); // the others, by the first
    return Uint32Array.from(this.names, (name, frame) => {
      const found = this.isFunction(frame) ? first.get(name) : frame;
      if (found === undefined)
        first.set(name, frame);
      else if (this.sameName.has(found))
        this.sameName.get(found).push(frame);
      else if (found !== frame)
        this.sameName.set(found, [frame]);
      return found ?? frame;
    });
  }

  // The files that a function is in.
  objectsOf(frame) {
    return [...new Set([frame, ...this.sameName.get(frame) ?? []].map(each => this.object(each)))];
  }

  get frameCount() {
    return this.names.length;
  }

  kindName(frame) {
    return this.kinds[this.kindOf[frame]];
  }

  object(frame) {
    return this.objects[this.objectOf[frame]];
  }

  // Task names and markers are no functions.
  isFunction(frame) {
    return this.kindName(frame) !== 'task' && this.kindName(frame) !== 'missing';
  }

  // Nodes in which some stack ends, ascending.
  stackEnds() {
    const isEnd = new Uint8Array(this.tree.count);
    for (const cells of this.cells)
      for (const stack of cells.stack)
        isEnd[stack] = 1;
    return Uint32Array.from(isEnd.keys()).filter(node => isEnd[node]);
  }
}
