/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What this process costs: its CPU time, with that of its threads and of all processes that it has
 * started, whether these have ended or not. What its programs take in other tasks is not in it.
 */
#ifndef LIB_AGENT_OWN_CPU_H
#define LIB_AGENT_OWN_CPU_H

#include "scalar.h"

/* In ns. It does not fall but when a process ends that nobody waits for. */
u64 own_cpu_ns(void);

#endif
