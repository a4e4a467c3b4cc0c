/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of demangler.c that runs in a sandbox (privilege/sandbox.h).
 *
 * Request: u32, the bytes of a name; the name. Answer: u32, the bytes of the demangled name, 0 if
 * there is none; the name. Neither has a NUL.
 */
#ifndef LIB_SYMBOL_DEMANGLE_SERVICE_H
#define LIB_SYMBOL_DEMANGLE_SERVICE_H

#define MANGLED_BYTES_MAX 65536
#define DEMANGLED_BYTES_MAX 65536

/* Until the other side closes the socket. */
void demangle_serve(int socket);

#endif
