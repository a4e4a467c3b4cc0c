/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define ____cacheline_aligned_in_smp __attribute__((aligned(64)))
