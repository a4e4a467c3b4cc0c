// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The keyboard: one table, from which the help is made too. Keys with `where` work while that element has the focus.

// A step in the list of a <select>, around its ends.
function stepIn(select, step) {
  const {length} = select.options;
  select.selectedIndex = (select.selectedIndex + step + length) % length;
  select.dispatchEvent(new Event('change'));
}

function keyTable(page) {
  const {elements, timeline} = page;
  const press = id => () => elements[id].click();
  const step = id => event => stepIn(elements[id], event.key === event.key.toLowerCase() ? 1 : -1);
  return [
    {keys: ['/'], text: 'search', act: () => elements.search.focus()},
    {keys: ['e', 'E'], text: 'the next event, the one before', act: step('source')},
    {keys: ['w'], text: 'the next weight', act: step('measure')},
    {keys: ['t', 'T'], text: 'the next thread, the one before', act: step('thread')},
    {keys: ['p', 'P'], text: 'the next CPU, the one before', act: step('cpu')},
    {keys: ['c', 'C'], text: 'the next way of colouring, the one before', act: step('colour')},
    {keys: ['b'], text: 'of two recordings: the width of the other one', act: step('base')},
    {keys: ['l', 'L'], text: 'the next timeline, the one before', act: step('rows')},
    {keys: ['i'], text: 'flames or icicles', act: press('flip')},
    {keys: ['v'], text: 'invert: innermost functions first', act: press('invert')},
    {keys: ['s'], text: 'sandwich of the function at the focus: callers above, callees below; and back', act: press('sandwich')},
    {keys: ['r'], text: 'fold recursion', act: press('fold')},
    {keys: ['d'], text: 'show or hide idle CPUs and threads', act: press('idle')},
    {keys: ['u'], text: 'unzoom', act: press('unzoom')},
    {keys: ['a'], text: 'the whole time', act: press('all-time')},
    {keys: ['z'], text: 'zoom the timeline to the selected time', act: press('zoom-time')},
    {keys: ['h'], text: 'search a thread of the strips', act: () => elements['thread-filter'].focus()},
    {keys: ['o'], text: 'the next order of the functions', act: () => page.functions.nextOrder()},
    {keys: ['y'], text: 'copy the stack at the focus, and the functions, as text', act: press('copy')},
    {keys: ['g', 'G'], text: 'save the graph as SVG, as PNG', act: event => elements[event.key === 'g' ? 'save-svg' : 'save-png'].click()},
    {keys: ['f'], text: 'the focus to the graph', act: () => page.chart.section.focus()},
    {keys: ['q'], text: 'show or hide who queued the work of the frame at the focus', act: () => page.toggleOrigins()},
    {keys: ['m'], text: 'show or hide the values of the events of the frame at the focus, as a histogram', act: press('histogram')},
    {keys: ['M'], text: 'the other scale of the histogram', act: () => page.valuePanel.isOpen && stepIn(elements['values-scale'], 1)},
    {keys: ['Escape'], text: 'end the search, then the zoom, the sandwich, the panels of values, of queued work and of waits, the selected time', act: () => page.stepBack()},
    {keys: ['?'], text: 'this list', act: () => elements.help.showModal()},
    ...[page.chart, page.callers].flatMap(chart => chartKeys(chart)),
    {keys: ['ArrowLeft', 'ArrowRight'], where: timeline.scroll, place: 'in the timeline', text: 'move the selected time; with Shift its end only',
      act: event => timeline.move(event.key === 'ArrowLeft' ? -1 : 1, event.shiftKey)},
    {keys: ['ArrowUp', 'ArrowDown'], where: timeline.scroll, place: 'in the timeline', text: 'to the thread above, below',
      act: event => timeline.moveCursor(event.key === 'ArrowUp' ? -1 : 1)},
    {keys: ['Enter', 'n'], where: timeline.scroll, place: 'in the timeline', text: 'the longest wait of the thread in the selected time; the next wait',
      act: event => timeline.openWait(event.key === 'n' ? page.openAt ?? -1 : undefined)},
    {keys: ['x'], text: 'from a wait to the thread that ended it', act: () => page.waitPanel.isOpen && elements['wait-go'].click()},
  ];
}

// Both charts have the same keys; the help has them once.
function chartKeys(chart) {
  const outwards = () => chart.isIcicle ? 'ArrowUp' : 'ArrowDown';
  const place = chart.section.id === 'chart' ? 'in the graph' : '';
  return [
    {keys: ['ArrowUp', 'ArrowDown'], where: chart.section, place, text: 'to the caller, or to the widest callee',
      act: event => event.key === outwards() ? chart.focusOutwards() : chart.focusInwards()},
    {keys: ['ArrowLeft', 'ArrowRight'], where: chart.section, place, text: 'to the frame beside',
      act: event => chart.focusBeside(event.key === 'ArrowLeft' ? -1 : 1)},
    {keys: ['Enter'], where: chart.section, place, text: 'zoom to the frame', act: () => chart.zoomTo(chart.focused)},
  ];
}

function listenToKeys(table) {
  document.addEventListener('keydown', event => {
    const isTyping = event.target.matches('input, select') && event.key !== 'Escape';
    if (isTyping || event.ctrlKey || event.altKey || event.metaKey || document.querySelector('dialog[open]'))
      return;
    const entry = table.find(({keys, where}) => keys.includes(event.key) && (!where || where === event.target));
    if (!entry)
      return;
    event.preventDefault();
    entry.act(event);
  });
}

function fillHelp(list, table) {
  for (const {keys, text, place} of table.filter(entry => entry.place !== '')) {
    const term = document.createElement('dt');
    const meaning = document.createElement('dd');
    term.textContent = keys.join(' ');
    meaning.textContent = text + (place ? ` (${place})` : '');
    list.append(term, meaning);
  }
}
