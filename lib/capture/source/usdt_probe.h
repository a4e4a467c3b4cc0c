/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Statically defined probes of user programs (USDT): places in the code that its authors have
 * named, with their arguments. The linker keeps each as a note in .note.stapsdt: the address of the
 * place, that of .stapsdt.base when the note was made, that of a semaphore, then provider, name and
 * arguments as text (systemtap, includes/sys/sdt.h). A semaphore is a counter in the program's
 * memory; a program that has one passes the place only while the counter is not 0.
 */
#ifndef LIB_CAPTURE_USDT_PROBE_H
#define LIB_CAPTURE_USDT_PROBE_H

#include "question.h"

struct usdt_probe {
	const char *provider, *name, *arguments; /* valid only while the probe is visited */
	u64 offset;				 /* file offset of the probe's instruction */
	u64 semaphore; /* file offset of the semaphore; 0: the probe has no semaphore */
};

/* Callback for one probe; a non-zero return ends the visits. */
typedef int (*usdt_visit)(void *arg, const struct usdt_probe *probe);

/* Visits the probes of an open ELF file. 0, the non-zero return of `visit`, or -ENOEXEC: no ELF
 * file. Notes that are damaged, or outside of all segments, count as absent. */
int usdt_probe_each(int fd, usdt_visit visit, void *arg);

/*
 * Finds argument `number`, from 1, in the text of a probe's arguments, as "8@%rdi -4@12(%rsp)
 * 4@$5". -ENOENT: the probe has fewer; -EOPNOTSUPP: a form that is not read (a floating-point
 * number, two registers, a variable).
 */
int usdt_argument_find(const char *arguments, u32 number, struct event_number *out);

#endif
