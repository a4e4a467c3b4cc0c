{ SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause }
{ outer -> middle -> leaf, by a compiler that writes no unwind tables. }
program chain;

uses SysUtils;

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

var
  stop: qword;
begin
  stop := GetTickCount64 + StrToInt(ParamStr(1));
  while GetTickCount64 < stop do
    outer(100000);
end.
