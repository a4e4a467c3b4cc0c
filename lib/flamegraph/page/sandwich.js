// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The sandwich of a function: all its callers as one tree, from the function outwards, and all its callees as another, from the
// function inwards. A stack in which the function occurs several times counts once, at the outermost occurrence, so both trees
// have the weight that the table calls total.

class Sandwich {
  // functionOf[frame] === wanted is the function.
  constructor(tree, functionOf, wanted) {
    this.stacks = tree;
    this.tops = []; // outermost occurrences
    for (let node = 1; node < tree.count;) {
      const isTop = functionOf[tree.frame[node]] === wanted;
      if (isTop)
        this.tops.push(node);
      node = isTop ? tree.end[node] : node + 1;
    }
    this.callers = this.makeCallers(wanted);
    this.callees = this.makeCallees(wanted);
  }

  // ends: by top, where its outermost caller is.
  makeCallers(wanted) {
    const {stacks} = this;
    const builder = new TreeBuilder(wanted);
    const made = this.tops.map(top => {
      let at = ROOT;
      for (let node = stacks.parent[top]; node !== ROOT; node = stacks.parent[node])
        at = builder.child(at, stacks.frame[node]);
      return at;
    });
    const {tree, place} = builder.finish();
    return {tree, ends: made.map(node => place[node])};
  }

  // nodes: those of the stacks that lie in or below a top, places: where they are.
  makeCallees(wanted) {
    const {stacks} = this;
    const builder = new TreeBuilder(wanted);
    const made = new Uint32Array(stacks.count);
    const nodes = [];
    for (const top of this.tops) {
      nodes.push(top);
      for (let node = top + 1; node < stacks.end[top]; node++) {
        made[node] = builder.child(made[stacks.parent[node]], stacks.frame[node]);
        nodes.push(node);
      }
    }
    const {tree, place} = builder.finish();
    return {tree, nodes, places: nodes.map(node => place[made[node]])};
  }

  // Tells of stacks whether they have a part for which isIn(), a place in the tree of callers or in that of callees. endOf: where
  // nodes of the profile's tree are in that of the stacks, or null.
  partOf(ofCallers, isIn, endOf) {
    const {stacks} = this;
    const isPart = new Uint8Array(stacks.count);
    if (ofCallers)
      this.tops.forEach((top, i) => isIn(this.callers.ends[i]) && isPart.fill(1, top, stacks.end[top]));
    else
      this.callees.nodes.forEach((node, i) => {
        isPart[node] = isIn(this.callees.places[i]) ? 1 : 0;
      });
    return stack => isPart[endOf ? endOf[stack] : stack] === 1;
  }

  // total: of the stacks' nodes.
  callersTotal(total) {
    const {tree, ends} = this.callers;
    const ending = new Float64Array(tree.count);
    this.tops.forEach((top, i) => ending[ends[i]] += total[top]);
    return totalWeights(tree, ending);
  }

  calleesSelf(self) {
    const {tree, nodes, places} = this.callees;
    const own = new Float64Array(tree.count);
    nodes.forEach((node, i) => own[places[i]] += self[node]);
    return own;
  }
}
