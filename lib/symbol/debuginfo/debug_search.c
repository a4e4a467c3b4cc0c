/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Servers are asked for what is missing: debug information; and for the file with the code, if
 * nothing else says where code lies. A kernel's is half a gigabyte: for that they are asked only
 * where the user says so.
 */
#include "debug_search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void note(const struct debug_search *search, const char *path, const char *why)
{
	const struct debug_choice *choice = search->searcher->choice;

	if (choice->note)
		choice->note(choice->arg, path, why);
}

/* What a file must have to be of use. */
enum need { NEED_NOTHING, NEED_CODE, NEED_NAMES, NEED_DWARF };

/* Which file is looked for, and what the one that was found says. */
struct wanted {
	const struct debug_searcher *searcher;
	const u8 *build_id;
	u32 build_id_bytes;
	enum need need;
	struct debug_link link;
	bool met; /* some file, be it the one or not */
};

static bool has_needed(const struct debug_link *link, enum need need)
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

static bool is_wanted(void *arg, int file)
{
	struct wanted *wanted = arg;
	struct debug_link *link = &wanted->link;

	wanted->met = true;
	return wanted->searcher->read_link(wanted->searcher->arg, file, link) &&
	       link->build_id_bytes == wanted->build_id_bytes &&
	       !memcmp(link->build_id, wanted->build_id, wanted->build_id_bytes) &&
	       has_needed(link, wanted->need);
}

static struct wanted want(const struct debug_search *search, enum need need)
{
	return (struct wanted){.searcher = search->searcher,
			       .build_id = search->build_id,
			       .build_id_bytes = search->build_id_bytes,
			       .need = need};
}

static void keep_file(struct debug_search *search, enum debug_file which, int file)
{
	if (search->files[which] >= 0)
		close(search->files[which]);
	search->files[which] = file;
}

static void keep_debug(struct debug_search *search, enum debug_file which, int file,
		       const struct debug_link *link, const char *path)
{
	keep_file(search, which, file);
	search->link = *link;
	snprintf(search->path, sizeof(search->path), "%s", path);
}

static bool take_debug(struct debug_search *search, enum need need, const char *path)
{
	struct wanted wanted = want(search, need);
	int file = debug_path_open(&search->roots, path, is_wanted, &wanted);

	if (file >= 0)
		keep_debug(search, DEBUG_FILE_DEBUG, file, &wanted.link, path);
	return file >= 0;
}

static const char *path_of_code(const struct debug_search *search)
{
	return search->code->mapping ? search->code->mapping->path : "";
}

static bool find_debug(struct debug_search *search, enum need need)
{
	const char *link = search->link.file, *of = path_of_code(search);
	char path[DEBUG_PATH_BYTES];

	if (debug_path_of_id(search->build_id, search->build_id_bytes, path) &&
	    (take_debug(search, need, path) ||
	     take_debug(search, need, path + strlen(DEBUG_PATH_FOLDER))))
		return true;
	for (u32 i = 0; link[0] && debug_path_of_link(i, of, link, path); i++)
		if (take_debug(search, need, path))
			return true;
	return false;
}

static void find_code(struct debug_search *search)
{
	struct wanted wanted = want(search, NEED_NOTHING);
	const char *path = path_of_code(search);
	int file = debug_path_open(&search->roots, path, is_wanted, &wanted);

	search->is_replaced = file < 0 && wanted.met;
	if (file >= 0)
		keep_debug(search, DEBUG_FILE_CODE, file, &wanted.link, path);
}

static void find_user_files(struct debug_search *search)
{
	if (path_of_code(search)[0] == '/')
		find_code(search);
	if (!search->link.has_dwarf && !find_debug(search, NEED_DWARF))
		find_debug(search, NEED_NAMES);
}

/* A file that the user has named, by his own idea of paths. */
static bool take_named(struct debug_search *search, const char *name)
{
	char *path = realpath(name, NULL);
	bool taken;

	search->roots = (struct debug_roots){{"/"}};
	taken = path && take_debug(search, NEED_NOTHING, path);
	free(path);
	return taken;
}

static void find_kernel_files(struct debug_search *search)
{
	static const char *const places[] = {"/usr/lib/debug/boot/vmlinux-%s",
					     "/usr/lib/debug/lib/modules/%s/vmlinux",
					     "/lib/modules/%s/build/vmlinux", "/boot/vmlinux-%s"};
	const char *vmlinux = search->searcher->choice->vmlinux;
	const char *release = search->code->release;
	char path[DEBUG_PATH_BYTES];

	if (vmlinux) {
		if (!take_named(search, vmlinux))
			note(search, vmlinux, "it is not the recorded kernel");
		else if (!search->link.has_dwarf)
			note(search, vmlinux, "it has none");
		return;
	}
	if (find_debug(search, NEED_DWARF))
		return;
	for (u32 i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (snprintf(path, sizeof(path), places[i], release) < (int)sizeof(path) &&
		    take_debug(search, NEED_DWARF, path))
			return;
}

static void set_roots(struct debug_search *search)
{
	const char *roots[] = {search->searcher->choice->sysroot,
			       search->code->mapping ? search->process_root : NULL, "/"};
	u32 count = 0;

	for (u32 i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (roots[i])
			search->roots.root[count++] = roots[i];
}

/* Where the kernel lay is not known: its file cannot be used. */
static bool is_hidden(const struct debug_code *code)
{
	return !code->mapping && !code->module->start;
}

static bool has_own_id(const struct debug_search *search)
{
	const struct debug_code *code = search->code;

	return search->build_id_bytes &&
	       (code->mapping ? code->mapping->kind == MAPPING_FILE : !is_hidden(code));
}

int debug_search_begin(struct debug_search *search, const struct debug_searcher *searcher,
		       const struct debug_code *code)
{
	const struct trace_mapping *mapping = code->mapping;

	*search = (struct debug_search){
		.searcher = searcher,
		.code = code,
		.build_id = mapping ? mapping->build_id : code->module->build_id,
		.build_id_bytes = mapping ? mapping->build_id_bytes : code->module->build_id_bytes,
		.files = {-1, -1, -1},
	};
	if (mapping)
		snprintf(search->process_root, sizeof(search->process_root), "/proc/%u/root",
			 mapping->tgid);
	set_roots(search);
	if (is_hidden(code) && searcher->choice->vmlinux)
		note(search, searcher->choice->vmlinux,
		     "where the kernel lay was hidden from the recorder (kptr_restrict)");
	return has_own_id(search) ? 0 : -ENOENT;
}

void debug_search_end(struct debug_search *search)
{
	for (u32 i = 0; i < DEBUG_FILES; i++)
		keep_file(search, i, -1);
}

void debug_search_unproven(struct debug_search *search)
{
	struct wanted wanted = want(search, NEED_DWARF);
	const char *path = path_of_code(search);
	int file;

	if (search->build_id_bytes || path[0] != '/' || search->code->mapping->kind != MAPPING_FILE)
		return;
	file = debug_path_open(&search->roots, path, is_wanted, &wanted);
	if (file < 0)
		return;
	close(file);
	note(search, path,
	     "it has no build id (ld --build-id), so nothing proves that it is the recorded file");
}

void debug_search_here(struct debug_search *search)
{
	if (search->code->mapping)
		find_user_files(search);
	else
		find_kernel_files(search);
}

static const char *name_of_code(const struct debug_search *search)
{
	return search->code->mapping ? search->code->mapping->path : search->code->module->name;
}

static void note_fetch(const struct debug_search *search, const char *why)
{
	char text[256];

	snprintf(text, sizeof(text), "debuginfod: %s", why);
	note(search, name_of_code(search), text);
}

/* A descriptor of the wanted file with its path, or -1. */
static int fetch_wanted(const struct debug_search *search, enum debug_fetch_what what,
			struct wanted *wanted, char **path)
{
	int file = debug_fetch_open(search->searcher->fetch, what, wanted->build_id,
				    wanted->build_id_bytes, name_of_code(search), path);

	if (file < 0) {
		if (debug_fetch_reason(file))
			note_fetch(search, debug_fetch_reason(file));
		return -1;
	}
	if (is_wanted(wanted, file))
		return file;
	note_fetch(search, "what was sent is another file");
	close(file);
	free(*path);
	return -1;
}

static void fetch_debug(struct debug_search *search)
{
	struct wanted wanted = want(search, NEED_NAMES);
	char *path;
	int file = fetch_wanted(search, DEBUG_FETCH_DEBUG, &wanted, &path);

	if (file < 0)
		return;
	keep_debug(search, DEBUG_FILE_DEBUG, file, &wanted.link, path);
	free(path);
}

static void fetch_code(struct debug_search *search)
{
	struct wanted wanted = want(search, NEED_CODE);
	char *path;
	int file = fetch_wanted(search, DEBUG_FETCH_CODE, &wanted, &path);

	if (file < 0)
		return;
	keep_file(search, DEBUG_FILE_CODE, file);
	free(path);
}

static bool may_fetch(const struct debug_search *search)
{
	const struct debug_choice *choice = search->searcher->choice;

	return search->searcher->fetch &&
	       (search->code->mapping ||
		(choice->servers == DEBUG_SERVERS_ALL && !choice->vmlinux));
}

static bool lacks_code(const struct debug_search *search)
{
	return search->code->mapping && search->files[DEBUG_FILE_CODE] < 0 &&
	       search->files[DEBUG_FILE_DEBUG] >= 0 && !search->link.has_code;
}

void debug_search_servers(struct debug_search *search)
{
	if (!may_fetch(search))
		return;
	if (!search->link.has_dwarf)
		fetch_debug(search);
	if (lacks_code(search) && !search->code->layout.count)
		fetch_code(search);
}

/* The name in .gnu_debugaltlink counts from the file that has it. */
static int open_shared(struct debug_search *search, struct wanted *wanted)
{
	const char *name = search->link.shared, *slash = strrchr(search->path, '/');
	int length = slash ? slash - search->path : 0, file = -ENOENT;
	char path[DEBUG_PATH_BYTES];

	if (debug_path_of_id(wanted->build_id, wanted->build_id_bytes, path))
		file = debug_path_open(&search->roots, path, is_wanted, wanted);
	if (file < 0 &&
	    snprintf(path, sizeof(path), "%.*s/%s", length, search->path, name) < (int)sizeof(path))
		file = debug_path_open(&search->roots, name[0] == '/' ? name : path, is_wanted,
				       wanted);
	return file;
}

static int fetch_shared(const struct debug_search *search, struct wanted *wanted)
{
	char *path;
	int file;

	if (!may_fetch(search))
		return -1;
	file = fetch_wanted(search, DEBUG_FETCH_DEBUG, wanted, &path);
	if (file >= 0)
		free(path);
	return file;
}

void debug_search_shared(struct debug_search *search)
{
	struct wanted wanted = {.searcher = search->searcher,
				.build_id = search->link.shared_id,
				.build_id_bytes = search->link.shared_id_bytes,
				.need = NEED_NAMES};
	int file;

	if (!search->link.shared[0] || !wanted.build_id_bytes)
		return;
	file = open_shared(search, &wanted);
	if (file < 0)
		file = fetch_shared(search, &wanted);
	keep_file(search, DEBUG_FILE_SHARED, file < 0 ? -1 : file);
}
