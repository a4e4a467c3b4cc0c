/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recognises the names that systemd and the container runtimes give to cgroups. */
#include "report/name/cgroup_service.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "hex.h"

#define ID_DIGITS 64
#define ID_SHOWN 12

/* A component of the path, without a terminating NUL. */
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

static size_t count_leading_digits(const char *at, size_t length, int (*is_digit)(int))
{
	size_t count = 0;

	while (count < length && is_digit((unsigned char)at[count]))
		count++;
	return count;
}

/* Cuts a part to the id of a container: the whole part, or the text after its last "-". False: the
 * part has no such id. */
static bool cut_to_container_id(struct part *part)
{
	struct part id = *part;

	if (ends_with(&id, ".scope"))
		id.length -= strlen(".scope");
	if (id.length < ID_DIGITS)
		return false;
	if (id.length > ID_DIGITS && id.at[id.length - ID_DIGITS - 1] != '-')
		return false;
	id.at += id.length - ID_DIGITS;
	if (count_leading_digits(id.at, ID_DIGITS, isxdigit) < ID_DIGITS)
		return false;
	*part = (struct part){id.at, ID_SHOWN};
	return true;
}

/* "run-u17" and "run-r0123..." become "run", "app-NAME-123" becomes "app-NAME". */
static void cut_number_from_unit_name(struct part *part)
{
	size_t digits = 0;

	if (begins_with(part, "run-u") || begins_with(part, "run-r")) {
		if (count_leading_digits(part->at + 5, part->length - 5, isxdigit) ==
		    part->length - 5)
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

static bool is_login_session(const struct part *part)
{
	return begins_with(part, "session-") && ends_with(part, ".scope");
}

/* Cuts a part of a cgroup's path to the name of the service in it. False: the part has no useful
 * name. */
static bool cut_component_to_service_name(struct part *part)
{
	const char *at;

	if (!part->length || is_login_session(part))
		return false;
	if (cut_to_container_id(part))
		return true;
	if (ends_with(part, ".service"))
		part->length -= strlen(".service");
	else if (ends_with(part, ".scope"))
		part->length -= strlen(".scope");
	else if (ends_with(part, ".slice"))
		part->length -= strlen(".slice");
	if (begins_with(part, "lxc.payload.") && part->length > strlen("lxc.payload."))
		*part = (struct part){part->at + strlen("lxc.payload."),
				      part->length - strlen("lxc.payload.")};
	at = memchr(part->at, '@', part->length);
	if (at && at > part->at) /* NAME@INSTANCE */
		part->length = at - part->at;
	cut_number_from_unit_name(part);
	return true;
}

static bool is_unit_or_container(const struct part *part)
{
	struct part id = *part;

	return ends_with(part, ".service") ||
	       (ends_with(part, ".scope") && !is_login_session(part)) || cut_to_container_id(&id);
}

/* True for names such as "user-1000.slice" and "user@1000.service": digits between prefix and
 * suffix. */
static bool has_user_id_between(const struct part *part, const char *prefix, const char *suffix)
{
	size_t digits = part->length - strlen(prefix) - strlen(suffix);

	return begins_with(part, prefix) && ends_with(part, suffix) &&
	       part->length > strlen(prefix) + strlen(suffix) &&
	       count_leading_digits(part->at + strlen(prefix), digits, isdigit) == digits;
}

static bool is_user_manager(const struct part *part)
{
	return has_user_id_between(part, "user@", ".service");
}

/* Finds the owner: the outermost component that names an owner. False: the path has no owner. */
static bool find_owner_part(const char *cgroup, struct part *owner)
{
	for (const char *at = cgroup; *at; at += strcspn(at, "/")) {
		at += *at == '/';
		*owner = (struct part){at, strcspn(at, "/")};
		if (is_unit_or_container(owner) || has_user_id_between(owner, "user-", ".slice") ||
		    begins_with(owner, "lxc.payload."))
			return true;
	}
	return false;
}

/* Finds the innermost component after `from` that has a useful name. With `units_only` only units
 * and containers count. */
static bool find_innermost_name(const char *from, bool units_only, struct part *found)
{
	const char *end = from + strlen(from);

	while (end > from) {
		const char *slash = memrchr(from, '/', end - from);
		const char *at = slash ? slash + 1 : from;
		struct part part = {at, end - at};

		*found = part;
		if ((!units_only || (is_unit_or_container(&part) && !is_user_manager(&part))) &&
		    cut_component_to_service_name(found))
			return true;
		end = part.at > from ? part.at - 1 : from;
	}
	return false;
}

/* --- the service as text --- */

/* Decodes "\x2d", as systemd writes "-" in a name. Escapes of "/" and of control characters stay
 * as they are. */
static bool decode_systemd_escape(const char *at, size_t left, char *letter)
{
	if (left < 4 || at[0] != '\\' || at[1] != 'x' || !hex_bytes(at + 2, (u8 *)letter, 1))
		return false;
	return *letter && *letter != '/' && !iscntrl((unsigned char)*letter);
}

static size_t append_letter(char letter, char name[CGROUP_SERVICE_BYTES], size_t used)
{
	if (used + 1 < CGROUP_SERVICE_BYTES)
		name[used++] = iscntrl((unsigned char)letter) ? '?' : letter;
	return used;
}

static size_t append_unescaped(const struct part *part, char name[CGROUP_SERVICE_BYTES],
			       size_t used)
{
	for (size_t i = 0; i < part->length; i++) {
		char letter = part->at[i];

		if (decode_systemd_escape(part->at + i, part->length - i, &letter))
			i += 3;
		else
			letter = part->at[i];
		used = append_letter(letter, name, used);
	}
	return used;
}

static size_t append_owner(struct part owner, char name[CGROUP_SERVICE_BYTES])
{
	size_t used = 0;

	if (is_user_manager(&owner)) {
		used = append_unescaped(&(struct part){"user-", 5}, name, used);
		owner.at += strlen("user@");
		owner.length -= strlen("user@");
		owner.length -= strlen(".service");
	} else {
		cut_component_to_service_name(&owner);
	}
	return append_unescaped(&owner, name, used);
}

bool cgroup_service_name(const char *cgroup, char name[CGROUP_SERVICE_BYTES])
{
	struct part owner, inner;
	size_t used;

	if (find_owner_part(cgroup, &owner)) {
		used = append_owner(owner, name);
		if (find_innermost_name(owner.at + owner.length, true, &inner)) {
			used = append_letter('/', name, used);
			used = append_unescaped(&inner, name, used);
		}
	} else {
		if (!find_innermost_name(cgroup, false, &inner))
			return false;
		used = append_unescaped(&inner, name, 0);
	}
	name[used] = 0;
	return true;
}
