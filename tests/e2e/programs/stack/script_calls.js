// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Functions whose callers follow from the source: tests/e2e/stack/test_script_v8.py compares each stack with them. Two threads run
// them until the process has used a number of milliseconds of CPU time. With --expose-gc, some calls collect garbage.
"use strict";
const { Worker, isMainThread, workerData } = require("worker_threads");

// A part of the time passes in V8's own code, so that functions within which the compiler has put this one are at a call.
const numbers = JSON.stringify(Array.from({ length: 40 }, (_, i) => i * i));
function burn(units) {
  let sum = 0;
  for (let i = 0; i < units * 100; i++) sum = (sum * 31 + i) % 1000003;
  return sum + JSON.parse(numbers).length;
}

function work_of_plain() { return burn(8); }
function work_of_recursion() { return burn(8); }
function work_of_shape() { return burn(8); }
function work_of_sort() { return burn(1); }
function work_of_map() { return burn(2); }
let failures = 0;
function work_of_failure() {
  if (typeof gc === "function" && !(++failures & 3)) gc();
  return burn(4);
}
function work_of_closure() { return burn(8); }
function work_of_generator() { return burn(4); }
function work_of_async() { return burn(8); }
function work_of_constructor() { return burn(8); }
function work_of_inferred() { return burn(8); }
function work_of_replace() { return burn(4); }
function work_of_reviver() { return burn(4); }
function work_of_bound() { return burn(8); }
function work_of_trap() { return burn(8); }
function work_of_eval() { return burn(8); }
function work_of_wide() { return burn(8); }
function work_of_many() { return burn(8); }

function plain() { return work_of_plain(); }

function recurse(depth) { return depth ? recurse(depth - 1) + 1 : work_of_recursion(); }

class Shape {
  constructor() { this.size = work_of_constructor(); }
  area() { return work_of_shape(); }
}
class Square extends Shape {
  square_area() { return super.area() + 1; }
}
function constructing() { return new Shape().size; }
const square = new Square();
function shapes() { return square.square_area(); }

function compare(a, b) { work_of_sort(); return a - b; }
function sorted() { return [5, 2, 8, 1, 9, 3].sort(compare)[0]; }

function each(x) { return x + work_of_map(); }
function mapped() { return [1, 2, 3].map(each).length; }

function failing(deep) {
  if (deep) return failing(deep - 1);
  work_of_failure();
  throw new Error("expected");
}
function catching() {
  try {
    return failing(3);
  } catch (error) {
    return error.message.length;
  } finally {
    work_of_failure();
  }
}

function closing(extra) {
  const kept = extra * 2;
  return function closed() { return kept + work_of_closure(); };
}
const closed_twice = [closing(1), closing(2)];
function calls_closed(i) { return closed_twice[i & 1](); }

function* generate() { for (;;) yield work_of_generator(); }
const generator = generate();
function iterating() { return generator.next().value + generator.next().value; }

async function awaiting() {
  await null;
  return work_of_async();
}

const methods = {};
methods.a_name_that_is_inferred = function () { return work_of_inferred(); };
function calls_inferred() { return methods.a_name_that_is_inferred(); }

function replaced(text) { return text + work_of_replace(); }
function replacing() { return "a-b".replace(/-/g, replaced).length; }

function reviver(key, value) { work_of_reviver(); return value; }
function parsing() { return JSON.parse('{"a": 1}', reviver).a; }

const bound = (function bound_target(x) { return x + work_of_bound(); }).bind(null, 1);
function calls_bound() { return bound(); }

const proxy = new Proxy({}, { get: function trap() { return work_of_trap(); } });
function trapping() { return proxy.member; }

const evaluated = new Function("work", "return function evaluated() { return work(); }")(work_of_eval);
function calls_evaluated() { return evaluated(); }

function функция𝒳() { return work_of_wide(); }
function calls_wide() { return функция𝒳(); }

// Scopes with other words in front of the function's name: many variables that a closure uses.
const many_source = Array.from({ length: 90 }, (_, i) => `v${i} = ${i}`).join(", ");
const many_sum = Array.from({ length: 90 }, (_, i) => `v${i}`).join(" + ");
const many = new Function("work", `return function many() { let ${many_source}; const inner = function inner_of_many() {
  return work() + ${many_sum}; }; return inner(); }`)(work_of_many);
function calls_many() { return many(); }

function used() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function run(milliseconds) {
  for (let i = 0; used() < milliseconds; i++) {
    plain();
    recurse(i % 40);
    shapes();
    constructing();
    sorted();
    mapped();
    catching();
    calls_closed(i);
    iterating();
    await awaiting();
    calls_inferred();
    replacing();
    parsing();
    calls_bound();
    trapping();
    calls_evaluated();
    calls_wide();
    calls_many();
  }
}

if (isMainThread) {
  const milliseconds = Number(process.argv[2]);
  new Worker(__filename, { workerData: milliseconds });
  run(milliseconds);
} else {
  run(workerData);
}
