/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends what is in the spool to the shard of its machine, oldest first. It is made for a process of
 * its own: the HTTP and TLS client is then in no process with privileges, and a server that hangs
 * delays no window. All that it shares with the recorder is the spool's folder, and its state,
 * which may lie in memory that both have.
 *
 * A failed insert is in doubt, whatever the server said of it, and so are the batches that are
 * there at a start: the sender before may have been killed. Before it is sent again the server is
 * asked how many rows of it are there. It is sent again as the same bytes, under the same name.
 *
 * What a sender is refused (password, tables, a newer schema, a clock that is off) stays in the
 * spool and is tried again every minute. A batch that is refused while others are taken holds none
 * of them back, and is set aside in the end.
 */
#ifndef LIB_STORE_WRITE_SENDER_H
#define LIB_STORE_WRITE_SENDER_H

#include "store/wire/store_url.h"
#include "store/write/spool.h"

#define SENDER_TIMEOUT_MS 30000
#define SENDER_SKEW_SHIFTED 2		/* seconds: beyond that windows are shifted */
#define SENDER_SKEW_REFUSED (24 * 3600) /* beyond that nothing is sent */

struct sender_options {
	const struct store_url *url;
	const struct clickhouse_options *server; /* user, password...: its `base` is set here */
	const char *host;			 /* whose shard it is */
	struct spool *spool;			 /* SPOOL_DRAIN; borrowed */
	/* What is wrong, and that it is over: once each. NULL: nobody wants to know. */
	void (*say)(void *arg, const char *text);
	void *arg;
};

enum sender_standing {
	SENDER_STARTING, /* no answer of the server yet */
	SENDER_IDLE,	 /* all is sent */
	SENDER_SENDING,	 /* there is more */
	SENDER_AWAY,	 /* the server does not answer, or fails */
	SENDER_REFUSED,	 /* it refuses: see `error` */
	SENDER_CLOCK,	 /* the clock is off by more than a day */
};

/* For a status line, and for the clock of windows. Numbers may be of different moments. */
struct sender_state {
	enum sender_standing standing;
	u32 waiting; /* batches in the spool */
	u64 waiting_bytes;
	u64 batches, rows;   /* sent, since the start */
	u64 bytes;	     /* on the wire, both ways */
	u32 suspects;	     /* of those that wait: refused, while others may be taken */
	u64 refused;	     /* batches that were set aside, since the start */
	u64 lost;	     /* ledgers sent of batches whose rows were gone */
	u64 doubts, repeats; /* times that was asked; batches that were sent again */
	u32 damaged;
	bool skew_known;
	s32 skew;	 /* seconds to add to this machine's clock; 0 up to SENDER_SKEW_SHIFTED */
	char error[256]; /* the last; "": it goes well */
};

struct sender;

/* `state` must outlive the sender. */
int sender_open(const struct sender_options *options, struct sender_state *state,
		struct sender **out, struct stackmap_error *error);
void sender_close(struct sender **sender);

/* One step: a batch, a question, or nothing, which takes no longer than some requests. Returns
 * after how many milliseconds the next one is due. The first one asks for the schema, and so for
 * the clock, whether there is a batch or not. */
u32 sender_step(struct sender *sender);

#endif
