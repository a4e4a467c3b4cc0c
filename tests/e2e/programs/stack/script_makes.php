<?php
// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// requests: starts a server of PHP and asks it so many times. A request makes two functions with its number in their names and runs them; when
// it ends, they are freed, and those of the next request are made in the same memory.
// closures: for so many seconds, makes two closures on a line of their own, runs one within the other and frees them. The line is the number of
// the pair, counted up to CLOSURE_LINES again and again.
// usage: php script_makes.php requests REQUESTS | closures SECONDS

if (PHP_SAPI === "cli-server") {
    $number = $_GET["number"];
    eval("function inner_$number() { for (\$i = 0; \$i < 60000; \$i++) \$total = \$i * \$i; return \$total; }
        function outer_$number() { return inner_$number(); }
        outer_$number();");
    return;
}

const CLOSURE_LINES = 5000;

function make_closures($seconds)
{
    $end = hrtime(true) + $seconds * 1e9;
    for ($number = 0; hrtime(true) < $end; $number = ($number + 1) % CLOSURE_LINES) {
        $outer = eval(str_repeat("\n", $number) . 'return function () {
            $inner = function () { for ($i = 0; $i < 1500; $i++) $total = $i * $i; return $total; }; return $inner(); };');
        $outer();
        $outer = null;
    }
}

if ($argv[1] === "closures") {
    make_closures($argv[2]);
    return;
}
$socket = stream_socket_server("tcp://127.0.0.1:0");
$address = stream_socket_get_name($socket, false);
fclose($socket);
$server = proc_open([PHP_BINARY, "-q", "-S", $address, __FILE__], array_fill(0, 3, ["file", "/dev/null", "r+"]), $pipes);
while (!@stream_socket_client("tcp://$address") && proc_get_status($server)["running"])
    continue;
for ($number = 1; $number <= $argv[2]; $number++)
    file_get_contents(sprintf("http://%s/?number=%07d", $address, $number));
proc_terminate($server);
