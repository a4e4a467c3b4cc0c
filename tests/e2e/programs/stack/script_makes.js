// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Makes functions, runs and drops them, so that later functions lie where earlier ones did. The functions of a round have its number.
"use strict";

function burn(units) {
  let sum = 0;
  for (let i = 0; i < units * 600; i++) sum = (sum * 31 + i) % 1000003;
  return sum;
}

for (let round = 100000; process.cpuUsage().user / 1000 < Number(process.argv[2]); round++) {
  const made = new Function("burn", `const made = {};
    function inner_${round}() { return burn(20); }
    made.of_object_${round} = function () { return inner_${round}() + 1; };
    return function outer_${round}() { return made.of_object_${round}() + 1; };`)(burn);
  made();
}
