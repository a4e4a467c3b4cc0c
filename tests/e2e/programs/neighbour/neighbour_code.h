/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the programs of malicious users: code in their files that runs for ever. */
#ifndef TESTS_E2E_NEIGHBOUR_CODE_H
#define TESTS_E2E_NEIGHBOUR_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE 4096UL

/* x86-64 code: a function with a frame that calls the function in rdi. */
extern const uint8_t neighbour_code[8];
typedef void (*through_code)(void (*function)(void));

/* If `is_well` is false, prints `what` and ends the process with status 77. */
void check(bool is_well, const char *what);

void write_text(const char *path, const char *text);

/* Makes the process root in a new user namespace with a new mount namespace. */
void enter_namespaces(void);

/* The child ends with its parent. */
pid_t fork_child(void);

void sleep_a_little(void);

/* Maps the file's first bytes as code. */
const char *map_file(const char *path, size_t bytes);

/* Calls all entries in turn for ever; prints that all is ready when each has run once. */
void run_for_ever(through_code *entries, int count) __attribute__((noreturn));

#endif
