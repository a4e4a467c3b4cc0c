// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The page: reads what is chosen, sums it up, and has the parts show it.

const COLOURS = [['kind', 'kernel, user, JIT, inlined'], ['object', 'file'], ['name', 'function']];
const STRIPS_MAX = 100;

const NAME_MAX = 200; // longer names lose their middle where the table would be pushed out of sight

function shortened(name) {
  return name.length <= NAME_MAX ? name : `${name.slice(0, NAME_MAX / 2)}\u2026${name.slice(1 - NAME_MAX / 2)}`;
}

// The qualities of user stacks as texts. `stacks` is null if the recording has no ledger.
function qualityTexts(stacks) {
  if (!stacks)
    return [];
  const {whole, guessed, unknown, cut} = stacks;
  const known = whole + guessed + cut;
  const count = number => exactText(number, number === 1 ? 'user stack' : 'user stacks');
  const texts = [[unknown, `${count(unknown)} by frame pointers alone: callers may be missing`],
    [known, `${percentText(whole, known)} of ${count(known)} whole`], [guessed, `${count(guessed)} with a guessed caller`],
    [cut, `${count(cut)} cut or missing`]];
  return texts.filter(([number]) => number).map(([, text]) => text);
}

class Page {
  constructor(profile) {
    this.profile = profile;
    this.elements = Object.fromEntries([...document.querySelectorAll('[id]')].map(element => [element.id, element]));
    this.isInverted = false;
    this.matches = null;
    this.describe();
    this.fillChoices();
    this.makeParts();
    this.listen();
    this.update();
  }

  describe() {
    const {recordings} = this.profile;
    const names = recordings.map(recording => visible(recording.name));
    this.elements.title.textContent = document.title = names.join(' \u2192 ');
    const about = recordings.map(recording => this.about(recording)).join(' \u2192 ');
    this.elements.about.textContent = this.elements.about.title = about;
  }

  about({host, kernel, command, start, events, produced, recorded, userStacks}) {
    const lost = produced === null ? 'not finished: no ledger' : `${exactText(produced - recorded, '')} lost`;
    const when = new Date(start * 1000).toISOString().replace('T', ' ').slice(0, 19);
    return [visible(command), `${visible(host)}, Linux ${visible(kernel)}`, `${when} UTC`, exactText(events, ''), lost,
      ...qualityTexts(userStacks)].join(' \u00b7 ');
  }

  fillChoices() {
    const {source, thread, cpu, colour, base, rows} = this.elements;
    const {profile} = this;
    fillSelect(source, sourceEntries(profile));
    fillSelect(thread, threadEntries(profile));
    fillSelect(cpu, cpuEntries(profile));
    fillSelect(colour, profile.isDiff ? [['change', 'change'], ...COLOURS] : COLOURS);
    fillSelect(base, [[1, 'after'], [0, 'before']]);
    fillSelect(rows, [['', 'all'], ['thread', 'by thread'], ['cpu', 'by CPU']]);
    this.elements['base-label'].hidden = !profile.isDiff;
    this.fillMeasures();
  }

  fillMeasures() {
    fillSelect(this.elements.measure, measureEntries(this.profile, this.elements.source.value));
  }

  makeParts() {
    const {elements, profile} = this;
    this.chart = new Chart({chart: elements.chart, view: elements.view, canvas: elements['chart-canvas'],
      spacer: elements.spacer, hover: elements.hover, focus: elements.focus}, node => this.label(node));
    this.timeline = new Timeline(elements['timeline-canvas'], elements['timeline-scroll'], profile.buckets);
    this.functions = new FunctionTable({body: elements['rows-of-functions'], more: elements['more-functions'],
      of: elements['functions-of'], changeHead: elements['change-head'], heads: {self: elements['sort-self'], total: elements['sort-total'],
        ...profile.isDiff && {change: elements['sort-change']}}}, profile);
    this.setTheme(matchMedia('(prefers-color-scheme: dark)'));
  }

  setTheme(query) {
    this.palette = new Palette(this.profile, query.matches);
  }

  listen() {
    const {elements} = this;
    const on = (id, type, act) => elements[id].addEventListener(type, act);
    on('source', 'change', () => this.fillMeasures());
    for (const id of ['source', 'measure', 'thread', 'cpu', 'base', 'colour'])
      on(id, 'change', () => this.update());
    on('rows', 'change', () => this.showStrips());
    on('search', 'input', () => this.updateSums());
    on('flip', 'click', () => this.flip());
    on('invert', 'click', () => this.invert());
    on('unzoom', 'click', () => this.chart.zoomTo(ROOT));
    on('all-time', 'click', () => this.timeline.select(0, this.profile.buckets));
    on('keys', 'click', () => elements.help.showModal());
    this.listenToParts();
    const table = keyTable(this);
    listenToKeys(table);
    fillHelp(elements['key-list'], table);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', query => {
      this.setTheme(query);
      this.update();
    });
  }

  listenToParts() {
    this.chart.addEventListener('point', event => this.showTip(event.detail));
    this.chart.addEventListener('focus', event => this.tellStatus(event.detail.node));
    this.chart.addEventListener('zoom', () => {
      this.updateFunctions();
      this.updateZoom();
    });
    this.functions.addEventListener('choose', event => this.searchFor(exactQuery(this.profile.names[event.detail])));
    this.timeline.addEventListener('choose', event => this.choose(event.detail));
    this.timeline.addEventListener('select', () => this.updateSoon());
  }

  get choice() {
    const {source, measure, thread, cpu} = this.elements;
    return {source: Number(source.value), measure: measure.value, cpu: Number(cpu.value),
      threads: chosenThreads(this.profile, thread.value), from: this.timeline.from, to: this.timeline.to,
      span: this.unit === 'ns' ? this.profile.bucketSeconds * 1e9 : 0,
      areBeside: /^offcpu-(waker|holder)$/.test(this.profile.sources[source.value]?.name)};
  }

  get unit() {
    const {source, measure} = this.elements;
    return measure.value === 'value' ? this.profile.sources[source.value].unit : '';
  }

  // While the pointer moves, once a frame is enough.
  updateSoon() {
    this.pending ??= requestAnimationFrame(() => {
      this.pending = null;
      this.updateSums();
    });
  }

  update() {
    this.showStrips();
    this.updateSums();
  }

  // All that depends on the selected time, too.
  updateSums() {
    const {profile} = this;
    this.matches = matchingFrames(profile, this.elements.search.value);
    this.sums = profile.cells.map(cells => this.sumUp(cells));
    this.base = this.sums[profile.isDiff ? Number(this.elements.base.value) : 0];
    this.updateChart();
    this.updateFunctions();
    this.updateRange();
    this.updateZoom();
    this.showLegend();
  }

  sumUp(cells) {
    const {tree, functionOf} = this.profile;
    const self = stackWeights(cells, this.choice, tree.count);
    const total = totalWeights(tree, self);
    return {self, total, whole: total[ROOT], functions: functionWeights(tree, self, total, functionOf)};
  }

  // Made when first wanted.
  get inverse() {
    return this.inverseMade ??= this.profile.tree.inverted(this.profile.stackEnds());
  }

  updateChart() {
    const {tree, endOf} = this.isInverted ? this.inverse : {tree: this.profile.tree};
    this.tree = tree;
    this.totals = this.sums.map(({self, total}) =>
      this.isInverted ? totalWeights(tree, moveWeights(self, endOf, tree.count)) : total);
    this.total = this.totals[this.sums.indexOf(this.base)];
    this.chart.show({tree, total: this.total, colourOf: this.colouring(), matches: this.matches});
  }

  colouring() {
    const mode = this.elements.colour.value;
    const {tree, palette} = this;
    if (mode === 'change') {
      const [before, after] = this.totals;
      return node => palette.change(this.part(before, node), this.part(after, node));
    }
    const colours = palette.frames(mode);
    const rootColour = palette.kind('task');
    return node => node === ROOT ? rootColour : colours[tree.frame[node]];
  }

  part(total, node) {
    return total[ROOT] > 0 ? total[node] / total[ROOT] : 0;
  }

  updateFunctions() {
    const {whole} = this.base;
    const functions = this.sums.map(sums => this.functionsInView(sums));
    this.functions.show({sums: functions[this.sums.indexOf(this.base)], whole, unit: this.unit, matches: this.matches,
      change: this.functionChange(functions),
      sides: this.sums.map((sums, side) => ({functions: functions[side], whole: sums.whole})), part: this.zoomText()});
    const matched = this.matches && matchingWeight(this.profile.tree, this.base.total, this.matches);
    this.elements.share.textContent = this.matches ? `${percentText(matched, whole)} matched` : '';
    this.elements.share.dataset.weight = matched ?? '';
  }

  // Those below the zoomed frame; of a graph that is turned inside out, all of the stacks that it is part of.
  functionsInView({self, total, functions}) {
    const {tree, functionOf} = this.profile;
    const {zoom} = this.chart;
    if (zoom === ROOT)
      return functions;
    if (!this.isInverted)
      return functionWeights(tree, self, total, functionOf, zoom);
    const {tree: inverse, endOf} = this.inverse;
    const isIn = stack => endOf[stack] >= zoom && endOf[stack] < inverse.end[zoom];
    const part = self.map((weight, stack) => isIn(stack) ? weight : 0);
    return functionWeights(tree, part, totalWeights(tree, part), functionOf);
  }

  zoomText() {
    const {zoom} = this.chart;
    return zoom === ROOT ? '' : `in ${shortened(this.label(zoom))}, which is ${percentText(this.total[zoom], this.total[ROOT])} of all`;
  }

  functionChange(functions) {
    if (!this.profile.isDiff)
      return null;
    const [before, after] = this.sums.map(({whole}) => whole);
    return functions[1].total.map((total, frame) =>
      (after ? total / after : 0) - (before ? functions[0].total[frame] / before : 0));
  }

  updateRange() {
    const {profile, elements, timeline} = this;
    const {first} = profile.recordings[0];
    const start = profile.isDiff ? 0 : first;
    const at = bucket => secondsText(start + bucket * profile.bucketSeconds);
    elements.range.textContent = timeline.isWhole ? `whole: ${at(0)} to ${at(profile.buckets)}` :
      `${at(timeline.from)} to ${at(timeline.to)}`;
    elements.range.title = profile.isDiff ? '' : `--time ${exactSeconds(start + timeline.from * profile.bucketSeconds)},` +
      exactSeconds(start + timeline.to * profile.bucketSeconds - 1e-9);
    elements['all-time'].disabled = timeline.isWhole;
  }

  showStrips() {
    this.timeline.show(this.strips());
  }

  strips() {
    const {profile, choice} = this;
    const field = this.elements.rows.value;
    const cells = profile.cells[profile.isDiff ? Number(this.elements.base.value) : 0];
    if (!field)
      return [{label: '', values: histogram(cells, choice, 1, profile.buckets, () => 0)[0]}];
    const keys = eventsBy(profile, field).slice(0, STRIPS_MAX).map(([key]) => key);
    if (field === 'cpu')
      keys.sort((a, b) => a - b);
    const rowOf = new Map(keys.map((key, row) => [key, row]));
    const all = field === 'cpu' ? {...choice, cpu: -1} : {...choice, threads: null};
    return histogram(cells, all, keys.length, profile.buckets, cell => rowOf.get(cells[field][cell]) ?? -1)
      .map((values, row) => this.strip(field, keys[row], values));
  }

  strip(field, key, values) {
    return field === 'cpu' ? {label: `CPU ${key}`, values, choice: {field, value: String(key)}} :
      {label: threadText(this.profile.threads[key]), values, choice: {field, value: `thread:${key}`}};
  }

  // What is chosen already is given up again.
  choose({field, value}) {
    const select = this.elements[field];
    select.value = select.value === value ? select.options[0].value : value;
    this.update();
  }

  updateZoom() {
    this.elements.tip.hidden = true;
    this.elements.unzoom.disabled = this.chart.zoom === ROOT;
    this.tellStatus(this.chart.focused);
  }

  label(node) {
    return node === ROOT ? 'all' : this.profile.names[this.tree.frame[node]];
  }

  weightLine(total, node) {
    const text = this.unit ? weightText(total[node], this.unit) : exactText(total[node], '');
    return `${text}, ${percentText(total[node], total[ROOT])}`;
  }

  details(node) {
    const frame = this.tree.frame[node];
    const about = node === ROOT ? [] : [[this.profile.kindName(frame), this.profile.object(frame)].filter(Boolean).join(', ')];
    if (!this.profile.isDiff)
      return [this.label(node), ...about, this.weightLine(this.total, node)];
    const [before, after] = this.totals;
    return [this.label(node), ...about, `before: ${this.weightLine(before, node)}`, `after: ${this.weightLine(after, node)}`,
      changeText(...this.totals.map(total => ({weight: total[node], whole: total[ROOT]})), this.unit)];
  }

  tellStatus(node) {
    this.elements.status.textContent = this.details(node).join(' \u00b7 ');
    this.elements.status.dataset.weight = this.total[node];
  }

  showTip({node, x, y}) {
    const {tip} = this.elements;
    tip.hidden = node === null;
    if (tip.hidden)
      return;
    tip.textContent = this.details(node).join('\n');
    tip.style.left = Math.max(Math.min(x + 12, innerWidth - tip.offsetWidth - 8), 0) + 'px';
    tip.style.top = (y + 24 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 10 : y + 18) + 'px';
  }

  legend() {
    const {palette, profile} = this;
    switch (this.elements.colour.value) {
    case 'change':
      return palette.scale;
    case 'kind':
      return profile.kinds.filter((_, kind) => profile.kindOf.includes(kind)).map(kind => [kind, palette.kind(kind)]);
    case 'object':
      return this.hottestObjects().map(path => [path.replace(/^.*\//, ''), palette.hashed(path)]);
    default:
      return [];
    }
  }

  hottestObjects() {
    const {tree} = this.profile;
    const self = new Map();
    this.base.self.forEach((weight, node) => {
      const path = node === ROOT ? '' : this.profile.object(tree.frame[node]);
      if (path && weight)
        self.set(path, (self.get(path) ?? 0) + weight);
    });
    return [...self].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([path]) => path);
  }

  showLegend() {
    this.elements.legend.replaceChildren(...this.legend().map(([text, colour]) => {
      const entry = document.createElement('span');
      const swatch = document.createElement('i');
      swatch.style.background = colour;
      entry.append(swatch, text);
      return entry;
    }));
  }

  flip() {
    this.chart.setIcicle(!this.chart.isIcicle);
    this.elements.flip.setAttribute('aria-pressed', this.chart.isIcicle);
  }

  invert() {
    this.isInverted = !this.isInverted;
    this.elements.invert.setAttribute('aria-pressed', this.isInverted);
    this.updateChart();
    this.updateFunctions();
    this.updateZoom();
  }

  nextColour() {
    const {colour} = this.elements;
    colour.selectedIndex = (colour.selectedIndex + 1) % colour.options.length;
    this.update();
  }

  searchFor(text) {
    this.elements.search.value = this.elements.search.value === text ? '' : text;
    this.update();
  }

  stepBack() {
    if (this.elements.search.value)
      this.searchFor(this.elements.search.value);
    else if (this.chart.zoom !== ROOT)
      this.chart.zoomTo(ROOT);
    else
      this.timeline.select(0, this.profile.buckets);
  }
}

new Page(new Profile(JSON.parse(document.getElementById('data').textContent)));
performance.mark('drawn');
