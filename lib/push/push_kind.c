/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The list of kinds, and the parts that the kinds share. */
#include "push_kind.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

const struct push_kind *const push_kinds[] = {&otlp_push, &pyroscope_push, &parca_push, NULL};

int push_export(const struct push_profile *profile, const struct export_format *format,
		char **bytes, size_t *length, struct stackmap_error *error)
{
	struct export_options options = *profile->options;
	char *made = NULL;
	FILE *to = open_memstream(&made, length);
	int err, closed;

	if (!to)
		return error_set_errno(error, ENOMEM, format->name);
	options.no_colons = true;
	err = format->write(profile->reader, &options, to, error);
	closed = fclose(to);
	if (!err && closed)
		err = error_set_errno(error, ENOMEM, format->name);
	if (err)
		free(made);
	else
		*bytes = made;
	return err;
}

static int each_label(const char *label, int (*each)(void *arg, const char *key, const char *value),
		      void *arg)
{
	size_t length = strcspn(label, "=");
	char *key = strndup(label, length);
	int err = key ? each(arg, key, label[length] ? &label[length + 1] : "") : -ENOMEM;

	free(key);
	return err;
}

int push_labels(const struct push_profile *profile,
		int (*each)(void *arg, const char *key, const char *value), void *arg)
{
	const struct export_identity *identity = &profile->options->identity;
	const char *host = identity->host ?: trace_reader_info(profile->reader)->hostname;
	int err = each(arg, "host", host);

	if (!err && identity->service)
		err = each(arg, "service", identity->service);
	if (!err && identity->version)
		err = each(arg, "version", identity->version);
	for (size_t i = 0; i < identity->labels.count && !err; i++)
		err = each_label(identity->labels.items[i], each, arg);
	return err;
}

char *push_label_key(const char *key)
{
	char *copy;

	if (asprintf(&copy, "%s%s", isdigit((u8)key[0]) ? "_" : "", key) < 0)
		return NULL;
	for (char *c = copy; *c; c++)
		if (!isalnum((u8)*c) || (u8)*c >= 0x80)
			*c = '_';
	return copy;
}
