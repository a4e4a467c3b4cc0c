/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names for people: each mangled name is demangled once and kept. A recording has far more frames,
 * and functions inlined at them, than it has names.
 */
#ifndef LIB_REPORT_PLAIN_NAMES_H
#define LIB_REPORT_PLAIN_NAMES_H

struct plain_names;

int plain_names_create(struct plain_names **out);
void plain_names_free(struct plain_names **names);

/* The name demangled, which lives as long as `names`; or `mangled` itself, if it is no such name,
 * or if there is no memory. */
const char *plain_names_find(struct plain_names *names, const char *mangled);
#endif
