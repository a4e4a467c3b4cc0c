/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of demangler.c that runs in a sandbox (privilege/sandbox.h).
 *
 * Request and answer are a demangle_message each, as long as its name: the mangled one, and the
 * demangled one or nothing. Each goes in one piece, so that the other side wakes up once.
 */
#ifndef LIB_SYMBOL_DEMANGLE_SERVICE_H
#define LIB_SYMBOL_DEMANGLE_SERVICE_H

#include "scalar.h"

#define DEMANGLE_NAME_BYTES_MAX 65536

struct demangle_message {
	u32 bytes;			    /* of the name */
	char name[DEMANGLE_NAME_BYTES_MAX]; /* no NUL */
};

/* Until the other side closes the socket. */
void demangle_serve(int socket);

#endif
