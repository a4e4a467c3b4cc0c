/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of `agent`, and what they come to. */
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
	bool pushes;	/* to a receiver of profiles, which is no store: `url` is none then */
	char *password; /* NULL: none */
	char *bearer;	/* NULL: none */
	struct service_names *services;
};

/* Exit status; what is wrong was said. agent_choice_clear() in any case. */
int agent_choice_make(struct agent_choice *choice, const struct agent_values *values);
void agent_choice_clear(struct agent_choice *choice);

/* The recorder has no use for passwords and tokens. */
void agent_choice_forget_secrets(struct agent_choice *choice);

#endif
