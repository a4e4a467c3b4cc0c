(* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause *)
(* outer -> middle -> leaf. *)
let sink = ref 0

let[@inline never] leaf n =
  let x = ref 0 in
  for i = 0 to n do
    x := (!x * 3) + i
  done;
  !x

let[@inline never] middle n = sink := !sink + leaf n + 1
let[@inline never] outer n = middle n; sink := !sink + 1

let () =
  let stop = Sys.time () +. (float_of_string Sys.argv.(1) /. 1000.) in
  while Sys.time () < stop do
    outer 100000
  done
