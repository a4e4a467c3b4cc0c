/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events from a store of many machines instead of a file, for the commands that read recordings:
 * the selection of events, the time range, and reports about missing data.
 */
#ifndef CLI_FROM_H
#define CLI_FROM_H

#include "option/option.h"
#include "store/read/store_recording.h"

struct from_values {
	const char *url, *since, *until;
	struct string_list services, versions, hosts;
	const char *user, *password_file, *ca_file;
	bool allow_cleartext;
	u64 cap;
	u64 seconds; /* length of the time range from `since` on, in seconds; 0: the range has no
			length of its own. No option sets this member. */
};

/* The option rows of a command whose struct `values` has a struct from_values as `member`. */
/* clang-format off */
#define FROM_ACCESS_ROWS(values, member)							\
	{"user", 0, OPTION_STRING, "USER", offsetof(values, member.user), "Store",		\
		"who asks the store"},								\
	{"password-file", 0, OPTION_STRING, "FILE", offsetof(values, member.password_file),	\
		"Store", "the password is its only line"},					\
	{"ca-file", 0, OPTION_STRING, "FILE", offsetof(values, member.ca_file), "Store",	\
		"certificates that the store's is checked by, instead of the system's"},	\
	{"allow-cleartext", 0, OPTION_FLAG, NULL, offsetof(values, member.allow_cleartext),	\
		"Store", "send the password over http, too, where others can read it"}
#define FROM_ROWS(values, member)								\
	{"from", 0, OPTION_STRING, "URL", offsetof(values, member.url), "Store",		\
		"a store of many machines, instead of FILE"},					\
	{"service", 0, OPTION_STRINGS, "SERVICE", offsetof(values, member.services), "Store",	\
		"only this service (a glob); may be repeated"},					\
	{"version", 0, OPTION_STRINGS, "VERSION", offsetof(values, member.versions), "Store",	\
		"only this version (a glob); may be repeated"},					\
	{"host", 0, OPTION_STRINGS, "HOST", offsetof(values, member.hosts), "Store",		\
		"only this host (a glob); may be repeated"},					\
	{"since", 0, OPTION_STRING, "TIME", offsetof(values, member.since), "Store",		\
		"from then on: 90s, 15m, 2h, 1d ago, or 2026-11-25T20:00 UTC (default 1h)"},	\
	{"until", 0, OPTION_STRING, "TIME", offsetof(values, member.until), "Store",		\
		"before then (default now)"},							\
	FROM_ACCESS_ROWS(values, member)
/* Option rows of commands that show stacks. */
#define FROM_CAP_ROW(values, member)								\
	{"cap", 0, OPTION_U64, "N", offsetof(values, member.cap), "Store",			\
		"stacks that are told apart, all others are [rest] (default 100000)",		\
		1, 10000000}
/* clang-format on */

/* A question to a store, and the result. The texts of the question belong to the parsed options
 * (from_values). */
struct from_choice {
	struct store_access access;
	const char *password_file;
	char *password; /* password, which connect_to_store() reads */
	struct store_question question;
	bool is_partial; /* true: a server does not answer, so the result is incomplete */
};

/* Makes the question. 0, or -EINVAL after a message: wrong usage. */
int parse_store_options(const struct from_values *values, struct from_choice *choice);

/* Requests the times of events, in steps that are fine enough for a picture. */
void set_time_step_of_query(struct from_choice *choice);

/*
 * Makes the values for the second of two compared recordings: a copy in which `operand` replaces
 * one value: --version if given, else --host, else --since with the same length of time. `operand`
 * points to storage for the text. -EINVAL after a message.
 */
int copy_store_options_with_second_value(const struct from_values *values, char *const *operand,
					 struct from_values *second);

/*
 * Connects to the servers of the store. Returns NULL after a message on failure. The caller calls
 * from_choice_clear() in any case, after closing the connections.
 */
struct shards *connect_to_store(struct from_choice *choice);
void from_choice_clear(struct from_choice *choice);
/* Lists on standard error the servers that do not answer. */
void report_missing_store_servers(struct from_choice *choice, const struct shards *shards);

/* Reads the events of the store as a recording; NULL after a message on failure. */
struct trace_reader *open_recording_from_store(struct from_choice *choice);

#endif
