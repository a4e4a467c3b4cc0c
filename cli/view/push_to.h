/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sending a recording to a receiver of profiles: address, credentials and labels. */
#ifndef CLI_PUSH_TO_H
#define CLI_PUSH_TO_H

#include "export/export_format.h"
#include "option/option.h"
#include "push/push.h"

struct push_values {
	const char *to, *user, *password_file, *bearer_file, *ca_file;
	bool allow_cleartext;
	struct string_list labels;
};

/* The rows of a command whose struct `values` has a struct push_values as `member`. User, password
 * and certificates are options that it has for a store, too. */
/* clang-format off */
#define PUSH_ROWS(values, member)								\
	{"to", 0, OPTION_STRING, "URL", offsetof(values, member.to), "Sending",			\
		"send it: otlp+https://HOST, pyroscope+..., parca+..."},			\
	{"label", 0, OPTION_STRINGS, "LABEL", offsetof(values, member.labels), "Sending",	\
		"said of the recording: service, version, host or your own; may be repeated"},	\
	{"bearer-file", 0, OPTION_STRING, "FILE", offsetof(values, member.bearer_file),	\
		"Sending", "a token instead of a user and a password"}
/* clang-format on */

/* 0, or -EINVAL and a message: wrong usage. */
int push_to_check(const struct push_values *values);

/* Builds the labels, which borrow from the values; push_to_forget() clears them. -ENOMEM. */
int push_to_identify(const struct push_values *values, struct export_identity *identity);
void push_to_forget(struct export_identity *identity);

/* Reads the secrets. NULL and a message on failure. */
struct push *push_to_open(const struct push_values *values);

#endif
