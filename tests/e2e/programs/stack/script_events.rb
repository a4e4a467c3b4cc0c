# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# System calls and allocations, whose callers stack/test_script_ruby.py knows: so many rounds in a callback of C, and as many in a fiber.
# usage: ruby script_events.rb ROUNDS

ROUNDS = ARGV[0].to_i

def allocate
  "x" * 100_000
end

def call
  Process.ppid
end

def step
  allocate
  call
end

def run
  ("a" * ROUNDS).gsub(/a/) { step }
  Fiber.new { ROUNDS.times { step } }.resume
end

run
