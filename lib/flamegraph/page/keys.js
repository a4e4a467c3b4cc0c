// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The keyboard: one table, from which the help is made too. Keys with `where` work while that element has the focus.

function keyTable(page) {
  const {chart, timeline} = page;
  const outwards = () => chart.isIcicle ? 'ArrowUp' : 'ArrowDown';
  return [
    {keys: ['/'], text: 'search', act: () => page.elements.search.focus()},
    {keys: ['i'], text: 'flames or icicles', act: () => page.elements.flip.click()},
    {keys: ['v'], text: 'invert: innermost functions first', act: () => page.elements.invert.click()},
    {keys: ['c'], text: 'the next way of colouring', act: () => page.nextColour()},
    {keys: ['Escape'], text: 'end the search, then the zoom, then the selection of time', act: () => page.stepBack()},
    {keys: ['?'], text: 'this list', act: () => page.elements.help.showModal()},
    {keys: ['ArrowUp', 'ArrowDown'], where: chart.chart, text: 'to the caller, or to the widest callee',
      act: event => event.key === outwards() ? chart.focusOutwards() : chart.focusInwards()},
    {keys: ['ArrowLeft', 'ArrowRight'], where: chart.chart, text: 'to the frame beside',
      act: event => chart.focusBeside(event.key === 'ArrowLeft' ? -1 : 1)},
    {keys: ['Enter'], where: chart.chart, text: 'zoom to the frame', act: () => chart.zoomTo(chart.focused)},
    {keys: ['ArrowLeft', 'ArrowRight'], where: timeline.scroll, text: 'move the selected time; with Shift its end only',
      act: event => timeline.move(event.key === 'ArrowLeft' ? -1 : 1, event.shiftKey)},
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
  for (const {keys, text, where} of table) {
    const term = document.createElement('dt');
    const meaning = document.createElement('dd');
    term.textContent = keys.join(' ');
    meaning.textContent = text + (where ? ` (${where.id === 'chart' ? 'in the graph' : 'in the timeline'})` : '');
    list.append(term, meaning);
  }
}
