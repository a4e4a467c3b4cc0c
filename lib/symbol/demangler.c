/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A piece of three bytes is the shortest that doubles a demangler's work, so a short name costs
 * some 10 ms at worst, and is done here. Few programs have long ones: the sandbox is started by the
 * first.
 */
#include "demangler.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "demangle_service.h"
#include "privilege/sandbox.h"
#include "scalar.h"

#define SHORT_BYTES 64
#define LIMIT_MS 1000

struct demangler {
	struct sandbox *sandbox; /* NULL: not started */
	bool is_refused;	 /* it cannot be started */
};

int demangler_create(struct demangler **out)
{
	struct demangler *demangler = calloc(1, sizeof(*demangler));

	if (!demangler)
		return -ENOMEM;
	*out = demangler;
	return 0;
}

void demangler_free(struct demangler **demangler)
{
	if (!*demangler)
		return;
	sandbox_end(&(*demangler)->sandbox);
	free(*demangler);
	*demangler = NULL;
}

static bool has_sandbox(struct demangler *demangler)
{
	if (!demangler->sandbox && !demangler->is_refused)
		demangler->is_refused =
			sandbox_start(demangle_serve, LIMIT_MS, &demangler->sandbox) != 0;
	return demangler->sandbox;
}

/* The answer: its text of `bytes` bytes is in text[]. */
static int receive(struct sandbox *sandbox, char *text, u32 *bytes)
{
	int result = sandbox_receive(sandbox, bytes, sizeof(*bytes));

	if (!result && *bytes > DEMANGLED_BYTES_MAX)
		result = -EBADMSG;
	result = result ?: sandbox_receive(sandbox, text, *bytes);
	if (!result && memchr(text, 0, *bytes))
		result = -EBADMSG;
	if (result == -EBADMSG)
		sandbox_distrust(sandbox);
	return result;
}

static char *ask(struct sandbox *sandbox, const char *name, u32 bytes)
{
	char text[DEMANGLED_BYTES_MAX];
	u32 plain_bytes;

	if (sandbox_request(sandbox, &bytes, sizeof(bytes), NULL, 0) ||
	    sandbox_send(sandbox, name, bytes) || receive(sandbox, text, &plain_bytes))
		return NULL;
	return plain_bytes ? strndup(text, plain_bytes) : NULL;
}

char *demangler_name(struct demangler *demangler, const char *name)
{
	size_t bytes = strlen(name);

	if (!demangle_is_mangled(name) || bytes > MANGLED_BYTES_MAX)
		return NULL;
	if (bytes <= SHORT_BYTES)
		return demangle(name);
	return has_sandbox(demangler) ? ask(demangler->sandbox, name, bytes) : NULL;
}
