/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of `agent`, and the settings that follow from them. */
#ifndef CLI_AGENT_CHOICE_H
#define CLI_AGENT_CHOICE_H

#include "agent/service_names.h"
#include "session/session_options.h"
#include "store/wire/store_url.h"

struct agent_values {
	struct session_options record;
	const char *to, *user, *password_file, *bearer_file, *ca_file, *host, *spool, *exemplars,
		*cpu, *config;
	bool allow_cleartext;
	struct string_list labels, services;
	u64 spool_bytes, memory, window, batch, once; /* seconds; `once`: windows */
};

struct agent_choice {
	struct agent_values values;
	char host[256], boot[40];
	double cpu_percent; /* 0: no limit */
	struct store_url url;
	bool pushes;	/* sends to a receiver of profiles; `url` is unused then */
	char *password; /* or NULL */
	char *bearer;	/* or NULL */
	struct service_names *services;
};

/* Exit status; errors were printed. The caller calls agent_choice_clear() in any case. */
int agent_choice_make(struct agent_choice *choice, const struct agent_values *values);
void agent_choice_clear(struct agent_choice *choice);

/* Erases password and token, which the recorder does not need. */
void agent_choice_forget_secrets(struct agent_choice *choice);

#endif
