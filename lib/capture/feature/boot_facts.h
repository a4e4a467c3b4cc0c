/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores facts about the running kernel in a file for later processes: finding out a fact takes
 * time, and facts do not change until the next boot. The file has lines "BOOT_ID VALUE NAME", in a
 * folder of root. A fact that cannot be stored is found out again by each process. Any thread may
 * call these functions.
 */
#ifndef LIB_CAPTURE_BOOT_FACTS_H
#define LIB_CAPTURE_BOOT_FACTS_H

#include <stdbool.h>

#define BOOT_FACTS_FOLDER "/run/stackmap"

/* Returns the value of a fact, 1 or 0; -1: the fact is not stored in this boot, or the file is not
 * trusted. */
int boot_fact_read(const char *folder, const char *name);

/* Stores the value of a fact; `name` has no newline. */
void boot_fact_store(const char *folder, const char *name, bool value);

#endif
