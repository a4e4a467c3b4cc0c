// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What there is to choose from, as entries of <select> elements: sources, threads, CPUs.

const THREADS_MAX = 2000; // entries of a list that people still scroll through

function fillSelect(select, entries) {
  select.replaceChildren(...entries.map(([value, text]) => new Option(text, value)));
  select.disabled = entries.length < 2;
}

// By a field of the cells: the events of each value, hottest first.
function eventsBy(profile, field) {
  const events = new Map();
  for (const cells of profile.cells)
    for (let i = 0; i < cells.count; i++)
      events.set(cells[field][i], (events.get(cells[field][i]) ?? 0) + cells.weights.count[i]);
  return [...events].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

// The id is null in samples of interrupts, which belong to no thread.
function threadText({comm, tid}) {
  return tid === null ? comm : `${comm} ${tid || '?'}`;
}

function sourceEntries(profile) {
  return eventsBy(profile, 'source').map(([source, events]) =>
    [source, `${visible(profile.sources[source].name)} (${weightText(events, '')})`]);
}

function measureEntries(profile, source) {
  const unit = profile.sources[source]?.unit;
  return unit ? [['value', unit], ['count', 'events']] : [['count', 'events']];
}

// Processes of several threads come as a whole, too.
function threadEntries(profile) {
  const byEvents = eventsBy(profile, 'thread').map(([thread]) => thread);
  const threadsOf = new Map();
  for (const {pid} of profile.threads)
    threadsOf.set(pid, (threadsOf.get(pid) ?? 0) + 1);
  const entries = [['', 'all']];
  const listed = new Set();
  for (const thread of byEvents.slice(0, THREADS_MAX)) {
    const {pid, comm} = profile.threads[thread];
    if (pid && !listed.has(pid) && threadsOf.get(pid) > 1)
      entries.push([`pid:${pid}`, `${comm}: process ${pid}`]);
    listed.add(pid);
    entries.push([`thread:${thread}`, threadText(profile.threads[thread])]);
  }
  return entries;
}

const CPUS_JOINED = 0xffff; // of events whose CPU the page does not know

function cpuText(cpu) {
  return cpu === CPUS_JOINED ? 'any CPU' : `CPU ${cpu}`;
}

function cpuEntries(profile) {
  const cpus = eventsBy(profile, 'cpu').map(([cpu]) => cpu).filter(cpu => cpu !== CPUS_JOINED).sort((a, b) => a - b);
  return [['-1', 'all'], ...cpus.map(cpu => [cpu, cpuText(cpu)])];
}

// The threads that an entry stands for, by thread; null for all.
function chosenThreads(profile, value) {
  const [kind, number] = value.split(':');
  if (!kind)
    return null;
  return Uint8Array.from(profile.threads, (thread, i) => (kind === 'pid' ? thread.pid : i) === Number(number));
}

// The search for one name and no other.
function exactQuery(name) {
  return `/^${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$/`;
}

// Whether a name matches: /.../ and /.../i are regular expressions, all else is plain text.
function matcher(query) {
  const expression = /^\/(.+)\/(i?)$/.exec(query);
  if (!expression) {
    const text = query.toLowerCase();
    return name => name.toLowerCase().includes(text);
  }
  try {
    const pattern = new RegExp(expression[1], expression[2]);
    return name => pattern.test(name);
  } catch {
    return () => false;
  }
}

// Tells for each frame whether the search matches its name or its name with the file; null without a search.
function matchingFrames(profile, query) {
  if (!query)
    return null;
  const matches = matcher(query);
  return Uint8Array.from(profile.names, (name, frame) => matches(name) || matches(profile.labels[frame]));
}
