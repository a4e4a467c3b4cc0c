/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * First files of this machine are searched for, then files of debuginfod servers if this machine
 * has no DWARF. A file counts if it has the build id of the recording; the first file that counts
 * and has what is needed is used. Then one request to the sandbox gives the names of all places.
 *
 * Servers are asked for debug information, and for the file with the code if its segments are not
 * known otherwise. The debug information of a kernel has half a gigabyte, so servers are asked for
 * it only if the user says so.
 */
#include "debug_lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/host.h"
#include "debug_fetch.h"
#include "debug_items.h"
#include "debug_service.h"
#include "privilege/sandbox.h"
#include "scalar.h"
#include "symbol/elf/file_identity.h"
#include "symbol/file/file_place.h"

/* --- Paths of debug files, the same as those of gdb: beside the file, in its folder .debug, and
 * below /usr/lib/debug; below each of several roots (sysroot, root of a process in a container, our
 * own), which symbolic links do not lead out of. --- */

#define DEBUG_PATH_BYTES 4096
#define DEBUG_ROOTS_MAX 3

#define DEBUG_FOLDER "/usr/lib/debug"

/* Opens the regular file `path` below each of the roots in turn, until accept() returns true.
 * Returns the descriptor, or -ENOENT. */
static int open_below_roots(const char *const roots[DEBUG_ROOTS_MAX], const char *path,
			    bool (*accept)(void *arg, int file), void *arg)
{
	for (u32 i = 0; i < DEBUG_ROOTS_MAX && roots[i]; i++) {
		int file = file_place_open_regular_file(
			file_place_open_below_following_links(roots[i], path));

		if (file >= 0 && accept(arg, file))
			return file;
		if (file >= 0)
			close(file);
	}
	return -ENOENT;
}

/* Writes "/usr/lib/debug/.build-id/xx/yyy.debug"; false: the build id has less than two bytes. */
static bool write_build_id_path(const u8 *build_id, u32 bytes, char *path)
{
	int length = sprintf(path, DEBUG_FOLDER "/.build-id/%02x/", build_id[0]);

	if (bytes < 2)
		return false;
	for (u32 i = 1; i < bytes; i++)
		length += sprintf(path + length, "%02x", build_id[i]);
	strcpy(path + length, ".debug");
	return true;
}

/* Writes the i-th path at which the debug file may be that the .gnu_debuglink of the file `path`
 * names; false: there are no more. */
static bool write_debuglink_path(u32 i, const char *path, const char *link, char *result)
{
	static const char *const before[] = {"", "", DEBUG_FOLDER};
	static const char *const between[] = {"/", "/.debug/", "/"};
	const char *slash = strrchr(path, '/');
	int length;

	if (i >= sizeof(before) / sizeof(before[0]) || !slash)
		return false;
	length = snprintf(result, DEBUG_PATH_BYTES, "%s%.*s%s%s", before[i], (int)(slash - path),
			  path, between[i], link);
	return length > 0 && length < DEBUG_PATH_BYTES;
}

/* --- The search. --- */

struct debug_lookup {
	struct debug_choice choice;
	struct sandbox *sandbox;
	struct debug_fetch *fetch; /* downloads from debuginfod servers; NULL: no server is asked */
};

struct debug_search {
	struct debug_lookup *lookup;
	const struct debug_code *code;
	const u8 *build_id;
	u32 build_id_bytes;
	const char *roots[DEBUG_ROOTS_MAX]; /* folders in which files are searched for, in this
					       order; NULL follows the last one */
	char process_root[64];

	bool is_replaced;	     /* the mapped path leads to another file now */
	int files[DEBUG_FILES];	     /* descriptors by enum debug_file; -1 = not found */
	struct debug_link link;	     /* links of the best file found so far */
	char path[DEBUG_PATH_BYTES]; /* path of the best file found so far */
};

static void report_unusable_file(const struct debug_lookup *lookup, const char *path,
				 const char *why)
{
	if (lookup->choice.note)
		lookup->choice.note(lookup->choice.arg, path, why);
}

/* The parts that a file must have to be of use. */
enum need { NEED_NOTHING, NEED_CODE, NEED_NAMES, NEED_DWARF };

/* A file that is searched for, and the links of the file that was found. */
struct wanted {
	struct debug_lookup *lookup;
	const u8 *build_id;
	u32 build_id_bytes;
	enum need need;
	struct debug_link link;
	bool met; /* a file was found at the path, whether it is the wanted one or not */
};

static bool has_needed_parts(const struct debug_link *link, enum need need)
{
	switch (need) {
	case NEED_NOTHING:
		return true;
	case NEED_CODE:
		return link->has_code;
	case NEED_NAMES:
		return link->has_dwarf || link->has_symbols;
	case NEED_DWARF:
		return link->has_dwarf;
	}
	return false;
}

static bool has_wanted_build_id_and_parts(void *arg, int file)
{
	struct wanted *wanted = arg;
	struct debug_link *link = &wanted->link;

	wanted->met = true;
	return debug_lookup_read_debug_link(wanted->lookup, file, link) &&
	       link->build_id_bytes == wanted->build_id_bytes &&
	       !memcmp(link->build_id, wanted->build_id, wanted->build_id_bytes) &&
	       has_needed_parts(link, wanted->need);
}

static struct wanted describe_wanted_file(const struct debug_search *search, enum need need)
{
	return (struct wanted){.lookup = search->lookup,
			       .build_id = search->build_id,
			       .build_id_bytes = search->build_id_bytes,
			       .need = need};
}

static void store_debug_file_of_search(struct debug_search *search, enum debug_file which, int file)
{
	if (search->files[which] >= 0)
		close(search->files[which]);
	search->files[which] = file;
}

static void store_best_debug_file_of_search(struct debug_search *search, enum debug_file which,
					    int file, const struct debug_link *link,
					    const char *path)
{
	store_debug_file_of_search(search, which, file);
	search->link = *link;
	snprintf(search->path, sizeof(search->path), "%s", path);
}

static bool try_debug_file_at_path(struct debug_search *search, enum need need, const char *path)
{
	struct wanted wanted = describe_wanted_file(search, need);
	int file = open_below_roots(search->roots, path, has_wanted_build_id_and_parts, &wanted);

	if (file >= 0)
		store_best_debug_file_of_search(search, DEBUG_FILE_DEBUG, file, &wanted.link, path);
	return file >= 0;
}

static const char *mapped_path(const struct debug_search *search)
{
	return search->code->mapping ? search->code->mapping->path : "";
}

static bool find_debug_file(struct debug_search *search, enum need need)
{
	const char *link = search->link.file, *of = mapped_path(search);
	char path[DEBUG_PATH_BYTES];

	if (write_build_id_path(search->build_id, search->build_id_bytes, path) &&
	    (try_debug_file_at_path(search, need, path) ||
	     try_debug_file_at_path(search, need, path + strlen(DEBUG_FOLDER))))
		return true;
	for (u32 i = 0; link[0] && write_debuglink_path(i, of, link, path); i++)
		if (try_debug_file_at_path(search, need, path))
			return true;
	return false;
}

static void find_kernel_files(struct debug_search *search)
{
	static const char *const places[] = {"/usr/lib/debug/boot/vmlinux-%s",
					     "/usr/lib/debug/lib/modules/%s/vmlinux",
					     "/lib/modules/%s/build/vmlinux", "/boot/vmlinux-%s"};
	const char *vmlinux = search->lookup->choice.vmlinux;
	const char *release = search->code->release;
	char path[DEBUG_PATH_BYTES];

	/* The user's file, whose path counts from our root, is used if its build id is right. */
	if (vmlinux) {
		char *named = realpath(vmlinux, NULL);

		search->roots[0] = "/";
		search->roots[1] = NULL;
		if (!named || !try_debug_file_at_path(search, NEED_NOTHING, named))
			report_unusable_file(search->lookup, vmlinux,
					     "it is not the recorded kernel");
		else if (!search->link.has_dwarf)
			report_unusable_file(search->lookup, vmlinux, "it has none");
		free(named);
		return;
	}
	if (find_debug_file(search, NEED_DWARF))
		return;
	for (u32 i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (snprintf(path, sizeof(path), places[i], release) < (int)sizeof(path) &&
		    try_debug_file_at_path(search, NEED_DWARF, path))
			return;
}

/* True for kernel code whose address kptr_restrict hid from the recorder: without the address, the
 * kernel's file is of no use. */
static bool is_kernel_address_hidden(const struct debug_code *code)
{
	return !code->mapping && !code->module->start;
}

/* Begins a search. 0: the caller calls search_end(). -ENOENT: the code has no build id, or its
 * address is hidden. */
static int search_begin(struct debug_search *search, struct debug_lookup *lookup,
			const struct debug_code *code)
{
	const struct trace_mapping *mapping = code->mapping;
	bool is_findable =
		mapping ? mapping->kind == MAPPING_FILE : !is_kernel_address_hidden(code);
	u32 roots = 0;

	*search = (struct debug_search){
		.lookup = lookup,
		.code = code,
		.build_id = mapping ? mapping->build_id : code->module->build_id,
		.build_id_bytes = mapping ? mapping->build_id_bytes : code->module->build_id_bytes,
		.files = {-1, -1, -1},
	};
	if (mapping)
		snprintf(search->process_root, sizeof(search->process_root), "/proc/%u/root",
			 mapping->tgid);
	if (lookup->choice.sysroot)
		search->roots[roots++] = lookup->choice.sysroot;
	if (mapping)
		search->roots[roots++] = search->process_root;
	search->roots[roots] = "/";
	if (is_kernel_address_hidden(code) && lookup->choice.vmlinux)
		report_unusable_file(
			search->lookup, lookup->choice.vmlinux,
			"where the kernel lay was hidden from the recorder (kptr_restrict)");
	return search->build_id_bytes && is_findable ? 0 : -ENOENT;
}

static void search_end(struct debug_search *search)
{
	for (u32 i = 0; i < DEBUG_FILES; i++)
		store_debug_file_of_search(search, i, -1);
}

/* Reports that a file with debug information is at the mapped path, but cannot be used, since the
 * recording has no build id to compare. Call after search_begin() has failed with -ENOENT. */
static void report_debug_file_that_cannot_be_verified(struct debug_search *search)
{
	struct wanted wanted = describe_wanted_file(search, NEED_DWARF);
	const char *path = mapped_path(search);
	int file;

	if (search->build_id_bytes || path[0] != '/' || search->code->mapping->kind != MAPPING_FILE)
		return;
	file = open_below_roots(search->roots, path, has_wanted_build_id_and_parts, &wanted);
	if (file < 0)
		return;
	close(file);
	report_unusable_file(search->lookup, path,
			     "it has no build id (ld --build-id), so nothing proves that it is the "
			     "recorded file");
}

static void search_debug_file_on_this_machine(struct debug_search *search)
{
	struct wanted wanted = describe_wanted_file(search, NEED_NOTHING);
	const char *path = mapped_path(search);

	if (!search->code->mapping) {
		find_kernel_files(search);
		return;
	}
	if (path[0] == '/') {
		int file = open_below_roots(search->roots, path, has_wanted_build_id_and_parts,
					    &wanted);

		search->is_replaced = file < 0 && wanted.met;
		if (file >= 0)
			store_best_debug_file_of_search(search, DEBUG_FILE_CODE, file, &wanted.link,
							path);
	}
	if (!search->link.has_dwarf && !find_debug_file(search, NEED_DWARF))
		find_debug_file(search, NEED_NAMES);
}

static const char *name_of_searched_file_or_module(const struct debug_search *search)
{
	return search->code->mapping ? search->code->mapping->path : search->code->module->name;
}

static void report_failed_download(const struct debug_search *search, const char *why)
{
	char text[256];

	snprintf(text, sizeof(text), "debuginfod: %s", why);
	report_unusable_file(search->lookup, name_of_searched_file_or_module(search), text);
}

/* Downloads the wanted file. Returns a descriptor, and sets the file's path; or -1. */
static int download_wanted_file(const struct debug_search *search, enum debug_fetch_what what,
				struct wanted *wanted, char **path)
{
	int file = debug_fetch_open(search->lookup->fetch, what, wanted->build_id,
				    wanted->build_id_bytes, name_of_searched_file_or_module(search),
				    path);

	if (file < 0) {
		if (debug_fetch_reason(file))
			report_failed_download(search, debug_fetch_reason(file));
		return -1;
	}
	if (has_wanted_build_id_and_parts(wanted, file))
		return file;
	report_failed_download(search, "what was sent is another file");
	close(file);
	free(*path);
	return -1;
}

static bool may_query_debuginfod(const struct debug_search *search)
{
	const struct debug_choice *choice = &search->lookup->choice;

	return search->lookup->fetch &&
	       (search->code->mapping ||
		(choice->servers == DEBUG_SERVERS_ALL && !choice->vmlinux));
}

static void search_debuginfod(struct debug_search *search)
{
	struct wanted wanted = describe_wanted_file(search, NEED_NAMES);
	int file = -1;
	char *path;

	if (!may_query_debuginfod(search))
		return;
	if (!search->link.has_dwarf)
		file = download_wanted_file(search, DEBUG_FETCH_DEBUG, &wanted, &path);
	if (file >= 0) {
		store_best_debug_file_of_search(search, DEBUG_FILE_DEBUG, file, &wanted.link, path);
		free(path);
	}
	if (search->code->mapping && search->files[DEBUG_FILE_CODE] < 0 &&
	    search->files[DEBUG_FILE_DEBUG] >= 0 && !search->link.has_code &&
	    !search->code->layout.count) {
		wanted = describe_wanted_file(search, NEED_CODE);
		file = download_wanted_file(search, DEBUG_FETCH_CODE, &wanted, &path);
		if (file < 0)
			return;
		store_debug_file_of_search(search, DEBUG_FILE_CODE, file);
		free(path);
	}
}

/* Opens the file of .gnu_debugaltlink; a relative name counts from the file with the link. */
static int open_dwz_file(struct debug_search *search, struct wanted *wanted)
{
	const char *name = search->link.shared, *slash = strrchr(search->path, '/');
	int length = slash ? slash - search->path : 0, file = -ENOENT;
	char path[DEBUG_PATH_BYTES];

	if (write_build_id_path(wanted->build_id, wanted->build_id_bytes, path))
		file = open_below_roots(search->roots, path, has_wanted_build_id_and_parts, wanted);
	if (file < 0 &&
	    snprintf(path, sizeof(path), "%.*s/%s", length, search->path, name) < (int)sizeof(path))
		file = open_below_roots(search->roots, name[0] == '/' ? name : path,
					has_wanted_build_id_and_parts, wanted);
	return file;
}

/* Searches this machine, then the debuginfod servers, for the file to which dwz has moved parts of
 * the file that was found. */
static void search_dwz_file(struct debug_search *search)
{
	struct wanted wanted = {.lookup = search->lookup,
				.build_id = search->link.shared_id,
				.build_id_bytes = search->link.shared_id_bytes,
				.need = NEED_NAMES};
	int file;

	if (!search->link.shared[0] || !wanted.build_id_bytes)
		return;
	file = open_dwz_file(search, &wanted);
	if (file < 0 && may_query_debuginfod(search)) {
		char *path;

		file = download_wanted_file(search, DEBUG_FETCH_DEBUG, &wanted, &path);
		if (file >= 0)
			free(path);
	}
	store_debug_file_of_search(search, DEBUG_FILE_SHARED, file < 0 ? -1 : file);
}

#define MEMORY_PARTS 2
#define LIMIT_MS 30000
/* Time limit for reading headers, names of sections and notes of one file. */
#define LINK_LIMIT_MS 3000
#define ANSWER_BYTES_MAX (1ULL << 30)

int debug_lookup_create(const struct debug_choice *choice, struct debug_lookup **out)
{
	struct debug_lookup *lookup = calloc(1, sizeof(*lookup));
	int result;

	if (!lookup)
		return -ENOMEM;
	lookup->choice = *choice;
	result = sandbox_start(debug_serve, LIMIT_MS, MEMORY_PARTS, &lookup->sandbox);
	if (!result && choice->servers != DEBUG_SERVERS_NONE)
		result = debug_fetch_create(&lookup->choice.watch, &lookup->fetch);
	if (result)
		debug_lookup_free(&lookup);
	else
		*out = lookup;
	return result;
}

void debug_lookup_free(struct debug_lookup **lookup)
{
	if (!*lookup)
		return;
	sandbox_end(&(*lookup)->sandbox);
	debug_fetch_free(&(*lookup)->fetch);
	free(*lookup);
	*lookup = NULL;
}

/* Sends a request and receives the head of its answer. A sandbox without memory is -EFBIG: the file
 * that needed the memory stays without names, and the report goes on. */
static int query_debug_sandbox(struct debug_lookup *lookup, const struct debug_request *request,
			       const int *files, u32 count, const u64 *places,
			       struct debug_answer *answer)
{
	struct sandbox *sandbox = lookup->sandbox;
	int result;

	sandbox_set_time_limit(sandbox, request->what == DEBUG_LINK ? LINK_LIMIT_MS : LIMIT_MS);
	result = sandbox_send_request(sandbox, request, sizeof(*request), files, count);
	result = result ?: sandbox_send(sandbox, places, request->count * sizeof(*places));
	result = result ?: sandbox_receive(sandbox, answer, sizeof(*answer));
	if (!result && (answer->result > 0 || answer->bytes > ANSWER_BYTES_MAX)) {
		sandbox_end_child(sandbox);
		result = -EBADMSG;
	}
	return result ?: answer->result == -ENOMEM ? -EFBIG : answer->result;
}

bool debug_lookup_read_debug_link(struct debug_lookup *lookup, int file, struct debug_link *link)
{
	const struct debug_request request = {.what = DEBUG_LINK, .files = 1 << DEBUG_FILE_CODE};
	struct debug_answer answer;

	if (query_debug_sandbox(lookup, &request, &file, 1, NULL, &answer))
		return false;
	*link = answer.link;
	return link->build_id_bytes <= TRACE_BUILD_ID_MAX &&
	       link->shared_id_bytes <= TRACE_BUILD_ID_MAX &&
	       memchr(link->file, 0, sizeof(link->file)) &&
	       memchr(link->shared, 0, sizeof(link->shared)) && !strchr(link->file, '/');
}

/* Requests the names of all places from the sandbox. The whole answer is received and checked; on
 * an error the caller gets no part of it. */
static int request_names_of_places(const struct debug_search *search,
				   const struct debug_request *request, const u64 *places,
				   struct debug_answer *answer, struct debug_names **out)
{
	struct debug_lookup *lookup = search->lookup;
	int files[DEBUG_FILES], result;
	char *data;
	u32 sent = 0;

	for (u32 i = 0; i < DEBUG_FILES; i++)
		if (search->files[i] >= 0)
			files[sent++] = search->files[i];
	result = query_debug_sandbox(lookup, request, files, sent, places, answer);
	if (result)
		return result;
	data = malloc(answer->bytes + 1);
	if (!data) {
		sandbox_end_child(lookup->sandbox);
		return -ENOMEM;
	}
	result = sandbox_receive(lookup->sandbox, data, answer->bytes);
	result = result
			 ?: debug_items_parse_answer(data, answer, places, request->count,
						     request->stext, out);
	if (result == -EBADMSG)
		sandbox_end_child(lookup->sandbox);
	if (result)
		free(data);
	return result;
}

/* The reason why names are missing; NULL: they are complete. */
static const char *missing_names_reason(const struct debug_search *search,
					const struct debug_answer *answer, int result)
{
	bool is_shared = search->link.has_dwarf && search->link.shared[0];

	if (result)
		return sandbox_reason_of_failure(result);
	if (is_shared && search->files[DEBUG_FILE_SHARED] < 0)
		return "the file that it shares with others (.gnu_debugaltlink) is not here";
	if (answer->is_split)
		return "it is in files of its own (-gsplit-dwarf: .dwo, .dwp), which are not read";
	return answer->is_damaged ? "it is damaged, in part or as a whole" : NULL;
}

static int request_debug_names(const struct debug_search *search, const u64 *places, u32 count,
			       struct debug_names **out)
{
	const struct debug_code *code = search->code;
	struct debug_request request = {.what = DEBUG_PLACES,
					.count = count,
					.stext = code->mapping ? 0 : code->module->start,
					.layout = code->layout};
	struct debug_answer answer;
	const char *shortcoming;
	int result;

	for (u32 i = 0; i < DEBUG_FILES; i++)
		if (search->files[i] >= 0)
			request.files |= 1U << i;
	if (!request.files ||
	    (!search->link.has_dwarf && !search->link.has_symbols && !search->link.has_go))
		return -ENOENT;
	result = request_names_of_places(search, &request, places, &answer, out);
	shortcoming = missing_names_reason(search, &answer, result);
	if (shortcoming)
		report_unusable_file(search->lookup, search->path, shortcoming);
	return result && result != -ENOMEM ? -ENOENT : result;
}

int debug_lookup_find_names(struct debug_lookup *lookup, const struct debug_code *code,
			    const u64 *places, u32 count, struct debug_names **out)
{
	struct debug_search search;
	int result = search_begin(&search, lookup, code);

	if (result) {
		report_debug_file_that_cannot_be_verified(&search);
		return result;
	}
	search_debug_file_on_this_machine(&search);
	search_debuginfod(&search);
	search_dwz_file(&search);
	result = request_debug_names(&search, places, count, out);
	search_end(&search);
	return result;
}

/* Looks at the mapped file, which need not have a build id if the recorded one had none: the file's
 * kind and whether it has names are told, and none of its names. */
static void look_at_mapped_file(struct debug_search *search, struct debug_facts *facts)
{
	struct wanted wanted = describe_wanted_file(search, NEED_NOTHING);
	const char *path = mapped_path(search);
	int file;

	if (path[0] != '/' || search->code->mapping->kind != MAPPING_FILE)
		return;
	file = open_below_roots(search->roots, path, has_wanted_build_id_and_parts, &wanted);
	if (file < 0)
		return;
	close(file);
	facts->is_graalvm = wanted.link.is_graalvm;
	facts->has_names = wanted.link.has_dwarf || wanted.link.has_symbols;
}

struct debug_facts debug_lookup_facts(struct debug_lookup *lookup, const struct debug_code *code)
{
	struct debug_facts facts = {};
	struct debug_search search;
	int err = search_begin(&search, lookup, code);

	look_at_mapped_file(&search, &facts);
	if (err)
		return facts;
	search_debug_file_on_this_machine(&search);
	search_debuginfod(&search);
	facts.has_id = true;
	facts.has_code = search.files[DEBUG_FILE_CODE] >= 0;
	facts.is_replaced = search.is_replaced;
	facts.has_names = search.link.has_dwarf || search.link.has_symbols;
	facts.is_placed = facts.has_code || code->layout.count || search.link.has_code;
	search_end(&search);
	return facts;
}

static int request_dwarf_argument(const struct debug_search *search,
				  const struct debug_argument_query *query,
				  struct debug_answer *answer)
{
	struct debug_request request = {.what = DEBUG_ARGUMENT, .count = 1};
	const struct dwarf_argument *argument = &answer->argument;
	int files[DEBUG_FILES], result;
	u32 sent = 0;

	snprintf(request.function, sizeof(request.function), "%s", query->function);
	snprintf(request.argument, sizeof(request.argument), "%s", query->argument);
	for (u32 i = 0; i < DEBUG_FILES; i++) {
		if (search->files[i] < 0)
			continue;
		request.files |= 1U << i;
		files[sent++] = search->files[i];
	}
	result = query_debug_sandbox(search->lookup, &request, files, sent, &query->place, answer);
	if (!result && (answer->bytes || argument->reg >= DWARF_REGISTERS || !argument->bytes ||
			argument->bytes > 8 || argument->byte + argument->bytes > 8 ||
			argument->steps > NUMBER_STEPS_MAX)) {
		sandbox_end_child(search->lookup->sandbox);
		return -EBADMSG;
	}
	return result;
}

int debug_lookup_argument(struct debug_lookup *lookup, const struct debug_argument_query *query,
			  struct dwarf_argument *out, char reason[DWARF_ARGUMENT_REASON_BYTES])
{
	struct trace_mapping mapping = {.kind = MAPPING_FILE, .path = query->path};
	const struct debug_code code = {.mapping = &mapping};
	struct debug_answer answer = {};
	struct debug_search search;
	struct debug_link link;
	const char *shortcoming;
	int result;

	if (!debug_lookup_read_debug_link(lookup, query->file, &link)) {
		strcpy(reason, "the file cannot be read");
		return -ENOEXEC;
	}
	mapping.build_id_bytes = link.build_id_bytes;
	memcpy(mapping.build_id, link.build_id, sizeof(mapping.build_id));
	search_begin(&search, lookup, &code);
	search.link = link;
	/* The open file is used whatever its build id; a debug file is used if it has the same
	 * build id. */
	search.files[DEBUG_FILE_CODE] = fcntl(query->file, F_DUPFD_CLOEXEC, 0);
	snprintf(search.path, sizeof(search.path), "%s", mapped_path(&search));
	if (search.build_id_bytes && !search.link.has_dwarf) {
		find_debug_file(&search, NEED_DWARF);
		search_debuginfod(&search);
	}
	search_dwz_file(&search);
	result = search.link.has_dwarf ? request_dwarf_argument(&search, query, &answer) : -ENODATA;
	shortcoming = missing_names_reason(&search, &answer, 0);
	search_end(&search);
	if (!result) {
		*out = answer.argument;
		return 0;
	}
	/* Replaces control characters in the sandbox's text, so that it can be printed. */
	answer.reason[sizeof(answer.reason) - 1] = '\0';
	for (char *at = answer.reason; *at; at++)
		if ((unsigned char)*at < ' ' || *at == '\x7f')
			*at = '?';
	snprintf(reason, DWARF_ARGUMENT_REASON_BYTES, "%s",
		 result != -ENODATA && answer.reason[0] ? answer.reason
		 : result == -ENODATA			? shortcoming ?: answer.reason
							: sandbox_reason_of_failure(result));
	return result;
}
