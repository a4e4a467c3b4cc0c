// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The lines of a frame's tooltip: its name, its file, its weight with shares, and its own part.

const NAME_MAX = 200; // longer names lose their middle where the table would be pushed out of sight

function shortened(name) {
  return name.length <= NAME_MAX ? name : `${name.slice(0, NAME_MAX / 2)}\u2026${name.slice(1 - NAME_MAX / 2)}`;
}

function amountText(weight, unit) {
  return unit ? weightText(weight, unit) : exactText(weight, '');
}

function weightLine(weight, whole, unit) {
  return `${amountText(weight, unit)}, ${percentText(weight, whole)}`;
}

// The frame whose share of its own a chart shows beside the share of all: the zoomed one, or the function of a sandwich.
function partLine(chart, node) {
  const {zoom, tree, total} = chart;
  if (zoom === ROOT && tree.frame[ROOT] === NO_FRAME)
    return [];
  const isIn = node >= zoom && node < tree.end[zoom];
  const name = zoom === ROOT ? shortened(chart.label(ROOT)) : 'the zoomed frame';
  return isIn && node !== zoom ? [`${percentText(total[node], total[zoom])} of ${name}`] : [];
}

// Source lines of a frame, with their parts of the events in which the frame is on a stack, once for each call.
function lineTexts(profile, frame) {
  const lines = profile.lines.get(frame) ?? [];
  const whole = lines.reduce((sum, {count}) => sum + count, 0);
  return lines.length === 1 ? [lines[0].text] : lines.map(({text, count}) => `${text} ${percentText(count, whole)}`);
}

// chart: {tree, total, whole, sides: before and after, each {total, whole}, self or null}.
function frameLines(chart, node, profile, unit, scales) {
  const frame = chart.tree.frame[node];
  const about = frame === NO_FRAME ? [] : [[profile.kindName(frame), profile.object(frame)].filter(Boolean).join(', ')];
  const own = chart.self?.[node] ? [`own: ${weightLine(chart.self[node], chart.whole, unit)}`] : [];
  const lines = lineTexts(profile, frame);
  const head = [chart.label(node), ...about, ...lines.length ? [lines.join(', ')] : []];
  if (!profile.isDiff)
    return [...head, weightLine(chart.total[node], chart.whole, unit), ...partLine(chart, node), ...own];
  const [before, after] = chart.sides.map(({total, whole}) => ({weight: total[node], whole}));
  return [...head, `before: ${weightLine(before.weight, before.whole, unit)}`, `after: ${weightLine(after.weight, after.whole, unit)}`,
    changeText(before, after, unit, scales), ...partLine(chart, node), ...own];
}
