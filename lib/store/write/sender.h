/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sender sends the spool's batches to the shard of its machine, oldest first. The sender runs
 * in a process of its own: the HTTP and TLS client then has no privileges, and a server that hangs
 * does not delay the recording of windows. Sender and recorder share the spool's folder and the
 * sender's state, which may lie in shared memory.
 *
 * After a failed insert it is unknown which rows are stored, whatever the server answered. The same
 * holds for each batch that is in the spool at the start, because an earlier sender may have been
 * killed. Before the sender sends such a batch again, it asks the server for the number of stored
 * rows. It then sends the same bytes with the same deduplication token.
 *
 * Batches that the server refuses (password, tables, a newer schema, a wrong clock) stay in the
 * spool and are retried every minute. A batch that is refused while others are accepted does not
 * block the others, and is set aside in the end.
 */
#ifndef LIB_STORE_WRITE_SENDER_H
#define LIB_STORE_WRITE_SENDER_H

#include "store/wire/store_url.h"
#include "store/write/spool.h"

#define SENDER_TIMEOUT_MS 30000
#define SENDER_SKEW_SHIFTED 2 /* seconds; if the clock is off by more, times are corrected */
#define SENDER_SKEW_REFUSED (24 * 3600) /* seconds; if the clock is off by more, sending stops */

struct sender_options {
	const struct store_url *url;
	const struct clickhouse_options *server; /* user, password...; the sender sets `base` */
	const char *host;			 /* name of this machine, which selects the shard */
	struct spool *spool; /* spool that was opened with SPOOL_DRAIN; the caller closes it after
				the sender */
	/* Function that gets one message when a failure begins, and one when the failure ends; may
	 * be NULL. */
	void (*say)(void *arg, const char *text);
	void *arg;
};

enum sender_standing {
	SENDER_STARTING, /* the server has not answered yet */
	SENDER_IDLE,	 /* all batches are sent */
	SENDER_SENDING,	 /* batches are waiting */
	SENDER_AWAY,	 /* the server does not answer, or fails */
	SENDER_REFUSED,	 /* the server refuses the rows or the login: see `error` */
	SENDER_CLOCK,	 /* the clock is off by more than a day */
};

/*
 * The sender's state for a status line, and for the clock of windows. The members may be from
 * different moments.
 */
struct sender_state {
	enum sender_standing standing;
	u32 waiting; /* number of batches in the spool */
	u64 waiting_bytes;
	u64 batches, rows;   /* number of batches and of rows sent since the start */
	u64 bytes;	     /* number of bytes sent and received */
	u32 suspects;	     /* number of waiting batches that the server has refused */
	u64 refused;	     /* number of batches that were set aside since the start */
	u64 lost;	     /* number of sent ledgers of batches whose rows are lost */
	u64 doubts, repeats; /* number of queries for stored events, and of batches that were sent
				again */
	u32 damaged;
	bool skew_known;
	s32 skew;	 /* seconds to add to this machine's clock; 0 while the clocks differ by
			    SENDER_SKEW_SHIFTED or less */
	char error[256]; /* message of the last failure; "" after a success */
};

struct sender;

/* `state` must outlive the sender. */
int sender_open(const struct sender_options *options, struct sender_state *state,
		struct sender **out, struct stackmap_error *error);
void sender_close(struct sender **sender);

/* Does one step: at most one batch, which takes a few requests. Returns the milliseconds until the
 * next step is due. The first step checks the schema and the clock, also with an empty spool. */
u32 sender_step(struct sender *sender);

#endif
