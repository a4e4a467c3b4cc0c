/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Included before core/stack_hash.c: the stress test chooses at run time how many bits of the hash
 * count. */
#ifndef TESTS_STRESS_HASH_H
#define TESTS_STRESS_HASH_H

extern unsigned long stress_hash_keep;
#define STACK_HASH_KEEP stress_hash_keep

#endif
