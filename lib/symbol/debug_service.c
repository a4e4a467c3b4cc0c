/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "debug_service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug_info.h"
#include "privilege/message.h"
#include "privilege/service.h"

struct writer {
	FILE *out;
	const struct debug_info *info;
	const u64 *places;
	u32 items;
};

static u32 text_bytes(size_t length)
{
	return length && length < DEBUG_TEXT_BYTES_MAX ? length + 1 : 0;
}

static void put_text(FILE *out, const char *text, u32 bytes)
{
	if (bytes)
		fwrite(text, bytes, 1, out);
}

static void put_function(FILE *out, const struct code_place *place)
{
	char file[CODE_PATH_BYTES];
	size_t file_length = code_place_path(place, file);
	struct debug_function head = {
		.line = place->line,
		.inlined = place->inlined,
		.name_bytes = text_bytes(place->function ? strlen(place->function) : 0),
		.file_bytes = text_bytes(file_length),
	};

	fwrite(&head, sizeof(head), 1, out);
	put_text(out, place->function, head.name_bytes);
	put_text(out, file, head.file_bytes);
}

static int put_item(void *arg, u32 index, const struct code_place *functions, u32 count)
{
	struct writer *writer = arg;
	struct debug_item head = {.place = index, .functions = count};
	struct symbol symbol = {};

	if (debug_info_symbol(writer->info, writer->places[index], &symbol)) {
		head.symbol_start = symbol.start;
		head.symbol_size = symbol.size;
		head.symbol_bytes = text_bytes(symbol.name_bytes);
	}
	if (!count && !head.symbol_bytes)
		return 0;
	fwrite(&head, sizeof(head), 1, writer->out);
	put_text(writer->out, symbol.name, head.symbol_bytes);
	for (u32 i = 0; i < count; i++)
		put_function(writer->out, &functions[i]);
	writer->items++;
	return 0;
}

static int find(struct debug_info *info, const u64 *places, u32 count, struct debug_answer *answer,
		char **text)
{
	size_t bytes = 0;
	struct writer writer = {
		.out = open_memstream(text, &bytes), .info = info, .places = places};
	int result;

	if (!writer.out)
		return -ENOMEM;
	result = debug_info_find(info, places, count, put_item, &writer);
	if (fclose(writer.out))
		result = -ENOMEM;
	answer->items = writer.items;
	answer->bytes = bytes;
	return result;
}

static int find_places(const struct debug_request *request, const int *files, const u64 *places,
		       struct debug_answer *answer, char **text)
{
	struct debug_files opened = {files[DEBUG_FILE_CODE], files[DEBUG_FILE_DEBUG],
				     files[DEBUG_FILE_SHARED]};
	struct debug_info *info;
	int result = debug_info_open(&opened, request->stext, &info);

	if (result)
		return result;
	result = find(info, places, request->count, answer, text);
	answer->is_damaged = debug_info_is_damaged(info);
	debug_info_close(&info);
	return result;
}

static int read_link(int file, struct debug_link *link)
{
	Elf *elf;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	elf = elf_begin(file, ELF_C_READ, NULL);
	if (!elf)
		return -ENOEXEC;
	debug_link_read(elf, link);
	elf_end(elf);
	return 0;
}

/* The files come without gaps. */
static void sort_files(const struct debug_request *request, const int *received, int *files)
{
	_Static_assert(DEBUG_FILES <= MESSAGE_FILES_MAX, "one message takes them all");
	for (u32 i = 0, next = 0; i < DEBUG_FILES; i++)
		files[i] = request->files & 1U << i ? received[next++] : -1;
}

static int reply(int socket, const void *arg, const int *received, const u64 *places)
{
	const struct debug_request *request = arg;
	struct debug_answer answer = {};
	int files[DEBUG_FILES], result;
	char *text = NULL;

	sort_files(request, received, files);
	answer.result = request->what == DEBUG_LINK
				? read_link(files[DEBUG_FILE_CODE], &answer.link)
				: find_places(request, files, places, &answer, &text);
	if (answer.result)
		answer.items = answer.bytes = 0;
	result = service_answer(socket, &answer, sizeof(answer), text, answer.bytes);
	free(text);
	return result;
}

static u32 count_places(const void *request)
{
	return ((const struct debug_request *)request)->count;
}

void debug_serve(int socket)
{
	static const struct service service = {
		.request_bytes = sizeof(struct debug_request),
		.count = count_places,
		.reply = reply,
	};

	service_run(socket, &service);
}
