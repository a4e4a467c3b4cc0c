/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define BIT_ULL(n) (1ULL << (n))
