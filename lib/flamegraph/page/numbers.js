// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Numbers as people read them.

const TIMES = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']];
const SIZES = [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']];
const LARGE = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e4, 'k', 1e3]];

function scaled(number, steps) {
  const step = steps.find(([least]) => number >= least);
  if (!step)
    return String(number);
  const [least, suffix, by = least] = step;
  const part = number / by;
  return `${part >= 100 || by === 1 ? Math.round(part) : part.toPrecision(3)} ${suffix}`.trim();
}

// unit: that of a source, "" counts events.
function weightText(number, unit) {
  if (unit === 'ns')
    return scaled(number, TIMES);
  if (unit === 'bytes' || unit === 'B')
    return scaled(number, SIZES);
  return scaled(number, LARGE) + (unit ? ' ' + unit : '');
}

// JavaScript's numbers are exact up to 2^53: larger ones are marked.
function exactText(number, unit) {
  const about = Math.abs(number) > Number.MAX_SAFE_INTEGER ? '\u2248' : '';
  const digits = about + Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, ',');
  return `${digits} ${unit || (number === 1 ? 'event' : 'events')}`;
}

function percentText(part, whole) {
  return whole > 0 ? (100 * part / whole).toFixed(2) + '%' : '0.00%';
}

function pointsText(before, after) {
  const points = 100 * (after - before);
  return `${points > 0 ? '+' : ''}${points.toFixed(2)}`;
}

function signed(number, text) {
  return `${number > 0 ? '+' : number < 0 ? '-' : ''}${text(Math.abs(number))}`;
}

// Of what is there before and after, each {weight, whole}: the weight, in parts of what it was, and its share. A share
// changes because of all the others, too.
const NOISE_DEVIATIONS = 3;

function share({weight, whole}) {
  return whole > 0 ? weight / whole : 0;
}

// True if two shares differ by no more than chance explains. Only numbers of events are judged: the page does not have the
// events behind a time or a size.
function isNoise(before, after, unit) {
  const variance = side => side.whole > 0 ? share(side) * (1 - share(side)) / side.whole : 0;
  const change = Math.abs(share(after) - share(before));
  return !unit && change > 0 && change <= NOISE_DEVIATIONS * Math.sqrt(variance(before) + variance(after));
}

// The scales are those of the source in the two recordings. The change is that of all events that were produced: lost events are
// no gain in speed. Shares are those of the events in the file.
function changeText(before, after, unit, scales) {
  const [old, now] = [before, after].map(({weight}, side) => weight * scales[side]);
  const change = now - old;
  const relative = old > 0 ? signed(100 * change / old, part => `${part.toFixed(2)}%`) : 'new';
  const estimated = scales.some(scale => scale > 1) ? ', with what was lost' : '';
  return `change: ${signed(change, number => exactText(number, unit))} (${relative}${estimated}), ` +
    `${pointsText(share(before), share(after))} points of share` +
    (isNoise(before, after, unit) ? ', within the noise' : '');
}

function secondsText(seconds) {
  return seconds.toFixed(seconds < 10 ? 4 : 3) + ' s';
}

// As the --time option takes it.
function exactSeconds(seconds) {
  return seconds.toFixed(9);
}
