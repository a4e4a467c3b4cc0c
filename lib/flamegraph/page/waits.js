// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Single waits of threads, the longest of each, and the panel that shows one: how long, in which state, from which stack, and which
// thread ended the wait, with its stack.

class Waits {
  constructor(columns, {sources, idleNodes}) {
    this.all = columns.thread.map((thread, i) => ({thread, begin: columns.begin[i] / 1e6,
      end: (columns.begin[i] + columns.length[i]) / 1e6, ns: columns.length[i] * 1e3, stack: columns.stack[i],
      waker: columns.waker[i], wakerStack: columns.wakerStack[i], queuer: columns.queuer[i] ?? -1, queuerStack: columns.queuerStack[i],
      wakerQueuer: columns.wakerQueuer[i] ?? -1, wakerQueuerStack: columns.wakerQueuerStack[i], ...this.stateOf(sources[columns.source[i]].name, idleNodes[columns.stack[i]])}));
    this.byThread = new Map();
    for (const wait of this.all)
      if (!this.byThread.get(wait.thread)?.push(wait))
        this.byThread.set(wait.thread, [wait]);
  }

  // state: of the account of time; a wait off the CPU lasts until the thread runs.
  stateOf(source, isIdle) {
    const [, state] = /^time:(.*)/.exec(source) ?? [];
    return {state: isIdle && state === 'interruptible' ? 'idle' : state ?? null};
  }

  of({numbers}) {
    return numbers.flatMap(number => this.byThread.get(number) ?? []).sort((a, b) => a.begin - b.begin);
  }
}

// Of the waits of a thread at a time, the one in a state, and the one that knows its waker.
function waitsAt(waits, seconds) {
  const there = waits.filter(({begin, end}) => begin <= seconds && seconds <= end);
  const shortest = found => found.sort((a, b) => a.ns - b.ns)[0] ?? null;
  return {inState: shortest(there.filter(({state}) => state)), ended: shortest(there.filter(({state}) => !state))};
}

// The frames of a node, innermost first.
function listStack(element, node, profile) {
  const {tree, labels} = profile;
  const items = [];
  for (let at = node ?? ROOT; at !== ROOT; at = tree.parent[at]) {
    const item = document.createElement('li');
    item.textContent = labels[tree.frame[at]];
    item.title = lineTexts(profile, tree.frame[at]).join('\n');
    items.push(item);
  }
  element.replaceChildren(...items);
}

class WaitPanel extends EventTarget {
  constructor(elements, profile) {
    super();
    Object.assign(this, elements); // panel, title, about, sleeper, waker, wakerTitle, go, origin and wakerOrigin: [title, list]
    this.profile = profile;
    this.go.addEventListener('click', () => this.dispatchEvent(new CustomEvent('waker', {detail: this.wait})));
  }

  get isOpen() {
    return !this.panel.hidden;
  }

  close() {
    this.panel.hidden = true;
    this.wait = null;
  }

  // thread: of the states; fallback: the state by the bucket where no single wait is known.
  show(thread, seconds, waits, fallback) {
    const {inState, ended} = waitsAt(waits, seconds);
    const wait = ended ?? inState;
    this.wait = ended;
    this.panel.hidden = false;
    this.title.textContent = thread.text;
    const state = inState?.state ?? fallback;
    const shown = inState ?? wait;
    this.about.textContent = [BLOCKED[state] ?? 'no such time', ...shown ? [`${weightText(shown.ns, 'ns')}, ${secondsText(shown.begin)} to ${secondsText(shown.end)}`] :
      [`at ${secondsText(seconds)}`]].join(' \u00b7 ');
    const blocked = wait && state !== 'running' ? wait : null;
    listStack(this.sleeper, blocked && blocked.stack, this.profile);
    this.showOrigin(this.origin, blocked ? blocked.queuer : -1, blocked?.queuerStack);
    const isWoken = ended !== null && state !== 'running' && ended.waker >= 0;
    this.wakerTitle.textContent = isWoken ? `woken by ${threadText(this.profile.threads[ended.waker])}` : '';
    listStack(this.waker, isWoken ? ended.wakerStack : null, this.profile);
    this.showOrigin(this.wakerOrigin, isWoken ? ended.wakerQueuer : -1, ended?.wakerQueuerStack);
    this.go.hidden = !isWoken || this.profile.threads[ended.waker].tid === null;
  }

  // The thread and stack that queued the work. A queuer of -1 is unknown.
  showOrigin([title, list], queuer, node) {
    title.textContent = queuer >= 0 ? `queued by ${threadText(this.profile.threads[queuer])}` : '';
    title.parentNode.hidden = queuer < 0;
    listStack(list, queuer >= 0 ? node : null, this.profile);
  }
}
