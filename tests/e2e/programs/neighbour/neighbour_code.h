/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What programs of bad neighbours share: code that runs for ever, from files of theirs. */
#ifndef TESTS_E2E_NEIGHBOUR_CODE_H
#define TESTS_E2E_NEIGHBOUR_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE 4096UL

/* x86-64: calls the function that it is given, with a frame of its own. */
extern const uint8_t neighbour_code[8];
typedef void (*through_code)(void (*function)(void));

/* Ends the process with status 77, and says why. */
void check(bool is_well, const char *what);

void write_text(const char *path, const char *text);

/* Root in a user namespace of its own, with mounts of its own. */
void enter_namespaces(void);

/* Ends with its parent. */
pid_t fork_child(void);

void sleep_a_little(void);

/* The file's first bytes, as code. */
const char *map_file(const char *path, size_t bytes);

/* Says that all is ready once each has run. */
void run_for_ever(through_code *entries, int count) __attribute__((noreturn));

#endif
