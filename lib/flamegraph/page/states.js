// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The states of threads over time, of a recording with an account of time. By bucket, the waits in a state are those of the state's
// event; a thread runs in the rest of its life. Single waits, which are exact, are drawn above that where they are wide enough.

const STATES = ['running', 'runnable', 'uninterruptible', 'interruptible', 'stopped', 'idle']; // from below
const BLOCKED = {interruptible: 'asleep', uninterruptible: 'asleep, uninterruptibly', stopped: 'stopped', runnable: 'runnable: waits for a CPU',
  idle: 'idle: waits for work', running: 'running'};

class States {
  constructor(profile, times) {
    this.profile = profile;
    this.cells = profile.cells[0];
    this.sources = STATES.map(state => profile.sources.findIndex(({name}) => name === `time:${state}`));
    this.accounts = new Map(); // by thread
    times.tid.forEach((tid, i) => {
      const key = `${times.pid[i]} ${tid}`;
      this.accounts.set(key, [...this.accounts.get(key) ?? [], {begin: times.begin[i] / 1e6, end: times.end[i] / 1e6,
        spent: Object.fromEntries(STATES.slice(0, 5).map(state => [state, times[state][i]]))}]);
    });
    this.threads = this.findThreads();
  }

  get isThere() {
    return this.accounts.size > 0;
  }

  // Threads with an account: {key, numbers: of the profile's threads, which have a name each, text, accounts}.
  findThreads() {
    const threads = new Map();
    this.profile.threads.forEach((thread, number) => {
      const key = `${thread.pid} ${thread.tid}`;
      if (thread.isJoined || !this.accounts.has(key))
        return;
      const found = threads.get(key) ?? {key, numbers: [], accounts: this.accounts.get(key)};
      found.numbers.push(number);
      found.text = threadText(thread);
      threads.set(key, found);
    });
    return [...threads.values()];
  }

  // The threads whose name or number has the text, those with most of the chosen event first.
  find(text, choice) {
    const rowOf = this.rowsOf(this.threads);
    const weights = new Float64Array(this.threads.length);
    forEachCell(this.cells, {...choice, threads: null}, (i, weight) => {
      const row = rowOf[this.cells.thread[i]];
      if (row >= 0)
        weights[row] += weight;
    });
    const wanted = text.toLowerCase();
    return this.threads.map((thread, row) => ({thread, weight: weights[row]}))
      .filter(({thread}) => thread.text.toLowerCase().includes(wanted))
      .sort((a, b) => b.weight - a.weight).map(({thread}) => thread);
  }

  // By the profile's thread, the row of the given threads, or -1.
  rowsOf(threads) {
    const rows = new Int32Array(this.profile.threads.length).fill(-1);
    threads.forEach(({numbers}, row) => numbers.forEach(number => rows[number] = row));
    return rows;
  }

  // For each of the threads, seconds by state and bucket.
  bands(threads) {
    const {cells, profile} = this;
    const {buckets, bucketSeconds} = profile;
    const rowOf = this.rowsOf(threads);
    const bands = threads.map(() => Object.fromEntries(STATES.map(state => [state, new Float64Array(buckets)])));
    STATES.slice(1, 5).forEach((state, i) => {
      const choice = {source: this.sources[i + 1], measure: 'value', threads: null, cpu: -1, hasIdle: true, span: bucketSeconds * 1e9};
      const rows = histogram(cells, choice, 2 * threads.length, buckets, cell => {
        const row = rowOf[cells.thread[cell]];
        return row < 0 ? row : cells.idle[cell] ? threads.length + row : row;
      });
      threads.forEach((_, row) => rows[row].forEach((ns, bucket) => {
        bands[row][state][bucket] += ns / 1e9;
        bands[row].idle[bucket] += rows[threads.length + row][bucket] / 1e9;
      }));
    });
    threads.forEach((thread, row) => this.addRunning(thread, bands[row]));
    return bands;
  }

  // A wait that has ended within a bucket counts from the bucket's end backwards. What a bucket has too much of waiting is taken
  // from the running of those before it, so that the sum is right.
  addRunning({accounts}, band) {
    const {bucketSeconds} = this.profile;
    let surplus = 0;
    for (let bucket = band.running.length - 1; bucket >= 0; bucket--) {
      const begin = bucket * bucketSeconds;
      const life = accounts.reduce((sum, account) =>
        sum + Math.max(0, Math.min(account.end, begin + bucketSeconds) - Math.max(account.begin, begin)), 0);
      const waited = STATES.slice(1).reduce((sum, state) => sum + band[state][bucket], 0);
      const rest = life - waited - surplus;
      band.running[bucket] = Math.max(0, rest);
      surplus = Math.max(0, -rest);
    }
  }

  strips(threads) {
    const bands = this.bands(threads);
    return threads.map((thread, row) => ({label: thread.text, bands: bands[row], thread, waits: this.profile.waits.of(thread)}));
  }
}
