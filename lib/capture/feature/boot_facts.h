/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Facts about the running kernel, kept for later processes: finding them out takes time, and they
 * do not change until the next boot. The file has lines "BOOT_ID VALUE NAME", in a folder of root.
 * A fact that cannot be kept is found out again. Any thread may call these functions.
 */
#ifndef LIB_CAPTURE_BOOT_FACTS_H
#define LIB_CAPTURE_BOOT_FACTS_H

#include <stdbool.h>

#define BOOT_FACTS_FOLDER "/run/stackmap"

/* 1 or 0; -1: not known for this boot, or the file is not trusted. */
int boot_fact_read(const char *folder, const char *name);

/* Keeps a fact; `name` has no newline. */
void boot_fact_store(const char *folder, const char *name, bool value);

#endif
