/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names are those that systemd and the container runtimes give to cgroups. */
#include "agent/service_names.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

#define NAME_BYTES 256
#define ID_DIGITS 64
#define ID_SHOWN 12

struct rule {
	char *glob, *name, *version;
};

struct service_names {
	struct rule *rules;
	u32 count;
	char name[NAME_BYTES]; /* of the last answer */
};

/* --- rules --- */

static int copy_rule(const char *text, struct rule *rule)
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
		err = copy_rule(rules[i], &names->rules[names->count++]);
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

static const struct rule *rule_of(const struct service_names *names, const char *cgroup)
{
	for (u32 i = 0; i < names->count; i++)
		if (!fnmatch(names->rules[i].glob, cgroup, 0))
			return &names->rules[i];
	return NULL;
}

/* --- what a cgroup is called --- */

/* A part of the path; it has no end of its own. */
struct part {
	const char *at;
	size_t length;
};

static bool ends_with(const struct part *part, const char *suffix)
{
	size_t length = strlen(suffix);

	return part->length > length && !memcmp(part->at + part->length - length, suffix, length);
}

static bool begins_with(const struct part *part, const char *prefix)
{
	return part->length >= strlen(prefix) && !memcmp(part->at, prefix, strlen(prefix));
}

static size_t count_digits(const char *at, size_t length, int (*is_digit)(int))
{
	size_t count = 0;

	while (count < length && is_digit((unsigned char)at[count]))
		count++;
	return count;
}

/* The id of a container: all of the part, or what is behind its last "-". */
static bool find_id(struct part *part)
{
	struct part id = *part;

	if (ends_with(&id, ".scope"))
		id.length -= strlen(".scope");
	if (id.length < ID_DIGITS)
		return false;
	if (id.length > ID_DIGITS && id.at[id.length - ID_DIGITS - 1] != '-')
		return false;
	id.at += id.length - ID_DIGITS;
	if (count_digits(id.at, ID_DIGITS, isxdigit) < ID_DIGITS)
		return false;
	*part = (struct part){id.at, ID_SHOWN};
	return true;
}

static void cut_instance(struct part *part)
{
	const char *at = memchr(part->at, '@', part->length);

	if (at && at > part->at)
		part->length = at - part->at;
}

/* "run-u17" and "run-r0123..." become "run", "app-NAME-123" becomes "app-NAME". */
static void cut_number(struct part *part)
{
	size_t digits = 0;

	if (begins_with(part, "run-u") || begins_with(part, "run-r")) {
		if (count_digits(part->at + 5, part->length - 5, isxdigit) == part->length - 5)
			part->length = strlen("run");
		return;
	}
	if (!begins_with(part, "app-"))
		return;
	while (isdigit((unsigned char)part->at[part->length - digits - 1]))
		digits++;
	if (digits && part->at[part->length - digits - 1] == '-')
		part->length -= digits + 1;
}

/* Whether the part says something; it becomes the name in it. */
static bool find_name(struct part *part)
{
	if (!part->length || (begins_with(part, "session-") && ends_with(part, ".scope")))
		return false;
	if (find_id(part))
		return true;
	if (ends_with(part, ".service"))
		part->length -= strlen(".service");
	else if (ends_with(part, ".scope"))
		part->length -= strlen(".scope");
	else if (ends_with(part, ".slice"))
		part->length -= strlen(".slice");
	cut_instance(part);
	cut_number(part);
	return true;
}

/* The innermost of a kind; a unit says more than the folders that it has made below it. */
static bool find_part(const char *cgroup, bool units_only, struct part *found)
{
	const char *end = cgroup + strlen(cgroup);

	while (end > cgroup) {
		struct part part;

		part.at = memrchr(cgroup, '/', end - cgroup);
		part.at = part.at ? part.at + 1 : cgroup;
		part.length = end - part.at;
		end = part.at > cgroup ? part.at - 1 : cgroup;
		*found = part;
		if (units_only && !ends_with(&part, ".service") && !find_id(&part))
			continue;
		if (find_name(found))
			return true;
	}
	return false;
}

static int hex_value(char digit)
{
	return isdigit((unsigned char)digit) ? digit - '0'
					     : tolower((unsigned char)digit) - 'a' + 10;
}

static bool is_escape(const char *at, size_t left)
{
	return left >= 4 && at[0] == '\\' && at[1] == 'x' && isxdigit((unsigned char)at[2]) &&
	       isxdigit((unsigned char)at[3]);
}

/* systemd writes "-" in a name as "\x2d". */
static const char *unescape(const struct part *part, char name[NAME_BYTES])
{
	size_t used = 0;

	for (size_t i = 0; i < part->length && used + 1 < NAME_BYTES; i++) {
		name[used] = part->at[i];
		if (is_escape(part->at + i, part->length - i)) {
			name[used] = hex_value(part->at[i + 2]) << 4 | hex_value(part->at[i + 3]);
			i += 3;
		}
		used += name[used] != 0;
	}
	name[used] = 0;
	return name;
}

static const char *name_of(struct service_names *names, const char *cgroup, bool is_kernel_thread)
{
	struct part part;

	if (find_part(cgroup, true, &part) || find_part(cgroup, false, &part))
		return unescape(&part, names->name);
	return is_kernel_thread ? SERVICE_KERNEL : SERVICE_OTHER;
}

struct task_service service_names_of(void *arg, const char *cgroup, bool is_kernel_thread)
{
	struct service_names *names = arg;
	const struct rule *rule = rule_of(names, cgroup);

	if (rule && *rule->name)
		return (struct task_service){rule->name, rule->version};
	return (struct task_service){name_of(names, cgroup, is_kernel_thread),
				     rule ? rule->version : ""};
}
