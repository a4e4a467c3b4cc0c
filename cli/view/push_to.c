/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "push_to.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "option/password_file.h"
#include "push/push.h"
#include "secret_file.h"
#include "terminal/message.h"

static int refuse(const char *option)
{
	message("%s: only with --to URL", option);
	return -EINVAL;
}

/* Refuses options of a receiver if no receiver is given. */
static int check_alone(const struct push_values *values)
{
	if (values->bearer_file)
		return refuse("--bearer-file");
	return values->labels.count ? refuse("--label") : 0;
}

static int check_labels(const struct string_list *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		const char *equals = strchr(labels->items[i], '=');

		if (equals && equals != labels->items[i] && equals[1])
			continue;
		message("--label %s: it is KEY=VALUE", labels->items[i]);
		return -EINVAL;
	}
	return 0;
}

int push_to_check(const struct push_values *values)
{
	struct stackmap_error error;
	struct push_url url;

	if (!values->to)
		return check_alone(values);
	if (push_url_parse(values->to, &url, &error)) {
		message("--to: %s", error.message);
		return -EINVAL;
	}
	push_url_clear(&url);
	if (values->bearer_file && (values->user || values->password_file)) {
		message("--bearer-file: instead of --user and --password-file, not beside them");
		return -EINVAL;
	}
	if (values->password_file && !values->user) {
		message("--password-file: --user is missing");
		return -EINVAL;
	}
	return check_labels(&values->labels);
}

/* The value of a label of this key, or NULL. */
static const char *value_of(const char *label, const char *key)
{
	size_t length = strlen(key);

	return strncmp(label, key, length) == 0 && label[length] == '=' ? &label[length + 1] : NULL;
}

static int add_label(struct export_identity *identity, const char *label)
{
	struct string_list *labels = &identity->labels;
	const char **known[] = {&identity->service, &identity->version, &identity->host};
	static const char *const keys[] = {"service", "version", "host"};
	u32 room = (u32)labels->room;
	int err;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *value = value_of(label, keys[i]);

		if (!value)
			continue;
		*known[i] = value;
		return 0;
	}
	err = array_make_room(labels->items, labels->count, room);
	labels->room = room;
	if (!err)
		labels->items[labels->count++] = label;
	return err;
}

int push_to_identify(const struct push_values *values, struct export_identity *identity)
{
	int err = 0;

	for (size_t i = 0; i < values->labels.count && !err; i++)
		err = add_label(identity, values->labels.items[i]);
	return err;
}

void push_to_forget(struct export_identity *identity)
{
	free(identity->labels.items);
	*identity = (struct export_identity){};
}

struct push *push_to_open(const struct push_values *values)
{
	struct push_access access = {.user = values->user,
				     .ca_file = values->ca_file,
				     .allows_cleartext = values->allow_cleartext};
	char *password = NULL, *bearer = NULL;
	struct stackmap_error error;
	struct push *push = NULL;
	int err = 0;

	if (values->user && password_file_read(values->password_file, &password))
		return NULL;
	if (values->bearer_file)
		err = secret_file_read(values->bearer_file, &bearer, &error);
	access.password = password;
	access.bearer = bearer;
	err = err ?: push_open(values->to, &access, &push, &error);
	if (err)
		message_error(&error);
	secret_free(&password);
	secret_free(&bearer);
	return err ? NULL : push;
}
