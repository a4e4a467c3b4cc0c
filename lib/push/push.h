/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends recordings to receivers of profiles: an OpenTelemetry collector, Pyroscope, Parca. One
 * recording is one request.
 *
 * None of the protocols lets a receiver recognise a request that is sent twice: a request without
 * an answer may have been stored, and would be stored a second time. A request is sent at most
 * once; a user who needs exact numbers compares the ledger that is sent with each profile to the
 * stored events.
 */
#ifndef LIB_PUSH_H
#define LIB_PUSH_H

#include "export/export_format.h"
#include "scalar.h"
#include "stackmap/error.h"

/*
 * The URL of a receiver: KIND+http[s]://HOST[:PORT][/PATH]. The kind gives the protocol
 * (push_kind.h), and the default port and path. Any other form is refused, with the reason.
 */

struct push_kind;

struct push_url {
	const struct push_kind *kind;
	char *base; /* scheme, host and port of the receiver: "https://HOST:PORT" */
	char *path; /* path of the receiver's URL: "/..." */
};

/* Parses the URL of a receiver. -EINVAL: the URL is wrong, `error` has the reason; -ENOMEM. *url is
 * untouched on failure. */
int push_url_parse(const char *text, struct push_url *url, struct stackmap_error *error);
void push_url_clear(struct push_url *url);

/* How to log in to a receiver of profiles. The texts must live until push_open() returns. */
struct push_access {
	/* User and password for basic authentication; NULL: not used. */
	const char *user, *password;
	const char *bearer;    /* token for bearer authentication; NULL: not used */
	const char *ca_file;   /* path of a file with trusted certificates; NULL: those that the
				  system trusts */
	bool allows_cleartext; /* user, password and token may be sent over http to another machine
				*/
	u32 timeout_ms;	       /* time limit for a whole request; 0: 60 s */
};

struct push;

/* Prepares requests to a receiver; no connection is made yet. -EINVAL: a wrong URL, or a secret
 * that would be sent in cleartext (http_refuse_cleartext_secrets()); -ENOSYS: libcurl is not
 * installed. */
int push_open(const char *url, const struct push_access *access, struct push **out,
	      struct stackmap_error *error);
void push_close(struct push **push);

/*
 * Sends the events that pass the filter of `options`; host, service and labels are the identity of
 * the profile. If no event passes, no request is made. 0: the receiver accepted the profile.
 *
 * -EACCES: user, password or token are wrong; -EINVAL: the receiver refused the profile; -EBUSY:
 * the receiver is overloaded; -EBADMSG, -EIO, -ETIMEDOUT, -EFBIG: the profile may or may not be
 * stored; -ECONNREFUSED, -EPROTO: no connection, or the receiver's certificate is not trusted. The
 * error contains the text of the receiver, which may be any bytes.
 */
int push_recording(struct push *push, struct trace_reader *reader,
		   const struct export_options *options, struct stackmap_error *error);

#endif
