/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A rule of the user is tried first, then the service that the cgroup's path names. */
#include "agent/service_names.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "report/name/cgroup_service.h"

struct rule {
	char *glob, *name, *version;
};

struct service_names {
	struct rule *rules;
	u32 count;
	char name[CGROUP_SERVICE_BYTES]; /* name that service_names_of() returned last */
};

/* --- rules of the user --- */

static int copy_service_rule(const char *text, struct rule *rule)
{
	rule->glob = strdup(text);
	if (!rule->glob)
		return -ENOMEM;
	rule->name = strrchr(rule->glob, '=');
	if (!rule->name || rule->name == rule->glob)
		return -EINVAL;
	*rule->name++ = 0;
	rule->version = strchr(rule->name, ':');
	if (!rule->version)
		rule->version = rule->name + strlen(rule->name);
	else
		*rule->version++ = 0;
	return *rule->name || *rule->version ? 0 : -EINVAL;
}

int service_names_create(const char *const *rules, u32 count, struct service_names **out,
			 struct stackmap_error *error)
{
	struct service_names *names = calloc(1, sizeof(*names));
	int err = 0;

	if (names)
		names->rules = calloc(count ?: 1, sizeof(*names->rules));
	if (!names || !names->rules)
		err = error_set(error, ENOMEM, "services: %s", strerror(ENOMEM));
	for (u32 i = 0; i < count && !err; i++) {
		err = copy_service_rule(rules[i], &names->rules[names->count++]);
		if (err == -EINVAL)
			error_set(error, EINVAL,
				  "%s: must be GLOB=NAME, GLOB=NAME:VERSION or "
				  "GLOB=:VERSION",
				  rules[i]);
		else if (err)
			error_set(error, -err, "services: %s", strerror(-err));
	}
	if (err)
		service_names_free(&names);
	else
		*out = names;
	return err;
}

void service_names_free(struct service_names **names)
{
	struct service_names *old = *names;

	*names = NULL;
	if (!old)
		return;
	for (u32 i = 0; i < old->count; i++)
		free(old->rules[i].glob);
	free(old->rules);
	free(old);
}

struct task_service service_names_of(void *arg, const char *cgroup, bool is_kernel_thread)
{
	struct service_names *names = arg;
	const struct rule *rule = NULL;

	for (u32 i = 0; i < names->count && !rule; i++)
		if (!fnmatch(names->rules[i].glob, cgroup, 0))
			rule = &names->rules[i];
	if (rule && *rule->name)
		return (struct task_service){rule->name, rule->version};
	if (!cgroup_service_name(cgroup, names->name))
		strcpy(names->name, is_kernel_thread ? SERVICE_KERNEL : SERVICE_OTHER);
	return (struct task_service){names->name, rule ? rule->version : ""};
}
