/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of this machine are looked for, then those of servers, if there is no DWARF here. Then all
 * places are asked for at once.
 */
#include "debug_lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "debug_items.h"
#include "debug_search.h"
#include "debug_service.h"
#include "privilege/sandbox.h"

#define MEMORY_PARTS 2
#define LIMIT_MS 30000
#define LINK_LIMIT_MS 3000 /* headers, names of sections and notes of a file */
#define ANSWER_BYTES_MAX (1ULL << 30)

struct debug_lookup {
	struct debug_choice choice;
	struct sandbox *sandbox;
	struct debug_searcher searcher;
};

static bool read_link(void *arg, int file, struct debug_link *link);

static int create_fetch(struct debug_lookup *lookup)
{
	if (lookup->choice.servers == DEBUG_SERVERS_NONE)
		return 0;
	return debug_fetch_create(&lookup->choice.watch, &lookup->searcher.fetch);
}

int debug_lookup_create(const struct debug_choice *choice, struct debug_lookup **out)
{
	struct debug_lookup *lookup = calloc(1, sizeof(*lookup));
	int result;

	if (!lookup)
		return -ENOMEM;
	lookup->choice = *choice;
	lookup->searcher = (struct debug_searcher){
		.choice = &lookup->choice, .read_link = read_link, .arg = lookup};
	result = sandbox_start(debug_serve, LIMIT_MS, MEMORY_PARTS, &lookup->sandbox);
	result = result ?: create_fetch(lookup);
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
	debug_fetch_free(&(*lookup)->searcher.fetch);
	free(*lookup);
	*lookup = NULL;
}

static void note(struct debug_lookup *lookup, const char *path, const char *why)
{
	if (lookup->choice.note)
		lookup->choice.note(lookup->choice.arg, path, why);
}

/* Memory that the sandbox lacks is not ours: it costs the names of the file that wanted it. */
static int result_of(const struct debug_answer *answer)
{
	return answer->result == -ENOMEM ? -EFBIG : answer->result;
}

/* A request and the head of its answer. */
static int ask(struct debug_lookup *lookup, const struct debug_request *request, const int *files,
	       u32 count, const u64 *places, struct debug_answer *answer)
{
	struct sandbox *sandbox = lookup->sandbox;
	int result;

	sandbox_limit(sandbox, request->what == DEBUG_LINK ? LINK_LIMIT_MS : LIMIT_MS);
	result = sandbox_request(sandbox, request, sizeof(*request), files, count);
	result = result ?: sandbox_send(sandbox, places, request->count * sizeof(*places));
	result = result ?: sandbox_receive(sandbox, answer, sizeof(*answer));
	if (!result && (answer->result > 0 || answer->bytes > ANSWER_BYTES_MAX)) {
		sandbox_distrust(sandbox);
		result = -EBADMSG;
	}
	return result ?: result_of(answer);
}

static bool is_text(const char *text, size_t bytes)
{
	return memchr(text, 0, bytes);
}

static bool read_link(void *arg, int file, struct debug_link *link)
{
	const struct debug_request request = {.what = DEBUG_LINK, .files = 1 << DEBUG_FILE_CODE};
	struct debug_answer answer;

	if (ask(arg, &request, &file, 1, NULL, &answer))
		return false;
	*link = answer.link;
	return link->build_id_bytes <= TRACE_BUILD_ID_MAX &&
	       link->shared_id_bytes <= TRACE_BUILD_ID_MAX &&
	       is_text(link->file, sizeof(link->file)) &&
	       is_text(link->shared, sizeof(link->shared)) && !strchr(link->file, '/');
}

bool debug_lookup_link(struct debug_lookup *lookup, int file, struct debug_link *link)
{
	return read_link(lookup, file, link);
}

struct question {
	struct debug_lookup *lookup;
	struct debug_search search;
	const u64 *places;
	u32 count;
};

/* All of what was asked for, or nothing. */
static int ask_places(struct question *question, const struct debug_request *request,
		      struct debug_answer *answer, struct debug_names **out)
{
	struct debug_lookup *lookup = question->lookup;
	int files[DEBUG_FILES], result;
	char *data;
	u32 sent = 0;

	for (u32 i = 0; i < DEBUG_FILES; i++)
		if (question->search.files[i] >= 0)
			files[sent++] = question->search.files[i];
	result = ask(lookup, request, files, sent, question->places, answer);
	if (result)
		return result;
	data = malloc(answer->bytes + 1);
	if (!data) {
		sandbox_distrust(lookup->sandbox);
		return -ENOMEM;
	}
	result = sandbox_receive(lookup->sandbox, data, answer->bytes);
	result = result
			 ?: debug_items_take(data, answer, question->places, request->count,
					     request->stext, out);
	if (result == -EBADMSG)
		sandbox_distrust(lookup->sandbox);
	if (result)
		free(data);
	return result;
}

/* Why less is known than the files promise, or NULL. */
static const char *shortcoming_of(const struct debug_search *search,
				  const struct debug_answer *answer, int result)
{
	bool is_shared = search->link.has_dwarf && search->link.shared[0];

	if (result)
		return sandbox_reason(result);
	if (is_shared && search->files[DEBUG_FILE_SHARED] < 0)
		return "the file that it shares with others (.gnu_debugaltlink) is not here";
	if (answer->is_split)
		return "it is in files of its own (-gsplit-dwarf: .dwo, .dwp), which are not read";
	return answer->is_damaged ? "it is damaged, in part or as a whole" : NULL;
}

static int find_names(struct question *question, struct debug_names **out)
{
	const struct debug_search *search = &question->search;
	const struct debug_code *code = search->code;
	struct debug_request request = {.what = DEBUG_PLACES,
					.count = question->count,
					.stext = code->mapping ? 0 : code->module->start,
					.layout = code->layout};
	struct debug_answer answer;
	const char *shortcoming;
	int result;

	for (u32 i = 0; i < DEBUG_FILES; i++)
		if (search->files[i] >= 0)
			request.files |= 1U << i;
	if (!request.files || (!search->link.has_dwarf && !search->link.has_symbols))
		return -ENOENT;
	result = ask_places(question, &request, &answer, out);
	shortcoming = shortcoming_of(search, &answer, result);
	if (shortcoming)
		note(question->lookup, search->path, shortcoming);
	return result && result != -ENOMEM ? -ENOENT : result;
}

int debug_lookup_find(struct debug_lookup *lookup, const struct debug_code *code, const u64 *places,
		      u32 count, struct debug_names **out)
{
	struct question question = {.lookup = lookup, .places = places, .count = count};
	struct debug_search *search = &question.search;
	int result = debug_search_begin(search, &lookup->searcher, code);

	if (result) {
		debug_search_unproven(search);
		return result;
	}
	debug_search_here(search);
	debug_search_servers(search);
	debug_search_shared(search);
	result = find_names(&question, out);
	debug_search_end(search);
	return result;
}

struct debug_facts debug_lookup_facts(struct debug_lookup *lookup, const struct debug_code *code)
{
	struct debug_facts facts = {};
	struct debug_search search;

	if (debug_search_begin(&search, &lookup->searcher, code))
		return facts;
	debug_search_here(&search);
	debug_search_servers(&search);
	facts.has_id = true;
	facts.has_code = search.files[DEBUG_FILE_CODE] >= 0;
	facts.is_replaced = search.is_replaced;
	facts.has_names = search.link.has_dwarf || search.link.has_symbols;
	facts.is_placed = facts.has_code || code->layout.count || search.link.has_code;
	debug_search_end(&search);
	return facts;
}
