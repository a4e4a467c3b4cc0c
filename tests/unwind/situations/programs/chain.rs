// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause

// main -> outer -> middle -> leaf.
use std::hint::black_box;
use std::time::{Duration, Instant};

#[inline(never)]
fn leaf(n: u64) -> u64 {
    let mut x = 0u64;
    for i in 0..n {
        x = black_box(x.wrapping_mul(3).wrapping_add(i));
    }
    x
}

#[inline(never)]
fn middle(n: u64) -> u64 {
    black_box(leaf(n)) + 1
}

#[inline(never)]
fn outer(n: u64) -> u64 {
    black_box(middle(n)) + 1
}

fn main() {
    let duration: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(duration) {
        black_box(outer(100000));
    }
}
