/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The work of demangling is bounded by counting. Each reference to an earlier part of the name
 * doubles the work at most; so does each conversion operator, which is read in two ways. A part
 * that is expanded once for each argument ("Dp" of types, "sp" of expressions) multiplies the work
 * by less than the length of the name. Names of at most 2^20 steps by this count are demangled in
 * this process, in some 10 ms at worst. The same holds for short names without an expansion,
 * because a piece that doubles the work has at least three bytes. Few programs have other names;
 * the first of them starts the sandbox.
 *
 * libiberty takes some 500 bytes of stack for each byte of a deeply nested name. The calling thread
 * may have 64 KiB of stack, so only names of at most OWN_STACK_BYTES are demangled on it; the
 * sandbox has a stack of its own.
 */
#include "demangler.h"

#include <errno.h>
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "privilege/message.h"
#include "privilege/sandbox.h"

/*
 * libiberty tells Rust from C++ by the form of the name; D needs a flag. Rust's legacy scheme ends
 * each name with a hash, which libiberty leaves out without DMGL_VERBOSE. "@plt" is not part of a
 * mangled name, and neither is the suffix that gcc adds to names of D for copies and parts of a
 * function. Both are cut off before demangling and put back after.
 */

#define PLT "@plt"

static bool is_d_name(const char *name)
{
	return !strncmp(name, "_D", 2);
}

static char *demangle_by_libiberty(const char *name)
{
	int style = is_d_name(name) ? DMGL_DLANG : DMGL_AUTO;

	return cplus_demangle(name, style | DMGL_PARAMS | DMGL_ANSI);
}

/* Demangles the first `bytes` bytes and appends the rest by the format `suffix`. */
static char *demangle_before_suffix(const char *name, size_t bytes, const char *suffix)
{
	char *part = strndup(name, bytes);
	char *plain = part ? demangle_by_libiberty(part) : NULL;
	char *text = NULL;

	if (plain && asprintf(&text, suffix, plain, name + bytes) < 0)
		text = NULL;
	free(plain);
	free(part);
	return text;
}

bool demangle_is_mangled(const char *name)
{
	return name[0] == '_';
}

char *demangle(const char *name)
{
	size_t bytes = strlen(name);
	size_t suffix = strlen(PLT);
	const char *clone = is_d_name(name) ? strchr(name, '.') : NULL;

	if (!demangle_is_mangled(name))
		return NULL;
	if (bytes > suffix && !strcmp(name + bytes - suffix, PLT))
		return demangle_before_suffix(name, bytes - suffix, "%s%s");
	if (clone)
		return demangle_before_suffix(name, clone - name, "%s [clone %s]");
	return demangle_by_libiberty(name);
}

#define DEMANGLE_NAME_BYTES_MAX 65536
#define SHORT_BYTES 64
#define OWN_STACK_BYTES 96
#define WORK_BITS 20
#define MEMORY_PARTS 8
#define LIMIT_MS 1000

/* A request with the mangled name, or an answer with the demangled name or without a name. Each is
 * sent in one piece, so that the other side wakes up once. */
struct demangle_message {
	s32 result; /* result in an answer: 0, or -EFBIG if the name takes too much memory */
	u32 bytes;  /* length of the name, without a NUL */
	char name[DEMANGLE_NAME_BYTES_MAX + 1]; /* the name; it is sent without a NUL */
};

#define HEAD_BYTES offsetof(struct demangle_message, name)

struct demangler {
	struct sandbox *sandbox; /* the sandbox in which names are demangled; NULL = not started */
	struct demangle_message *message; /* buffer for a request and its answer; NULL = the sandbox
					     was not started */
	int refusal;			  /* -errno: the reason why the sandbox cannot be started */
	struct demangle_failures failures;
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
	free((*demangler)->message);
	free(*demangler);
	*demangler = NULL;
}

/* libiberty returns NULL both for a name that is not mangled and for a name that takes too much
 * memory; errno tells the two apart. */
static int send_demangled_name(int socket, struct demangle_message *message)
{
	char *plain;
	size_t length;

	errno = 0;
	plain = demangle(message->name);
	message->result = !plain && errno == ENOMEM ? -EFBIG : 0;
	length = plain ? strlen(plain) : 0;
	if (length > DEMANGLE_NAME_BYTES_MAX)
		message->result = -EFBIG;
	message->bytes = message->result ? 0 : length;
	if (message->bytes)
		memcpy(message->name, plain, message->bytes);
	free(plain);
	return message_send(socket, message, HEAD_BYTES + message->bytes, MESSAGE_NO_DEADLINE);
}

/* Answers requests in the sandbox until the other side closes the socket. */
static void demangle_serve(int socket)
{
	struct demangle_message *message = malloc(sizeof(*message));
	int result = message ? 0 : -ENOMEM;

	while (!result) {
		result = message_receive(socket, message, HEAD_BYTES, MESSAGE_NO_DEADLINE);
		if (!result && message->bytes > DEMANGLE_NAME_BYTES_MAX)
			result = -EINVAL;
		result = result
				 ?: message_receive(socket, message->name, message->bytes,
						    MESSAGE_NO_DEADLINE);
		if (result)
			break;
		message->name[message->bytes] = 0;
		result = send_demangled_name(socket, message);
	}
	free(message);
}

static int receive_demangled_name(struct sandbox *sandbox, struct demangle_message *answer)
{
	int result = sandbox_receive(sandbox, answer, HEAD_BYTES);

	if (!result && (answer->bytes > DEMANGLE_NAME_BYTES_MAX || answer->result > 0))
		result = -EBADMSG;
	result = result ?: sandbox_receive(sandbox, answer->name, answer->bytes);
	if (!result && memchr(answer->name, 0, answer->bytes))
		result = -EBADMSG;
	if (result == -EBADMSG)
		sandbox_end_child(sandbox);
	return result;
}

/* Demangles a name in the sandbox: 0 and *plain, NULL for a name that is not mangled; or -errno. */
static int demangle_in_sandbox(struct demangler *demangler, const char *name, u32 bytes,
			       char **plain)
{
	struct demangle_message *message;
	int result;

	if (!demangler->message)
		demangler->message = malloc(sizeof(*demangler->message));
	if (!demangler->message)
		return -ENOMEM;
	if (!demangler->sandbox && !demangler->refusal)
		demangler->refusal =
			sandbox_start(demangle_serve, LIMIT_MS, MEMORY_PARTS, &demangler->sandbox);
	if (demangler->refusal)
		return demangler->refusal;
	message = demangler->message;
	message->result = 0;
	message->bytes = bytes;
	memcpy(message->name, name, bytes);
	result = sandbox_send_request(demangler->sandbox, message, HEAD_BYTES + bytes, NULL, 0)
			 ?: receive_demangled_name(demangler->sandbox, message)
			 ?: message->result;
	if (result)
		return result;
	*plain = message->bytes ? strndup(message->name, message->bytes) : NULL;
	return 0;
}

/* True for "S_", "S1A_", "T_", "T0_". */
static bool starts_back_reference(const char *at)
{
	const char *digits = at + 1;

	if (*at != 'S' && *at != 'T')
		return false;
	while ((*digits >= '0' && *digits <= '9') || (*digits >= 'A' && *digits <= 'Z'))
		digits++;
	return *digits == '_';
}

static u32 bit_width(size_t bytes)
{
	return 64 - __builtin_clzl(bytes);
}

/* Upper bound of the binary logarithm of the number of demangling steps. It is an upper bound
 * because text in the name may look like a reference, too.
 */
static u32 log2_of_demangling_steps(const char *name, size_t bytes)
{
	bool is_rust = !strncmp(name, "_R", 2);
	u32 bits = bit_width(bytes);

	for (const char *at = name; *at; at++)
		if (is_rust)
			bits += *at == 'B';
		else if (starts_back_reference(at) || !strncmp(at, "cv", 2))
			bits++;
		else if (!strncmp(at, "Dp", 2) || !strncmp(at, "sp", 2))
			bits += bit_width(bytes);
	return bits;
}

static bool is_cheap_to_demangle(const char *name, size_t bytes)
{
	if (bytes > OWN_STACK_BYTES)
		return false;
	if (bytes <= SHORT_BYTES && !strstr(name, "Dp") && !strstr(name, "sp"))
		return true;
	return (!strncmp(name, "_R", 2) || !strncmp(name, "_Z", 2)) &&
	       log2_of_demangling_steps(name, bytes) <= WORK_BITS;
}

char *demangler_demangle_name(struct demangler *demangler, const char *name)
{
	size_t bytes = strlen(name);
	char *plain = NULL;
	int result;

	if (!demangle_is_mangled(name))
		return NULL;
	if (is_cheap_to_demangle(name, bytes))
		return demangle(name);
	result = bytes > DEMANGLE_NAME_BYTES_MAX
			 ? -EFBIG
			 : demangle_in_sandbox(demangler, name, bytes, &plain);
	if (result && result != -EINTR && !demangler->failures.count++)
		demangler->failures.reason = sandbox_reason_of_failure(result);
	return plain;
}

struct demangle_failures demangler_failures(const struct demangler *demangler)
{
	return demangler->failures;
}
