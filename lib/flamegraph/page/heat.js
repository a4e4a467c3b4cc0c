// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The heat map of time: a column for each second (or as many seconds as keep columns wide enough), in it a row for each part of
// that, one bucket each, from above. The darker a cell, the more events. Dragging from one cell to another selects the time between.

const HEAT_COLUMN_MIN = 6;
const HEAT_STEPS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];
const HEAT_HEIGHT = 132;

class HeatMap {
  // timeline: has the canvas, the selected time and the buckets.
  constructor(timeline, values) {
    this.timeline = timeline;
    this.values = values;
    this.most = values.reduce((a, b) => Math.max(a, b), 0);
    this.place();
  }

  // A part of a second may be too short for a bucket to begin in it, so that rows are as many as buckets in the fullest column.
  place() {
    const {buckets, bucketSeconds} = this.timeline;
    const seconds = buckets * bucketSeconds;
    const most = Math.max((this.timeline.width - this.timeline.left) / HEAT_COLUMN_MIN, 1);
    // A recording of less than some seconds has columns of parts of a second.
    this.column = seconds < 8 ? roundStep(seconds, 24) : HEAT_STEPS.find(step => seconds / step <= most) ?? seconds / most;
    this.columns = Math.max(Math.ceil(seconds / this.column - 1e-9), 1);
    this.rows = Math.max(Math.ceil(this.column / bucketSeconds), 1);
  }

  // {column, row} of a bucket, by its begin.
  cellOf(bucket) {
    const begin = bucket * this.timeline.bucketSeconds;
    const column = Math.min(Math.floor(begin / this.column + 1e-9), this.columns - 1);
    return {column, row: Math.min(Math.floor((begin - column * this.column) / this.timeline.bucketSeconds + 1e-6), this.rows - 1)};
  }

  get cellSize() {
    return {width: (this.timeline.width - this.timeline.left) / this.columns, height: HEAT_HEIGHT / this.rows};
  }

  xOf(seconds) {
    return this.timeline.left + seconds / this.column * this.cellSize.width;
  }

  paint(context, colours) {
    const {left, from, to, isWhole} = this.timeline;
    const {width, height} = this.cellSize;
    this.values.forEach((value, bucket) => {
      const {column, row} = this.cellOf(bucket);
      const isChosen = !isWhole && bucket >= from && bucket < to;
      if (!value && !isChosen)
        return;
      const x = left + column * width;
      const gap = width > 4 ? 1 : 0;
      context.globalAlpha = value ? 0.15 + 0.85 * Math.sqrt(value / this.most) : 0.15;
      context.fillStyle = isChosen ? colours.chosen : colours.heat;
      context.fillRect(x, row * height, width - gap, Math.max(height - (height > 3 ? 1 : 0), 0.5));
    });
    context.globalAlpha = 1;
  }

  // The bucket of the cell at a place; in a column with fewer rows, its last one.
  bucketAt(x, y) {
    const {width, height} = this.cellSize;
    const column = Math.min(Math.max(Math.floor((x - this.timeline.left) / width), 0), this.columns - 1);
    const row = Math.min(Math.max(Math.floor(y / height), 0), this.rows - 1);
    const first = Math.ceil(column * this.column / this.timeline.bucketSeconds - 1e-9);
    const behind = Math.ceil((column + 1) * this.column / this.timeline.bucketSeconds - 1e-9);
    return Math.max(Math.min(first + row, behind - 1, this.timeline.buckets - 1), 0);
  }
}
