# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Makes functions, runs them and frees them, so that new ones lie where freed ones lay: for so many seconds of CPU time.
# usage: ruby script_makes.rb names|files|both SECONDS

SOURCE = <<~'SOURCE'
  def maker.inner%s(total) = 3000.times { |i| total += i }

  def maker.outer%s = inner%s(0)

  maker.outer%s
SOURCE

def make(name, file)
  maker = Object.new
  eval(format(SOURCE, name, name, name, name), binding, file, 1)
end

finish = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + ARGV[1].to_f
number = 0
while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < finish
  number += 1
  text = format("_%07d", number)
  make(ARGV[0] == "files" ? "" : text, ARGV[0] == "names" ? "made" : "made" + text)
  GC.start if (number % 16).zero?
end
