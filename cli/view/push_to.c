/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A service manager hands a password over in $CREDENTIALS_DIRECTORY. */
#include "push_to.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "push/push_secret.h"
#include "push/push_url.h"
#include "terminal/message.h"

static int refuse(const char *option)
{
	message("%s: only with --to URL", option);
	return -EINVAL;
}

/* What is said to a receiver needs one. */
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

/* NULL: there is none. */
static char *credential_path(void)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");
	char *path;

	if (!folder || asprintf(&path, "%s/stackmap.password", folder) < 0)
		return NULL;
	if (access(path, F_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static int read_password(const struct push_values *values, char **password,
			 struct stackmap_error *error)
{
	char *path;
	int err = 0;

	if (values->password_file || !values->user)
		return values->password_file
			       ? push_secret_read(values->password_file, password, error)
			       : 0;
	path = credential_path();
	if (path)
		err = push_secret_read(path, password, error);
	free(path);
	return err;
}

struct push *push_to_open(const struct push_values *values)
{
	struct push_access access = {.user = values->user, .ca_file = values->ca_file};
	char *password = NULL, *bearer = NULL;
	struct stackmap_error error;
	struct push *push = NULL;
	int err = read_password(values, &password, &error);

	if (!err && values->bearer_file)
		err = push_secret_read(values->bearer_file, &bearer, &error);
	access.password = password;
	access.bearer = bearer;
	err = err ?: push_open(values->to, &access, &push, &error);
	if (err)
		message_error(&error);
	push_secret_free(&password);
	push_secret_free(&bearer);
	return err ? NULL : push;
}
