/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends recordings to those who receive profiles: an OpenTelemetry collector, Pyroscope, Parca. One
 * recording is one request.
 *
 * None of them says how to send again what is in doubt: a request whose answer did not come may
 * have been stored, and would be stored twice. So nothing is ever sent again here; whoever counts
 * compares the ledger that is sent along with what arrived.
 */
#ifndef LIB_PUSH_H
#define LIB_PUSH_H

#include "export/export_format.h"

/* Borrowed until push_open() returns. */
struct push_access {
	const char *user, *password; /* NULL: none */
	const char *bearer;	     /* token; NULL: none */
	const char *ca_file;	     /* NULL: those that the system trusts */
	bool allows_cleartext;	     /* secrets may go over http to another machine */
	u32 timeout_ms;		     /* of a whole request; 0: 60 s */
};

struct push;

/* Talks to nobody yet. -EINVAL: the URL (push_url.h), or a secret that would be sent in cleartext
 * (http_check_secrets()); -ENOSYS: libcurl is not installed. */
int push_open(const char *url, const struct push_access *access, struct push **out,
	      struct stackmap_error *error);
void push_close(struct push **push);

/*
 * The events that the filter of `options` passes; host, service and labels are its identity.
 * Without such events nothing is sent. 0: all was taken.
 *
 * -EACCES: user, password or token are wrong; -EINVAL: it was refused; -EBUSY: the receiver says
 * that it cannot take it now; -EBADMSG, -EIO, -ETIMEDOUT, -EFBIG: nobody knows whether it was
 * stored; -ECONNREFUSED, -EPROTO: there was no connection, or none to be trusted. What the receiver
 * says is part of the error, whatever bytes it is.
 */
int push_recording(struct push *push, struct trace_reader *reader,
		   const struct export_options *options, struct stackmap_error *error);

#endif
