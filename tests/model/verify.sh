#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Verifies a Spin model exhaustively: verify.sh holds|fails MODEL ["-DNAME..."]
# "fails": what the names choose is broken on purpose, and Spin has to find that out.
set -eu
expected=$1 model=$(realpath "$2") names=${3:-}

command -v spin >/dev/null || { echo "skipped: spin is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck disable=SC2086 # the names are meant to be split
spin $names -a "$model" >spin.log || { cat spin.log; exit 1; }
# To optimise all of it takes longer than it saves: only what a search spends its time in, which is to find a state again.
sed -i -E 's/^(d_sfh|compress|ordinal|h_store|col_p|s_hash)\(/__attribute__((optimize("O2"))) &/' pan.c
cc -O0 -DSAFETY -DVECTORSZ=2048 -DCOLLAPSE -w -o pan pan.c
./pan -m100000 >pan.log 2>&1 || true
grep -E 'errors:|error|pan:|states, stored' pan.log || true
grep -q 'max search depth too small\|out of memory' pan.log && { echo "the search was not exhaustive"; exit 1; }
case $expected in
holds) grep -q 'errors: 0' pan.log ;;
fails) grep -q 'assertion violated\|invalid end state' pan.log ;;
esac
