// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The data of the page (lib/flamegraph/page_data.h), unpacked into typed columns.

// Names come from recordings, which may be of anybody: what would not be seen, or would turn text around, is shown.
const PATH_MAX = 48;
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

function visible(text) {
  return text.replace(INVISIBLE, '?');
}

// A command line is shown as it was typed: its lines stay lines.
function visibleLines(text) {
  return text.split(/([\n\t])/).map((part, i) => i % 2 ? part : visible(part)).join('');
}

// The last parts of a long path.
function shortPath(path) {
  return path.length <= PATH_MAX ? path : `\u2026/${path.split('/').slice(-2).join('/')}`;
}

function fileName(path) {
  return path.replace(/^.*\/(?=.)/, '');
}

// Sources whose events are waits of the thread whose stack they have. A thread that is runnable waits for a CPU, not for work.
const WAITS = /^(off-?cpu(-time)?|time:(interruptible|uninterruptible|stopped))$/;

const NO_TIME = -1; // the bucket of events that are counted only

class Cells {
  constructor(columns) {
    this.count = columns.stack.length;
    this.bucket = new Int32Array(this.count).fill(NO_TIME);
    let bucket = 0;
    for (let i = 0; i < columns.bucket.length; i++)
      this.bucket[i] = bucket += columns.bucket[i];
    this.stack = Uint32Array.from(columns.stack);
    this.source = Uint16Array.from(columns.source);
    this.thread = Uint32Array.from(columns.thread);
    this.cpu = Uint16Array.from(columns.cpu);
    this.weights = {count: Float64Array.from(columns.count), value: Float64Array.from(columns.value)};
    this.buckets = bucket + 1;
  }

  // Samples of CPUs that have nothing to do, and waits of threads that wait for work.
  markIdle({threads, sources, idleNodes}) {
    const isWait = sources.map(({name}) => WAITS.test(name));
    this.idle = Uint8Array.from(this.stack, (stack, i) => threads[this.thread[i]].tid === 0 ||
      isWait[this.source[i]] && idleNodes[stack] === 1);
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
    this.lines = this.findLines(data.lines);
    this.functionOf = this.findFunctions();
    this.labels = this.findLabels();
    this.bucketSeconds = data.bucket;
    this.cells = data.cells.map(columns => new Cells(columns));
    this.buckets = Math.max(...this.cells.map(cells => cells.buckets));
    this.tree = Tree.fromColumns(data.nodes.up, data.nodes.frame);
    this.idleNodes = this.findIdle(data.idle);
    for (const cells of this.cells)
      cells.markIdle(this);
    this.waits = new Waits(data.waits, this);
    this.origins = new Origins(data.works);
    this.values = new Values(data.values, this);
    this.states = new States(this, data.times);
  }

  // By node, whether a thread that waits there waits for work: one of these frames is on its stack.
  findIdle(frames) {
    const {tree} = this;
    const isIdle = new Uint8Array(this.frameCount);
    for (const frame of frames)
      isIdle[frame] = 1;
    const nodes = new Uint8Array(tree.count);
    for (let node = 1; node < tree.count; node++)
      nodes[node] = nodes[tree.parent[node]] | isIdle[tree.frame[node]];
    return nodes;
  }

  // By frame: its source lines, those with most events first. text: where; path: of the file, null of all other lines together.
  findLines({file, frame, path, line, count}) {
    const paths = file.map(visible);
    const lines = new Map();
    let at = 0;
    frame.forEach((step, i) => {
      at += step;
      const others = `${line[i]} other ${line[i] === 1 ? 'line' : 'lines'}`;
      const entry = path[i] < 0 ? {path: null, text: others, count: count[i]} :
        {path: paths[path[i]], text: `${shortPath(paths[path[i]])}:${line[i]}`, count: count[i]};
      if (!lines.get(at)?.push(entry))
        lines.set(at, [entry]);
    });
    return lines;
  }

  // By frame, the first frame of the same name and file.
  findFunctions() {
    const first = new Map();
    return Uint32Array.from(this.names, (name, frame) => {
      const key = `${this.objectOf[frame]} ${name}`;
      const found = this.isFunction(frame) ? first.get(key) : frame;
      if (found === undefined)
        first.set(key, frame);
      return found ?? frame;
    });
  }

  // By frame: the name, with the file where functions of that name are in several.
  findLabels() {
    const paths = new Map(); // by name
    this.names.forEach((name, frame) => {
      if (this.isFunction(frame))
        paths.set(name, (paths.get(name) ?? new Set()).add(this.object(frame)));
    });
    return this.names.map((name, frame) => {
      const others = this.isFunction(frame) ? paths.get(name) : new Set();
      if (others.size < 2)
        return name;
      const path = this.object(frame);
      const isAlone = [...others].filter(other => fileName(other) === fileName(path)).length === 1;
      return `${name} (${(isAlone ? fileName(path) : path) || 'unknown file'})`;
    });
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
