/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Steps that all recording commands share (session/session.h). */
#ifndef CLI_SESSION_FACE_H
#define CLI_SESSION_FACE_H

#include "capture/capture.h"
#include "capture/instance/status.h"
#include "session/session.h"

/* How user stacks are taken, as one word and as a phrase. */
const char *user_way_name(enum user_way way);
const char *user_way_meaning(enum user_way way);

/* Reports features that the kernel refused, the reason, and the replacement. */
void user_way_tell(struct capture *capture);

/* Reports how many user stacks were unwound at the event, and how many were deferred for which
 * reason, since the beginning of the recording or of the instance. */
void user_way_tell_counts(struct capture *capture);

/* Drops the privileges that the session does not need from now on. `ends_command`: the command is
 * ended with the recording. `later_file`: a file that is made later; NULL: no file. Exit status. */
int session_face_drop_privileges(const struct session *session, bool ends_command,
				 const char *later_file);

/* Reports the owners of files that gave no names, which recordings only count: each owner once,
 * with one of the files. */
void session_face_tell_nameless(const struct session *session);

/* Tries a recording of CPU samples in memory, and ends it at once. 0, and *way is the way to its
 * user stacks, with the reason in *error if the kernel refused a better way, else an empty one; or
 * -errno with the error that `record` would print. The process loses its privileges in the call, so
 * a second try fails. */
int session_face_try(enum user_way *way, struct stackmap_error *error);

#endif
