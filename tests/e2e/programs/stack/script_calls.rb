# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Calls of every kind, whose callers stack/test_script_ruby.py knows: runs for so many seconds of CPU time in so many threads.
# usage: ruby script_calls.rb SECONDS [THREADS]

def burn
  total = i = 0
  while i < 400
    total += i * i % 7
    i += 1
  end
  total
end

def inner
  burn
end

def work(value)
  inner
  value
end

def generate
  Enumerator.new do |out|
    3.times do |i|
      work(i)
      out << i
    end
  end
end

def recurse(depth)
  depth.zero? ? work(depth) : recurse(depth - 1)
end

def recurse_through_c(depth)
  return work(depth) if depth.zero?
  [1].map { |_| recurse_through_c(depth - 1) }
end

def fail_within
  yield
  raise "x"
end

def catching
  begin
    fail_within { work(1) }
  rescue RuntimeError
    work(2)
  end
  work(3)
end

def ensuring
  catch(:done) do
    begin
      work(1)
      throw :done
    ensure
      work(2)
    end
  end
end

def fiber
  own = Fiber.new do
    work(1)
    Fiber.yield
    work(2)
  end
  own.resume
  own.resume
end

class Item
  include Comparable
  include Enumerable

  def initialize
    work(1)
  end

  def <=>(_other)
    work(2)
    0
  end

  def each
    yield work(3)
  end

  def method_missing(_name)
    work(4)
  end

  def respond_to_missing?(_name, _all)
    work(5)
    true
  end

  def to_s
    "item#{work(6)}"
  end

  def plain
    work(7)
  end

  define_method(:defined) { work(8) }
end

class Part < Item
  def plain
    super
  end

  def to_proc
    lambda { |value| work(value) }
  end
end

def evaluate
  eval("work(1)")
  eval("work(2)", binding, "<internal:made/template.rb>", -6)
end

def run(finish)
  while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < finish
    [3, 1, 2].each(&method(:work))
    generate.each { |value| work(value) }
    numbers = generate
    2.times { numbers.next }
    recurse(50)
    recurse_through_c(3)
    catching
    ensuring
    fiber
    item = Item.new
    part = Part.new
    [item, part].sort
    item.map { |value| work(value) }
    item.anything
    item.respond_to?(:other)
    "#{item}"
    item.defined
    part.plain
    part.public_send(:plain)
    [1, 2].each(&part)
    [item].each(&:plain)
    "a-b".gsub(/[a-z]/) { |letter| work(letter) }
    Hash.new { |_, key| work(key) }[1]
    evaluate
    item.instance_eval { work(1) }
  end
end

finish = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + ARGV[0].to_f
threads = (2..(ARGV[1] || 1).to_i).map { Thread.new { run(finish) } }
run(finish)
threads.each(&:join)
