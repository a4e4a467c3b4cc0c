/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Of each file that could be the one meant the sandbox is asked what it says of itself; the first
 * whose build id is right, and which has what is looked for, is taken. Then all places of one code
 * are asked for at once.
 */
#include "debug_naming.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debug_items.h"
#include "debug_path.h"
#include "debug_service.h"
#include "privilege/sandbox.h"

#define LIMIT_MS 30000
#define ANSWER_BYTES_MAX (1ULL << 30)

struct debug_naming {
	struct debug_choice choice;
	struct sandbox *sandbox;
};

int debug_naming_create(const struct debug_choice *choice, struct debug_naming **out)
{
	struct debug_naming *naming = calloc(1, sizeof(*naming));
	int result;

	if (!naming)
		return -ENOMEM;
	naming->choice = *choice;
	result = sandbox_start(debug_serve, LIMIT_MS, &naming->sandbox);
	if (result)
		debug_naming_free(&naming);
	else
		*out = naming;
	return result;
}

void debug_naming_free(struct debug_naming **naming)
{
	if (!*naming)
		return;
	sandbox_end(&(*naming)->sandbox);
	free(*naming);
	*naming = NULL;
}

static void note(struct debug_naming *naming, const char *path, const char *why)
{
	if (naming->choice.note)
		naming->choice.note(naming->choice.arg, path, why);
}

/* A request and the head of its answer. */
static int ask(struct debug_naming *naming, const struct debug_request *request, const int *files,
	       u32 count, const u64 *places, struct debug_answer *answer)
{
	struct sandbox *sandbox = naming->sandbox;
	int result = sandbox_request(sandbox, request, sizeof(*request), files, count);

	result = result ?: sandbox_send(sandbox, places, request->count * sizeof(*places));
	result = result ?: sandbox_receive(sandbox, answer, sizeof(*answer));
	if (!result && (answer->result > 0 || answer->bytes > ANSWER_BYTES_MAX)) {
		sandbox_distrust(sandbox);
		result = -EBADMSG;
	}
	return result ?: answer->result;
}

static bool is_text(const char *text, size_t bytes)
{
	return memchr(text, 0, bytes);
}

static bool read_link(struct debug_naming *naming, int file, struct debug_link *link)
{
	const struct debug_request request = {.what = DEBUG_LINK, .files = 1 << DEBUG_FILE_CODE};
	struct debug_answer answer;

	if (ask(naming, &request, &file, 1, NULL, &answer))
		return false;
	*link = answer.link;
	return link->build_id_bytes <= TRACE_BUILD_ID_MAX &&
	       link->shared_id_bytes <= TRACE_BUILD_ID_MAX &&
	       is_text(link->file, sizeof(link->file)) &&
	       is_text(link->shared, sizeof(link->shared)) && !strchr(link->file, '/');
}

struct build_id {
	const u8 *id;
	u32 bytes;
};

/* What is looked for, and what was found. */
struct wanted {
	struct debug_naming *naming;
	struct build_id id;
	bool debug; /* only a file with debug information */
	struct debug_link link;
};

static bool is_wanted(void *arg, int file)
{
	struct wanted *wanted = arg;
	struct debug_link *link = &wanted->link;

	return read_link(wanted->naming, file, link) && link->build_id_bytes == wanted->id.bytes &&
	       !memcmp(link->build_id, wanted->id.id, wanted->id.bytes) &&
	       (!wanted->debug || link->has_dwarf || link->has_symbols);
}

struct search {
	struct debug_naming *naming;
	struct debug_roots roots;
	struct build_id id;
	const char *path; /* of the code */
	int files[DEBUG_FILES];
	struct debug_link link; /* of the file with the debug information */
	char debug_path[DEBUG_PATH_BYTES];
};

static void set_roots(struct search *search, const char *process_root)
{
	const char *roots[] = {search->naming->choice.sysroot, process_root, "/"};
	u32 count = 0;

	for (u32 i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (roots[i])
			search->roots.root[count++] = roots[i];
}

static int open_wanted(struct search *search, const char *path, struct wanted *wanted)
{
	*wanted = (struct wanted){.naming = search->naming, .id = search->id, .debug = true};
	return debug_path_open(&search->roots, path, is_wanted, wanted);
}

static bool take_debug(struct search *search, const char *path)
{
	struct wanted wanted;
	int file = open_wanted(search, path, &wanted);

	if (file < 0)
		return false;
	search->files[DEBUG_FILE_DEBUG] = file;
	search->link = wanted.link;
	snprintf(search->debug_path, sizeof(search->debug_path), "%s", path);
	return true;
}

static void find_debug(struct search *search)
{
	char path[DEBUG_PATH_BYTES];

	if (debug_path_of_id(search->id.id, search->id.bytes, path) && take_debug(search, path))
		return;
	for (u32 i = 0;
	     search->link.file[0] && debug_path_of_link(i, search->path, search->link.file, path);
	     i++)
		if (take_debug(search, path))
			return;
}

static void find_code(struct search *search)
{
	struct wanted wanted;
	int file;

	wanted = (struct wanted){.naming = search->naming, .id = search->id};
	file = debug_path_open(&search->roots, search->path, is_wanted, &wanted);
	if (file < 0)
		return;
	search->files[DEBUG_FILE_CODE] = file;
	search->link = wanted.link;
	snprintf(search->debug_path, sizeof(search->debug_path), "%s", search->path);
}

/* The name in .gnu_debugaltlink counts from the file that has it. */
static void find_shared(struct search *search)
{
	const char *name = search->link.shared;
	struct wanted wanted = {.naming = search->naming, .debug = true};
	char path[DEBUG_PATH_BYTES];
	const char *slash = strrchr(search->debug_path, '/');
	int file = -ENOENT;

	wanted.id = (struct build_id){search->link.shared_id, search->link.shared_id_bytes};
	if (!name[0] || !wanted.id.bytes)
		return;
	if (debug_path_of_id(wanted.id.id, wanted.id.bytes, path))
		file = debug_path_open(&search->roots, path, is_wanted, &wanted);
	if (file < 0 && snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - search->debug_path),
				 search->debug_path, name) < (int)sizeof(path))
		file = debug_path_open(&search->roots, name[0] == '/' ? name : path, is_wanted,
				       &wanted);
	search->files[DEBUG_FILE_SHARED] = file < 0 ? -1 : file;
}

static bool has_files(const struct search *search)
{
	return search->files[DEBUG_FILE_CODE] >= 0 || search->files[DEBUG_FILE_DEBUG] >= 0;
}

static void find_user_files(struct search *search, const struct trace_mapping *mapping)
{
	char root[64];

	snprintf(root, sizeof(root), "/proc/%u/root", mapping->tgid);
	set_roots(search, root);
	search->path = mapping->path;
	if (mapping->path[0] == '/')
		find_code(search);
	if (!search->link.has_dwarf)
		find_debug(search);
	find_shared(search);
}

/* A file that the user has named, by his own idea of paths. */
static bool take_named(struct search *search, const char *name)
{
	char *path = realpath(name, NULL);
	bool taken;

	search->roots = (struct debug_roots){{"/"}};
	taken = path && take_debug(search, path);
	free(path);
	return taken;
}

static void find_kernel_files(struct search *search, const char *release)
{
	static const char *const places[] = {"/usr/lib/debug/boot/vmlinux-%s",
					     "/usr/lib/debug/lib/modules/%s/vmlinux",
					     "/lib/modules/%s/build/vmlinux", "/boot/vmlinux-%s"};
	const char *vmlinux = search->naming->choice.vmlinux;
	char path[DEBUG_PATH_BYTES];

	set_roots(search, NULL);
	search->path = "";
	if (vmlinux) {
		if (!take_named(search, vmlinux))
			note(search->naming, vmlinux, "it is not the recorded kernel");
		return;
	}
	find_debug(search);
	for (u32 i = 0; i < sizeof(places) / sizeof(places[0]) && !has_files(search); i++)
		if (snprintf(path, sizeof(path), places[i], release) < (int)sizeof(path))
			take_debug(search, path);
}

static void close_files(struct search *search)
{
	for (u32 i = 0; i < DEBUG_FILES; i++)
		if (search->files[i] >= 0)
			close(search->files[i]);
}

/* All of what was asked for, or nothing. */
static int ask_places(struct search *search, const struct debug_request *request, const u64 *places,
		      struct debug_names **out)
{
	struct debug_naming *naming = search->naming;
	int files[DEBUG_FILES], result;
	struct debug_answer answer;
	char *data;
	u32 sent = 0;

	for (u32 i = 0; i < DEBUG_FILES; i++)
		if (search->files[i] >= 0)
			files[sent++] = search->files[i];
	result = ask(naming, request, files, sent, places, &answer);
	if (result)
		return result;
	data = malloc(answer.bytes + 1);
	if (!data) {
		sandbox_distrust(naming->sandbox);
		return -ENOMEM;
	}
	result = sandbox_receive(naming->sandbox, data, answer.bytes);
	result = result
			 ?: debug_items_take(data, &answer, places, request->count, request->stext,
					     out);
	if (result == -EBADMSG)
		sandbox_distrust(naming->sandbox);
	if (result)
		free(data);
	return result;
}

static const char *reason_of(int result)
{
	switch (result) {
	case -ETIMEDOUT:
		return "it takes too long to read";
	case -EPIPE:
	case -EBADMSG:
		return "its reader failed on it";
	default:
		return strerror(-result);
	}
}

static int find_names(struct search *search, u64 stext, const u64 *places, u32 count,
		      struct debug_names **out)
{
	struct debug_request request = {.what = DEBUG_PLACES, .count = count, .stext = stext};
	int result;

	if (!has_files(search) || (!search->link.has_dwarf && !search->link.has_symbols))
		return -ENOENT;
	for (u32 i = 0; i < DEBUG_FILES; i++)
		if (search->files[i] >= 0)
			request.files |= 1U << i;
	result = ask_places(search, &request, places, out);
	if (result)
		note(search->naming, search->debug_path, reason_of(result));
	return result && result != -ENOMEM ? -ENOENT : result;
}

int debug_naming_find(struct debug_naming *naming, const struct debug_code *code, const u64 *places,
		      u32 count, struct debug_names **out)
{
	const struct trace_mapping *mapping = code->mapping;
	struct search search = {.naming = naming, .files = {-1, -1, -1}};
	u64 stext = 0;
	int result;

	search.id =
		mapping ? (struct build_id){mapping->build_id, mapping->build_id_bytes}
			: (struct build_id){code->module->build_id, code->module->build_id_bytes};
	if (!search.id.bytes || (mapping && mapping->kind != MAPPING_FILE) ||
	    (!mapping && !code->module->start))
		return -ENOENT;
	if (mapping)
		find_user_files(&search, mapping);
	else
		find_kernel_files(&search, code->release);
	if (!mapping)
		stext = code->module->start;
	result = find_names(&search, stext, places, count, out);
	close_files(&search);
	return result;
}
