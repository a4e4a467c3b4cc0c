// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The frames of a chart for programs that read the page to people: a tree of elements that has no size, as pixels of a canvas
// cannot be read. The list has the outer rows, and the frame at the focus wherever it is.

const LISTED_MAX = 200;
const LISTED_WIDTH = 4; // narrower frames are listed only at the focus

function frameItem(chart, node) {
  const item = document.createElement('div');
  const total = chart.total[node];
  item.id = `${chart.section.id}-frame-${node}`;
  item.dataset.node = node;
  item.textContent = `${chart.label(node)}, ${percentText(total, chart.whole)}`;
  item.setAttribute('role', 'treeitem');
  item.setAttribute('aria-level', chart.tree.depth[node] + 1);
  return item;
}

function listFrames(chart) {
  const items = [];
  for (const {node, width} of chart.layout.rows)
    for (let i = 0; i < node.length && items.length < LISTED_MAX; i++)
      if (width[i] >= LISTED_WIDTH)
        items.push(frameItem(chart, node[i]));
  chart.frames.replaceChildren(...items);
  listFocused(chart);
}

function listFocused(chart) {
  const id = `${chart.section.id}-frame-${chart.focused}`;
  if (!document.getElementById(id))
    chart.frames.append(frameItem(chart, chart.focused));
  chart.section.setAttribute('aria-activedescendant', id);
}
