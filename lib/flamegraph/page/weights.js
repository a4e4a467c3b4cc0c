// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How much of what is chosen belongs to which stack, node and function. Everything is summed anew from the cells when
// the choice changes: one pass over cells and nodes, some ten milliseconds for a million.

// A choice: {source, measure, threads: Uint8Array by thread or null for all, cpu or -1, from, to: buckets, to excluded,
// isWhole: whether these are all buckets,
// hasIdle: whether idle CPUs and threads count, span: how much of a bucket's time one value can have; 0: values are no times}.
//
// A value that is a time lies before its event: a wait of ten seconds is in all of these, not where it ended. A thread waits
// once at a time, so all that a cell has ended in its bucket lies one after the other, back from there. But many wait for one
// who wakes them: those lie beside each other. What would lie before the first bucket is in that.
function forEachCell(cells, choice, each) {
  const weights = cells.weights[choice.measure];
  for (let i = 0; i < cells.count; i++) {
    if (cells.source[i] === choice.source && (choice.cpu < 0 || cells.cpu[i] === choice.cpu) &&
        (!choice.threads || choice.threads[cells.thread[i]]) && (choice.hasIdle || !cells.idle[i]))
      each(i, weights[i]);
  }
}

function forEachBucket(cells, i, weight, choice, each) {
  const most = choice.areBeside ? choice.span * cells.weights.count[i] : choice.span;
  let bucket = cells.bucket[i];
  let left = weight;
  for (; most && bucket > 0 && left > most; bucket--, left -= most)
    each(bucket, most);
  each(bucket, left);
}

// Events without a time belong to the whole recording and to no part of it.
function isChosen(choice, bucket) {
  return bucket === NO_TIME ? choice.isWhole : bucket >= choice.from && bucket < choice.to;
}

function stackWeights(cells, choice, nodeCount) {
  const self = new Float64Array(nodeCount);
  forEachCell(cells, choice, (i, weight) => forEachBucket(cells, i, weight, choice, (bucket, part) => {
    if (isChosen(choice, bucket))
      self[cells.stack[i]] += part;
  }));
  return self;
}

// {idle, all}: the weights of what is idle, and of everything, in the chosen time.
function idleWeight(cells, choice) {
  const sums = {idle: 0, all: 0};
  forEachCell(cells, {...choice, hasIdle: true}, (i, weight) => forEachBucket(cells, i, weight, choice, (bucket, part) => {
    if (!isChosen(choice, bucket))
      return;
    sums.all += part;
    if (cells.idle[i])
      sums.idle += part;
  }));
  return sums;
}

// The weights of stacks where they end in another tree of the same stacks.
function moveWeights(self, endOf, nodeCount) {
  const moved = new Float64Array(nodeCount);
  for (let stack = 0; stack < self.length; stack++)
    if (self[stack])
      moved[endOf[stack]] += self[stack];
  return moved;
}

// Of each node with all below it.
function totalWeights(tree, self) {
  const total = Float64Array.from(self);
  for (let node = tree.count - 1; node > ROOT; node--)
    total[tree.parent[node]] += total[node];
  return total;
}

// By function (functionOf, by frame): what ends in it, and what passes through it, in the subtree of a node. A stack in which
// it occurs twice counts once.
function functionWeights(tree, self, total, functionOf, top = ROOT) {
  const sums = {self: new Float64Array(functionOf.length), total: new Float64Array(functionOf.length)};
  const onPath = new Uint32Array(functionOf.length);
  const path = [];
  const first = Math.max(top, 1);
  for (let node = first; node < tree.end[top]; node++) {
    const frame = functionOf[tree.frame[node]];
    while (path.length > tree.depth[node] - tree.depth[first])
      onPath[path.pop()]--;
    sums.self[frame] += self[node];
    if (onPath[frame]++ === 0)
      sums.total[frame] += total[node];
    path.push(frame);
  }
  return sums;
}

// What passes through any of the matching frames, each stack once.
function matchingWeight(tree, total, matches) {
  let sum = 0;
  for (let node = 1; node < tree.count;) {
    const isMatch = matches[tree.frame[node]];
    if (isMatch)
      sum += total[node];
    node = isMatch ? tree.end[node] : node + 1;
  }
  return sum;
}

// By bucket, for each row that rowOf(cell) names; below 0 is none.
function histogram(cells, choice, rowCount, buckets, rowOf) {
  const rows = Array.from({length: rowCount}, () => new Float64Array(buckets));
  forEachCell(cells, choice, (i, weight) => {
    const row = rowOf(i);
    if (row >= 0)
      forEachBucket(cells, i, weight, choice, (bucket, part) => {
        if (bucket !== NO_TIME)
          rows[row][bucket] += part;
      });
  });
  return rows;
}
