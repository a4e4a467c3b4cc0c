/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was found out about the running kernel, for those who start later: it takes a while to try,
 * and does not change until the next boot. A file of lines "BOOT_ID VALUE NAME" in a folder of
 * root's; a fact that cannot be kept is found out again. Any thread; nothing here waits but for the
 * file system.
 */
#ifndef LIB_CAPTURE_BOOT_FACTS_H
#define LIB_CAPTURE_BOOT_FACTS_H

#include <stdbool.h>

#define BOOT_FACTS_FOLDER "/run/stackmap"

/* 1 or 0; -1: nobody has found it out on this boot, or has told it where only root can write. */
int boot_fact(const char *folder, const char *name);

/* `name` has no line's end in it. */
void boot_fact_keep(const char *folder, const char *name, bool value);

#endif
