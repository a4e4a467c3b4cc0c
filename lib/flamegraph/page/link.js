// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The state of the page as the fragment of its address, so that a link opens the same view. Only what differs from the state in
// which the page opens is there. A frame is its number in the drawn tree with its name: a page with other stacks, where that
// number has another name, is not zoomed.

const NOTE_MS = 150; // browsers refuse addresses that change at each move of the pointer
const ACTS = ['keyup', 'click', 'pointerup', 'input', 'change']; // each may end with another state of the page

class Link {
  // fields: by name {get(): text, set(text)}, in the order in which they are set.
  constructor(fields) {
    this.fields = fields;
    this.defaults = this.read();
    for (const act of ACTS)
      window.addEventListener(act, () => this.note(), true);
    window.addEventListener('hashchange', () => {
      if (location.hash !== this.written)
        this.follow();
    });
  }

  read() {
    return Object.fromEntries(Object.entries(this.fields).map(([name, field]) => [name, field.get()]));
  }

  get text() {
    const state = Object.entries(this.read()).filter(([name, text]) => text !== this.defaults[name]);
    return String(new URLSearchParams(state));
  }

  // Writes the state to the address, a moment later.
  note() {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.write();
    }, NOTE_MS);
  }

  write() {
    const {text} = this;
    history.replaceState(null, '', text ? `#${text}` : location.pathname + location.search);
    this.written = location.hash;
  }

  follow() {
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const [name, field] of Object.entries(this.fields)) {
      const text = asked.get(name) ?? this.defaults[name];
      if (text !== field.get())
        field.set(text);
    }
    this.written = location.hash;
    this.note();
  }
}

function selectField(select, listen) {
  return {get: () => select.value, set: text => {
    if (![...select.options].some(option => option.value === text))
      return;
    select.value = text;
    listen();
  }};
}

function frameText(chart, node) {
  return node === ROOT ? '' : `${node}.${chart.label(node)}`;
}

// The node that frameText() has named, or the root.
function frameFrom(chart, text) {
  const [, number, label] = /^(\d+)\.(.*)$/s.exec(text) ?? [];
  const node = Number(number);
  return node < chart.tree.count && chart.label(node) === label ? node : ROOT;
}
