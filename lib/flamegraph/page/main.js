// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The page: reads what is chosen, sums it up, and has the parts show it.

const COLOURS = [['kind', 'kind'], ['object', 'file'], ['name', 'function']];
const STRIPS_MAX = 100;

class Page {
  constructor(profile) {
    this.profile = profile;
    this.elements = Object.fromEntries([...document.querySelectorAll('[id]')].map(element => [element.id, element]));
    this.isInverted = this.isFolded = this.hasIdle = false;
    this.sandwiched = null; // the function of the sandwich
    this.matches = null;
    this.describe();
    this.fillChoices();
    this.makeParts();
    this.listen();
    this.update();
    this.link = new Link(this.fields());
    this.link.follow();
  }

  describe() {
    const {title, about} = this.elements;
    title.textContent = document.title = nameRecordings(this.profile.recordings);
    about.textContent = about.title = aboutRecordings(this.profile.recordings);
  }

  fillChoices() {
    const {source, thread, cpu, colour, base, rows} = this.elements;
    const {profile} = this;
    fillSelect(source, sourceEntries(profile));
    fillSelect(thread, threadEntries(profile));
    fillSelect(cpu, cpuEntries(profile));
    fillSelect(colour, profile.isDiff ? [['change', 'change'], ...COLOURS] : COLOURS);
    fillSelect(base, [[1, 'after'], [0, 'before']]);
    fillSelect(rows, [['', 'all'], ['thread', 'by thread'], ['cpu', 'by CPU'], ['heat', 'heat map'], ...profile.states.isThere ? [['states', 'states']] : []]);
    fillSelect(this.elements['values-scale'], [['log2', 'powers of two'], ['lin', 'linear']]);
    if (profile.states.isThere)
      rows.value = 'states';
    this.fillStateLegend();
    this.elements['base-label'].hidden = !profile.isDiff;
    this.fillMeasures();
  }

  fillMeasures() {
    fillSelect(this.elements.measure, measureEntries(this.profile, this.elements.source.value));
  }

  fillStateLegend() {
    this.elements['state-legend'].replaceChildren(...STATES.map(state => {
      const entry = document.createElement('span');
      const swatch = document.createElement('i');
      swatch.className = state;
      entry.append(swatch, state);
      return entry;
    }));
  }

  makeParts() {
    const {elements, profile} = this;
    this.chart = new Chart(elements.chart, profile.labels);
    this.callers = new Chart(elements.callers, profile.labels);
    this.active = this.chart; // that of which the status line tells
    this.timeline = new Timeline(elements['timeline-canvas'], elements['timeline-scroll'], elements.axis, profile);
    this.functions = new FunctionTable({body: elements['rows-of-functions'], more: elements['more-functions'],
      of: elements['functions-of'], changeHead: elements['change-head'], heads: {self: elements['sort-self'], total: elements['sort-total'],
        ...profile.isDiff && {change: elements['sort-change']}}}, profile);
    this.waitPanel = new WaitPanel({panel: elements.wait, title: elements['wait-title'], about: elements['wait-about'],
      sleeper: elements['wait-sleeper'], waker: elements['wait-waker'], wakerTitle: elements['wait-waker-title'], go: elements['wait-go'],
      origin: [elements['wait-origin-title'], elements['wait-origin']],
      wakerOrigin: [elements['wait-waker-origin-title'], elements['wait-waker-origin']]}, profile);
    this.originPanel = new OriginPanel({panel: elements.origins, title: elements['origins-title'], list: elements['origins-list']}, profile);
    this.valuePanel = new ValuePanel({panel: elements.values, title: elements['values-title'], about: elements['values-about'],
      scale: elements['values-scale'], bars: elements['values-bars']});
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
    on('sandwich', 'click', () => this.toggleSandwich());
    on('idle', 'click', () => this.toggleIdle());
    on('fold', 'click', () => this.fold());
    on('unzoom', 'click', () => this.unzoom());
    on('copy', 'click', () => this.copy());
    on('save-svg', 'click', () => this.save('svg', svgOf(this.picture)));
    on('save-png', 'click', async () => this.save('png', await pngOf(this.picture)));
    on('save-menu', 'focusout', event => {
      if (!elements['save-menu'].contains(event.relatedTarget))
        elements['save-menu'].open = false;
    });
    on('all-time', 'click', () => this.wholeTime());
    on('zoom-time', 'click', () => this.timeline.zoom(true));
    on('thread-filter', 'input', () => this.showStrips());
    on('wait-close', 'click', () => this.closeWait());
    on('origins-close', 'click', () => this.toggleOrigins());
    on('histogram', 'click', () => this.toggleValues());
    on('values-close', 'click', () => this.toggleValues());
    on('values-scale', 'change', () => this.showValues());
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
    for (const chart of [this.chart, this.callers])
      this.listenToChart(chart);
    this.functions.addEventListener('choose', event => this.searchFor(exactQuery(this.profile.labels[event.detail])));
    this.functions.addEventListener('sandwich', event => this.showSandwich(event.detail));
    this.timeline.addEventListener('choose', event => this.choose(event.detail));
    this.timeline.addEventListener('select', () => this.updateSoon());
    this.timeline.addEventListener('zoom', () => this.updateRange());
    this.timeline.addEventListener('open', event => this.openWait(event.detail));
    this.waitPanel.addEventListener('waker', event => this.goToWaker(event.detail));
  }

  listenToChart(chart) {
    const activate = () => {
      this.active = chart;
      this.tellStatus();
    };
    chart.addEventListener('point', event => this.showTip(chart, event.detail));
    chart.addEventListener('focus', activate);
    chart.addEventListener('click', event => chart.zoomTo(event.detail.node));
    chart.addEventListener('sandwich', event => this.showSandwich(chart.tree.frame[event.detail.node]));
    chart.addEventListener('zoom', () => {
      this.active = chart;
      this.updateFunctions();
      this.updateZoom();
    });
  }

  get choice() {
    const {source, measure, thread, cpu} = this.elements;
    return {source: Number(source.value), measure: measure.value, cpu: Number(cpu.value), hasIdle: this.hasIdle,
      threads: chosenThreads(this.profile, thread.value), from: this.timeline.from, to: this.timeline.to,
      isWhole: this.timeline.isWhole,
      span: this.unit === 'ns' ? this.profile.bucketSeconds * 1e9 : 0,
      areBeside: /^offcpu-(waker|holder)$/.test(this.profile.sources[source.value]?.name)};
  }

  get unit() {
    const {source, measure} = this.elements;
    return measure.value === 'value' ? this.profile.sources[source.value].unit : '';
  }

  // By recording: all produced events of the source / those here.
  get scales() {
    return this.profile.recordings.map(({scales}) => scales[this.elements.source.value]);
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
    this.updateIdle();
    this.updateRange();
    this.updateZoom();
    this.showLegend();
  }

  // The tree of stacks, with recursion folded if that is chosen; endOf: where nodes of the profile's tree are in it.
  get stacks() {
    const {tree, functionOf} = this.profile;
    return this.isFolded ? this.foldedMade ??= tree.folded(functionOf) : {tree, endOf: null};
  }

  sumUp(cells) {
    const {functionOf} = this.profile;
    const {tree, endOf} = this.stacks;
    const unfolded = stackWeights(cells, this.choice, this.profile.tree.count);
    const self = endOf ? moveWeights(unfolded, endOf, tree.count) : unfolded;
    const total = totalWeights(tree, self);
    return {self, total, whole: total[ROOT], functions: functionWeights(tree, self, total, functionOf)};
  }

  // Made when first wanted.
  get inverse() {
    const {tree, endOf} = this.stacks;
    const make = () => {
      const ends = this.profile.stackEnds();
      return tree.inverted(endOf ? Uint32Array.from(new Set(ends.map(node => endOf[node]))) : ends);
    };
    return this.isFolded ? this.foldedInverseMade ??= make() : this.inverseMade ??= make();
  }

  updateChart() {
    if (this.sandwiched !== null) {
      this.updateSandwich();
      return;
    }
    const {tree, endOf} = this.isInverted ? this.inverse : {tree: this.stacks.tree};
    const totals = this.sums.map(({self, total}) =>
      this.isInverted ? totalWeights(tree, moveWeights(self, endOf, tree.count)) : total);
    this.drawGraph(this.chart, tree, totals, this.isInverted ? null : this.base.self);
  }

  // totals: of each recording.
  drawGraph(chart, tree, totals, self) {
    const sides = totals.map((total, side) => ({total, whole: this.sums[side].whole}));
    chart.show({tree, total: totals[this.sums.indexOf(this.base)], whole: this.base.whole, sides, self,
      colourOf: this.colouring(tree, sides), matches: this.matches});
  }

  updateSandwich() {
    const {tree} = this.stacks;
    if (this.sandwichMade?.stacks !== tree || this.sandwichMade.wanted !== this.sandwiched)
      this.sandwichMade = new Sandwich(tree, this.profile.functionOf, this.sandwiched);
    const {callers, callees} = this.sandwichMade;
    const selfs = this.sums.map(({self}) => this.sandwichMade.calleesSelf(self));
    this.drawGraph(this.callers, callers.tree, this.sums.map(({total}) => this.sandwichMade.callersTotal(total)), null);
    this.drawGraph(this.chart, callees.tree, selfs.map(self => totalWeights(callees.tree, self)), selfs[this.sums.indexOf(this.base)]);
    for (const chart of this.charts)
      chart.section.style.flexBasis = `${chart.layout.wideHeight(chart.width) * ROW}px`; // room goes where wide rows are
  }

  colouring(tree, sides) {
    const mode = this.elements.colour.value;
    const {palette} = this;
    if (mode === 'change') {
      const [before, after] = sides;
      return node => {
        const [old, now] = [before, after].map(({total, whole}) => ({weight: total[node], whole}));
        return isNoise(old, now, this.unit) ? palette.same : palette.change(share(old), share(now));
      };
    }
    const colours = palette.frames(mode);
    const rootColour = palette.kind('task');
    return node => tree.frame[node] === NO_FRAME ? rootColour : colours[tree.frame[node]];
  }

  updateFunctions() {
    const {whole} = this.base;
    const functions = this.sums.map(sums => this.functionsInView(sums));
    this.functions.show({sums: functions[this.sums.indexOf(this.base)], whole, unit: this.unit, matches: this.matches,
      change: this.functionChange(functions),
      sides: this.sums.map((sums, side) => ({functions: functions[side], whole: sums.whole})), scales: this.scales, part: this.zoomText()});
    const matched = this.matches && matchingWeight(this.stacks.tree, this.base.total, this.matches);
    this.elements.share.textContent = this.matches ? `${percentText(matched, whole)} matched` : '';
    this.elements.share.dataset.weight = matched ?? '';
  }

  // Those below the zoomed frame; of a graph that is turned inside out, all of the stacks that it is part of.
  functionsInView({self, total, functions}) {
    const {functionOf} = this.profile;
    const {tree} = this.stacks;
    const {zoom} = this.chart;
    if (zoom === ROOT || this.sandwiched !== null)
      return functions;
    if (!this.isInverted)
      return functionWeights(tree, self, total, functionOf, zoom);
    const {tree: inverse, endOf} = this.inverse;
    const isIn = stack => endOf[stack] >= zoom && endOf[stack] < inverse.end[zoom];
    const part = self.map((weight, stack) => isIn(stack) ? weight : 0);
    return functionWeights(tree, part, totalWeights(tree, part), functionOf);
  }

  zoomText() {
    const {chart} = this;
    return chart.zoom === ROOT || this.sandwiched !== null ? '' :
      `in ${shortened(chart.label(chart.zoom))}, which is ${percentText(chart.total[chart.zoom], chart.whole)} of all`;
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
    const at = bucket => secondsText(bucket * profile.bucketSeconds);
    elements.range.textContent = timeline.isWhole ? `whole: ${at(profile.buckets)}` : `${at(timeline.from)} to ${at(timeline.to)}`;
    elements.range.title = profile.isDiff ? '' : `--time ${exactSeconds(first + timeline.from * profile.bucketSeconds)},` +
      exactSeconds(first + timeline.to * profile.bucketSeconds - 1e-9);
    elements['all-time'].disabled = timeline.isWhole && !timeline.isZoomed;
    elements['zoom-time'].disabled = timeline.isWhole;
  }

  wholeTime() {
    this.timeline.zoom(false);
    this.timeline.select(0, this.profile.buckets);
  }

  showStrips() {
    const {rows} = this.elements;
    this.elements['state-legend'].hidden = rows.value !== 'states';
    this.elements['thread-filter'].hidden = rows.value !== 'states' && rows.value !== 'thread';
    if (rows.value === 'heat')
      this.timeline.showHeat(this.valuesOfTime());
    else
      this.timeline.show(this.strips());
  }

  // By bucket, of everything that is chosen.
  valuesOfTime() {
    const {profile, choice} = this;
    const cells = profile.cells[profile.isDiff ? Number(this.elements.base.value) : 0];
    return histogram(cells, choice, 1, profile.buckets, () => 0)[0];
  }

  // Opens the panel with the state of a thread at a time, and draws an arrow from the waker's strip.
  openWait({row, strip, seconds}) {
    const {timeline} = this;
    const bucket = Math.min(Math.max(Math.floor(seconds / this.profile.bucketSeconds), 0), this.profile.buckets - 1);
    const state = STATES.reduce((most, each) => strip.bands[each][bucket] > (most ? strip.bands[most][bucket] : 0) ? each : most, '');
    this.waitPanel.show(strip.thread, seconds, strip.waits, state);
    this.openAt = seconds;
    const {wait} = this.waitPanel;
    const waker = wait && wait.waker >= 0 ? timeline.strips.findIndex(({thread}) => thread.numbers.includes(wait.waker)) : -1;
    timeline.setArrow(waker >= 0 && waker !== row ? {from: waker, to: row, seconds: this.wokenAt(wait, strip.waits)} : null);
  }

  // A wait off the CPU lasts until the thread runs; the thread is woken when it becomes runnable.
  wokenAt(wait, waits) {
    return waits.find(({state, begin, end}) => state === 'runnable' && begin > wait.begin && end <= wait.end + 1e-4)?.begin ?? wait.end;
  }

  closeWait() {
    this.waitPanel.close();
    this.timeline.setArrow(null);
  }

  // To what the waker did until then; a waker that the filter hides is shown.
  goToWaker(wait) {
    const {timeline, elements} = this;
    const find = () => timeline.strips.findIndex(({thread}) => thread.numbers.includes(wait.waker));
    if (find() < 0) {
      elements['thread-filter'].value = threadText(this.profile.threads[wait.waker]);
      this.showStrips();
    }
    const row = find();
    if (row < 0)
      return;
    timeline.showRow(row);
    timeline.open(row, this.wokenAt(wait, timeline.strips[row].waits));
  }

  strips() {
    const {profile, choice} = this;
    const field = this.elements.rows.value;
    const cells = profile.cells[profile.isDiff ? Number(this.elements.base.value) : 0];
    if (!field)
      return [{label: '', values: this.valuesOfTime()}];
    const wanted = this.elements['thread-filter'].value;
    if (field === 'states')
      return this.stateStrips(wanted);
    const isWanted = key => field === 'cpu' || threadText(profile.threads[key]).toLowerCase().includes(wanted.toLowerCase());
    const keys = eventsBy(profile, field).map(([key]) => key).filter(isWanted).slice(0, STRIPS_MAX);
    if (field === 'cpu')
      keys.sort((a, b) => a - b);
    const rowOf = new Map(keys.map((key, row) => [key, row]));
    const all = field === 'cpu' ? {...choice, cpu: -1} : {...choice, threads: null};
    return histogram(cells, all, keys.length, profile.buckets, cell => rowOf.get(cells[field][cell]) ?? -1)
      .map((values, row) => this.strip(field, keys[row], values)).filter(({values}) => this.hasIdle || values.some(value => value));
  }

  stateStrips(wanted) {
    const {states} = this.profile;
    const threads = states.find(wanted, this.choice).slice(0, STRIPS_MAX);
    return states.strips(threads).filter(({bands}) => this.hasIdle || STATES.slice(0, -1).some(state => bands[state].some(part => part)))
      .map(strip => ({...strip, choice: {field: 'thread', value: `thread:${strip.thread.numbers[0]}`}}));
  }

  strip(field, key, values) {
    return field === 'cpu' ? {label: cpuText(key), values, choice: {field, value: String(key)}} :
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
    this.elements.unzoom.disabled = this.charts.every(chart => chart.zoom === ROOT);
    this.tellStatus();
  }

  // Those that are seen, in the order in which they are.
  get charts() {
    return this.sandwiched === null ? [this.chart] : [this.callers, this.chart];
  }

  unzoom() {
    for (const chart of this.charts)
      chart.zoomTo(ROOT);
  }

  lines(chart, node) {
    return [...frameLines(chart, node, this.profile, this.unit, this.scales), ...originLine(this.originsOf(chart, node), this.profile)];
  }

  // Tells of the stacks of the profile's tree whether they are part of a node of a chart.
  partOf(chart, node) {
    const {tree} = chart;
    const isIn = place => place >= node && place < tree.end[node];
    if (this.sandwiched !== null)
      return this.sandwichMade.partOf(chart === this.callers, isIn, this.stacks.endOf);
    const {endOf} = this.stacks;
    const placeOf = stack => endOf ? endOf[stack] : stack;
    const inverse = this.isInverted ? this.inverse.endOf : null;
    return stack => isIn(inverse ? inverse[placeOf(stack)] : placeOf(stack));
  }

  // The threads and stacks that queued the work of a node's events, over the whole recording.
  originsOf(chart, node) {
    const {origins} = this.profile;
    return origins.rows.length ? origins.of(this.partOf(chart, node), this.choice) : [];
  }

  showOrigins() {
    const {active, timeline, elements} = this;
    const {focused} = active;
    const isPart = !timeline.isWhole || Number(elements.cpu.value) >= 0;
    const label = active.tree.frame[focused] === NO_FRAME ? '' : active.label(focused);
    this.originPanel.show(this.originsOf(active, focused), label, this.unit, isPart ? '(whole time, all CPUs)' : '');
  }

  toggleOrigins() {
    this.originPanel.toggle();
    this.showOrigins();
  }

  // Shows the values of the frame at the focus, over the whole recording.
  showValues() {
    const {active, timeline, elements, profile, valuePanel} = this;
    const {focused} = active;
    const {source, cpu, threads} = this.choice;
    const isPart = !timeline.isWhole || cpu >= 0 || threads;
    const label = active.tree.frame[focused] === NO_FRAME ? '' : active.label(focused);
    elements.histogram.hidden = !profile.values.has(source) && !valuePanel.isWanted;
    const none = {count: 0};
    valuePanel.show(valuePanel.isWanted ? profile.values.of(this.partOf(active, focused), this.choice) : none,
      profile.values, label, profile.sources[source]?.unit, isPart ? '(whole time, all threads and CPUs)' : '');
  }

  toggleValues() {
    this.valuePanel.isWanted = !this.valuePanel.isWanted;
    this.elements.histogram.setAttribute('aria-pressed', this.valuePanel.isWanted);
    this.showValues();
  }

  tellStatus() {
    const {status} = this.elements;
    const {focused, total} = this.active;
    status.textContent = this.lines(this.active, focused).join(' \u00b7 ');
    status.dataset.weight = total[focused];
    this.showOrigins();
    this.showValues();
  }

  showTip(chart, {node, x, y}) {
    const {tip} = this.elements;
    tip.hidden = node === null;
    if (tip.hidden)
      return;
    tip.textContent = this.lines(chart, node).join('\n');
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
    const {tree} = this.stacks;
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
    this.isIcicle = !this.isIcicle;
    this.elements.flip.setAttribute('aria-pressed', this.isIcicle);
    this.chart.setIcicle(this.isIcicle || this.sandwiched !== null);
  }

  invert() {
    this.isInverted = !this.isInverted;
    this.elements.invert.setAttribute('aria-pressed', this.isInverted);
    this.redraw();
  }

  fold() {
    this.isFolded = !this.isFolded;
    this.elements.fold.setAttribute('aria-pressed', this.isFolded);
    this.updateSums();
  }

  toggleIdle() {
    this.hasIdle = !this.hasIdle;
    this.elements.idle.setAttribute('aria-pressed', this.hasIdle);
    this.update();
  }

  // The switch of what is idle, with its share of the event.
  updateIdle() {
    const {idle} = this.elements;
    const side = this.profile.isDiff ? Number(this.elements.base.value) : 0;
    const {idle: part, all} = idleWeight(this.profile.cells[side], this.choice);
    idle.hidden = !part && !this.hasIdle;
    idle.textContent = `Idle: ${percentText(part, all)} ${this.hasIdle ? 'shown' : 'hidden'}`;
    idle.dataset.weight = part;
  }

  redraw() {
    this.updateChart();
    this.updateFunctions();
    this.updateZoom();
  }

  // Shows the sandwich of the function at the focus, or hides a sandwich that is shown.
  toggleSandwich() {
    const frame = this.active.tree.frame[this.active.focused];
    this.showSandwich(this.sandwiched === null ? frame : null);
  }

  // frame: any of the function; null: no sandwich.
  showSandwich(frame) {
    const {elements} = this;
    if (frame === NO_FRAME)
      return;
    this.sandwiched = frame === null ? null : this.profile.functionOf[frame];
    this.active = this.chart;
    elements.callers.hidden = elements['sandwich-bar'].hidden = frame === null;
    elements['sandwich-name'].textContent = frame === null ? '' : this.profile.labels[frame];
    elements.sandwich.setAttribute('aria-pressed', frame !== null);
    elements.invert.disabled = elements.flip.disabled = frame !== null;
    this.chart.section.style.flexBasis = '';
    this.chart.setIcicle(this.isIcicle || frame !== null);
    this.redraw();
  }

  get picture() {
    const {title, about} = this.elements;
    return {charts: this.charts, title: title.textContent, about: `${this.choiceText()} \u00b7 ${about.textContent}`};
  }

  // The choices of the controls as one line of text.
  choiceText() {
    const {elements} = this;
    const chosen = ['source', 'measure', 'thread', 'cpu'].map(id => elements[id])
      .filter((select, i) => i < 2 || select.selectedIndex > 0).map(select => select.selectedOptions[0]?.text ?? '');
    return [...chosen, elements.range.textContent, ...elements.search.value ? [`search: ${elements.search.value}`] : []].join(' \u00b7 ');
  }

  copy() {
    copyText([this.elements.title.textContent, this.choiceText(), '', stackText(this.active), '',
      ...this.functions.part ? [this.functions.part] : [], functionsText(this.functions), ''].join('\n'));
    this.elements.status.textContent = 'copied: the stack at the focus, and the hottest functions';
  }

  save(type, blob) {
    saveAs(`${document.title.replace(/[^\w.-]+/g, '_')}.${type}`, blob);
  }

  // What a link keeps, in the order in which it is set again.
  fields() {
    const {elements, profile, timeline} = this;
    const select = (id, act) => selectField(elements[id], act);
    const button = (id, isOn) => ({get: () => isOn() ? '1' : '', set: () => elements[id].click()});
    const zoom = chart => ({get: () => this.charts.includes(chart) ? frameText(chart, chart.zoom) : '',
      set: text => chart.zoomTo(frameFrom(chart, text))});
    return {
      event: {get: () => profile.sources[elements.source.value]?.name ?? '', set: text => this.chooseEvent(text)},
      weight: select('measure', () => this.update()),
      width: select('base', () => this.update()),
      thread: select('thread', () => this.update()),
      cpu: select('cpu', () => this.update()),
      colour: select('colour', () => this.update()),
      timeline: select('rows', () => this.showStrips()),
      threads: {get: () => elements['thread-filter'].value, set: text => {
        elements['thread-filter'].value = text;
        this.showStrips();
      }},
      time: {get: () => timeline.isWhole ? '' : `${timeline.from}-${timeline.to}`, set: text => timeline.selectText(text)},
      timezoom: {get: () => timeline.isZoomed ? '1' : '', set: text => timeline.zoom(text === '1')},
      search: {get: () => elements.search.value, set: text => {
        elements.search.value = text;
        this.updateSums();
      }},
      order: {get: () => this.functions.order, set: text => this.functions.heads[text] && this.functions.sortBy(text)},
      icicle: button('flip', () => this.isIcicle),
      invert: button('invert', () => this.isInverted),
      fold: button('fold', () => this.isFolded),
      idle: button('idle', () => this.hasIdle),
      values: {get: () => this.valuePanel.isWanted ? elements['values-scale'].value : '', set: text => {
        if (Boolean(text) !== this.valuePanel.isWanted)
          this.toggleValues();
        if (text)
          elements['values-scale'].value = text;
        this.showValues();
      }},
      sandwich: {get: () => this.sandwiched === null ? '' : profile.labels[this.sandwiched], set: text => {
        const frame = profile.labels.indexOf(text);
        this.showSandwich(text && frame >= 0 ? frame : null);
      }},
      zoom: zoom(this.chart),
      callers: zoom(this.callers),
    };
  }

  chooseEvent(name) {
    const {source} = this.elements;
    const found = this.profile.sources.findIndex(each => each.name === name);
    if (![...source.options].some(option => Number(option.value) === found))
      return;
    source.value = found;
    this.fillMeasures();
    this.update();
  }

  searchFor(text) {
    this.elements.search.value = this.elements.search.value === text ? '' : text;
    this.update();
  }

  stepBack() {
    if (this.elements.search.value)
      this.searchFor(this.elements.search.value);
    else if (this.charts.some(chart => chart.zoom !== ROOT))
      this.unzoom();
    else if (this.sandwiched !== null)
      this.showSandwich(null);
    else if (this.valuePanel.isOpen)
      this.toggleValues();
    else if (this.originPanel.isOpen)
      this.toggleOrigins();
    else if (this.waitPanel.isOpen)
      this.closeWait();
    else
      this.wholeTime();
  }
}

new Page(new Profile(JSON.parse(document.getElementById('data').textContent)));
performance.mark('drawn');
