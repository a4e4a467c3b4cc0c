/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From an instance to files: one for all, or one for each window of a rotation, or one for each
 * snapshot of a flight recorder. Says what each file holds.
 */
#ifndef CLI_RECORDER_H
#define CLI_RECORDER_H

#include "capture/capture.h"
#include "rotation.h"
#include "trace/write/writer.h"

struct recorder {
	struct capture *capture;
	const char *output;
	const char *instance; /* whose events are taken; NULL: our own */
	u64 frequency;	      /* as the file tells it */
	bool quiet;
	struct rotation rotation;
	char *command_line;
	struct trace_writer *writer;		 /* NULL: no file is open */
	char *path;				 /* its name */
	int status;				 /* of the files that were closed: the worst */
	u64 produced;				 /* events, of the files that were closed */
	u64 next_flush, next_progress, next_try; /* ms */
	u64 naming_until;     /* ms: until then the window waits for names of others' files; 0: the
				 window is not due */
	u64 naming_own_until; /* the same of root's files and our own */
};

void recorder_init(struct recorder *recorder);
void recorder_clear(struct recorder *recorder);

/* Drain: the first file, with all that comes before the events; and in its place. Exit status, and
 * so are those below. */
int recorder_open(struct recorder *recorder);
int recorder_publish(struct recorder *recorder);

/* One visit to the rings. Returns in how many ms the next is due, or -errno: no file can be written
 * any more. */
int recorder_round(struct recorder *recorder);

/* The last file ends: of a capture at rest, or with what was recorded until now. */
int recorder_close(struct recorder *recorder);
int recorder_end(struct recorder *recorder);

/* Flight, frozen or detached: a file of this moment. */
int recorder_snapshot(struct recorder *recorder, const char *path);

#endif
