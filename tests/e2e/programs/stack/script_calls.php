<?php
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Calls of every kind, whose callers stack/test_script_php.py knows: runs for so many seconds of CPU time.
// usage: php script_calls.php SECONDS

$end = (float) $argv[1];

function burn()
{
    $total = 0;
    for ($i = 0; $i < 400; $i++) {
        $total += $i * $i % 7;
    }
    return $total;
}

function inner()
{
    burn();
}

function work($value)
{
    inner();
    return $value;
}

function generate()
{
    for ($i = 0; $i < 5; $i++) {
        work($i);
        yield $i;
    }
}

function recurse($depth)
{
    return $depth ? recurse($depth - 1) : work($depth);
}

function recurse_through_c($depth)
{
    if (!$depth) {
        return work($depth);
    }
    return array_map(function ($value) use ($depth) {
        return recurse_through_c($depth - 1);
    }, [1]);
}

function catching()
{
    try {
        work(1);
        throw new Exception("x");
    } catch (Exception $exception) {
        work(2);
    } finally {
        work(3);
    }
}

class Item
{
    public function __construct()
    {
        work(1);
    }

    public function __destruct()
    {
        work(2);
    }

    public function __call($name, $arguments)
    {
        return work(3);
    }

    public function __get($name)
    {
        return work(4);
    }

    public static function create()
    {
        return new static();
    }

    public function __toString()
    {
        return "item" . work(5);
    }
}

class Part extends Item implements IteratorAggregate, ArrayAccess
{
    public function getIterator(): Iterator
    {
        work(1);
        return new ArrayIterator([1, 2]);
    }

    public function offsetGet($offset): mixed
    {
        return work(2);
    }

    public function offsetSet($offset, $value): void
    {
        work(3);
    }

    public function offsetExists($offset): bool
    {
        return (bool) work(4);
    }

    public function offsetUnset($offset): void
    {
        work(5);
    }
}

function compare($left, $right)
{
    work(1);
    return $left <=> $right;
}

function run()
{
    array_map("work", [3, 1, 2]);
    foreach (generate() as $value) {
        work($value);
    }
    recurse(50);
    recurse_through_c(3);
    catching();
    $item = Item::create();
    $item->missing();
    $item->property;
    $item = "$item";
    $part = new Part();
    foreach ($part as $value) {
        work($value);
    }
    $part[1];
    $part[2] = 3;
    isset($part[4]);
    unset($part[5]);
    $part = null;
    $numbers = [3, 1, 2];
    usort($numbers, "compare");
    preg_replace_callback("/./", function ($match) {
        return work($match[0]);
    }, "abc");
    call_user_func_array([new ReflectionFunction("work"), "invoke"], [1]);
    $short = fn ($value) => work($value);
    $short(1);
    eval("work(1);");
}

do {
    run();
    $usage = getrusage();
    $used = $usage["ru_utime.tv_sec"] + $usage["ru_stime.tv_sec"] + ($usage["ru_utime.tv_usec"] + $usage["ru_stime.tv_usec"]) / 1e6;
} while ($used < $end);
