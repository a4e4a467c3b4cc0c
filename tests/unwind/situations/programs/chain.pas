{ SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause }
{ outer -> middle -> leaf, by a compiler that writes no unwind tables. }
program chain;

uses BaseUnix, SysUtils;

var
  sink: int64;

procedure leaf(n: int64);
var
  i: int64;
begin
  for i := 1 to n do
    sink := sink * 3 + i;
end;

procedure middle(n: int64);
begin
  leaf(n);
  inc(sink);
end;

procedure outer(n: int64);
begin
  middle(n);
  inc(sink);
end;

{ CPU time, ms. }
function milliseconds: int64;
var
  ticks: tms;
begin
  fptimes(ticks);
  milliseconds := ticks.tms_utime * 10;
end;

var
  stop: int64;
begin
  stop := milliseconds + StrToInt(ParamStr(1));
  while milliseconds < stop do
    outer(100000);
end.
