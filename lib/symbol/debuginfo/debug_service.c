/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Without memory, libdw ends the process, or reports a section that it could not unpack as damaged.
 * Both are answered as -ENOMEM, since the file may be intact.
 */
#include "debug_service.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "privilege/limit.h"
#include "privilege/message.h"
#include "privilege/sandbox.h"
#include "symbol/dwarf/debug_info.h"

struct writer {
	FILE *out; /* memory stream to which the items are written */
	struct text_pool texts;
	const struct debug_info *info;
	const u64 *places;
	u32 items;
};

static int intern_text(struct writer *writer, const char *text, u32 *offset)
{
	*offset = 0;
	if (!text || strnlen(text, DEBUG_TEXT_BYTES_MAX) == DEBUG_TEXT_BYTES_MAX)
		return 0;
	return text_pool_put(&writer->texts, text, offset);
}

static int write_function(struct writer *writer, const struct code_place *place)
{
	struct debug_function function = {.line = place->line, .inlined = place->inlined};
	char file[CODE_PATH_BYTES];
	bool has_file = code_place_path(place, file);
	int result = intern_text(writer, place->function, &function.name);

	result = result ?: intern_text(writer, has_file ? file : NULL, &function.file);
	fwrite(&function, sizeof(function), 1, writer->out);
	return result;
}

static int write_names_of_place(void *arg, u32 index, const struct code_place *functions, u32 count)
{
	struct writer *writer = arg;
	struct debug_item item = {.place = index, .functions = count};
	struct symbol symbol = {};
	int result = 0;

	if (debug_info_symbol(writer->info, writer->places[index], &symbol)) {
		item.symbol_start = symbol.start;
		item.symbol_size = symbol.size;
		result = intern_text(writer, symbol.name, &item.symbol);
	}
	if (!count && !item.symbol)
		return result;
	fwrite(&item, sizeof(item), 1, writer->out);
	for (u32 i = 0; i < count && !result; i++)
		result = write_function(writer, &functions[i]);
	writer->items++;
	return result;
}

/* Looks up the names of all places. Sets *texts and *items, the bytes of the answer after its head,
 * for the caller to free. */
static int find_names_of_places(struct debug_info *info, const u64 *places, u32 count,
				struct debug_answer *answer, char **texts, char **items)
{
	size_t bytes = 0;
	struct writer writer = {
		.out = open_memstream(items, &bytes), .info = info, .places = places};
	int result;

	if (!writer.out)
		return -ENOMEM;
	result = text_pool_init(&writer.texts);
	result = result
			 ?: debug_info_find_functions(info, places, count, write_names_of_place,
						      &writer);
	if (fclose(writer.out))
		result = -ENOMEM;
	answer->items = writer.items;
	answer->text_bytes = writer.texts.bytes;
	answer->bytes = answer->text_bytes + bytes;
	*texts = text_pool_take(&writer.texts);
	return result;
}

static int answering_socket;

/* Answers the request with -ENOMEM and ends the sandbox. Called when no memory is left: an answer
 * is sent only when it is complete, so the request has no answer yet. */
static void __attribute__((noreturn)) exit_service_without_memory(void)
{
	static const struct debug_answer answer = {.result = -ENOMEM};

	message_send(answering_socket, &answer, sizeof(answer), MESSAGE_NO_DEADLINE);
	sandbox_exit_child();
}

static int answer_names_or_argument(const struct debug_request *request, const int *files,
				    const u64 *places, struct debug_answer *answer, char **texts,
				    char **items)
{
	struct debug_files opened = {files[DEBUG_FILE_CODE], files[DEBUG_FILE_DEBUG],
				     files[DEBUG_FILE_SHARED], &request->layout,
				     exit_service_without_memory};
	struct debug_info *info;
	int result = debug_info_open(&opened, request->stext, &info);

	if (result)
		return result;
	if (request->what != DEBUG_ARGUMENT)
		result = find_names_of_places(info, places, request->count, answer, texts, items);
	else if (request->count != 1)
		result = -EINVAL;
	else
		result = debug_info_argument(info, places[0], request->function, request->argument,
					     &answer->argument, answer->reason);
	answer->is_damaged = debug_info_is_damaged(info);
	answer->is_split = debug_info_is_split(info);
	if (answer->is_damaged && !can_map_memory_below_limits())
		result = -ENOMEM;
	debug_info_close(&info);
	return result;
}

static int read_debug_link_of_file(int file, struct debug_link *link)
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

static int answer_request(int socket, const void *arg, const int *received, const u64 *places)
{
	const struct debug_request *request = arg;
	struct debug_answer answer = {};
	char *texts = NULL, *items = NULL;
	int files[DEBUG_FILES], result;

	_Static_assert(DEBUG_FILES <= MESSAGE_FILES_MAX, "one message has room for all files");
	for (u32 i = 0, next = 0; i < DEBUG_FILES; i++)
		files[i] = request->files & 1U << i ? received[next++] : -1;
	answer.result =
		request->what == DEBUG_LINK
			? read_debug_link_of_file(files[DEBUG_FILE_CODE], &answer.link)
			: answer_names_or_argument(request, files, places, &answer, &texts, &items);
	if (answer.result)
		answer.items = answer.bytes = answer.text_bytes = 0;
	result = message_send(socket, &answer, sizeof(answer), MESSAGE_NO_DEADLINE)
			 ?: message_send(socket, texts, answer.text_bytes,
					 MESSAGE_NO_DEADLINE)
			 ?: message_send(socket, items, answer.bytes - answer.text_bytes,
					 MESSAGE_NO_DEADLINE);
	free(texts);
	free(items);
	return result;
}

void debug_serve(int socket)
{
	answering_socket = socket;
	service_run_request_loop(socket, sizeof(struct debug_request),
				 offsetof(struct debug_request, count), answer_request);
}
