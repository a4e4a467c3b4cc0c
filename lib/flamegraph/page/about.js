// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The texts at the head of the page: facts about its recordings.

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

// Texts for CPUs and threads that the page does not tell apart, since it would be too large.
function joinedTexts(joinsCpus, joinsThreads) {
  return [joinsCpus && 'CPUs are not told apart', joinsThreads && 'threads beside the hottest are joined by name'].filter(text => text);
}

function aboutRecording({host, kernel, command, start, events, produced, recorded, counted, userStacks, joinsCpus,
  joinsThreads}) {
  const lost = produced === null ? 'not finished: no ledger' : `${exactText(produced - recorded - counted, '')} lost`;
  const untimed = counted ? [`${exactText(counted, '')} counted only: in all sums, at no time`] : [];
  const when = new Date(start * 1000).toISOString().replace('T', ' ').slice(0, 19);
  return [visibleLines(command), `${visible(host)}, Linux ${visible(kernel)}`, `${when} UTC`, exactText(events, ''), lost,
    ...untimed, ...joinedTexts(joinsCpus, joinsThreads), ...qualityTexts(userStacks)].join(' \u00b7 ');
}

function nameRecordings(recordings) {
  return recordings.map(recording => visible(recording.name)).join(' \u2192 ');
}

function aboutRecordings(recordings) {
  return recordings.map(aboutRecording).join(' \u2192 ');
}
