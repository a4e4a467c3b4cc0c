/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Those behind a question that is not answered are sent again. */
#include "symbolizer_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "clock.h"
#include "error.h"
#include "privilege/message.h"
#include "symbol/file/file_owner.h"

#define SENT_MAX 64
#define AT_ONCE 1 /* a deadline that has passed */

/* Longer than its sandbox may take for them, which costs less when it is to blame. */
#define LEARN_MS 3000
#define SYMBOLS_MS 12000

/* A new process runs only the product's own code until it is ready: on an emulated machine that
 * starts forty recordings at once that took more than 10 s. */
#define START_MS 60000

#define STARTS_MAX 3
#define STARTS_MAX_TRUSTED 16

void question_clear(struct question *question)
{
	if (question->file >= 0)
		close(question->file);
	question->file = -1;
}

/* Questions wait for all those of a lower rank. */
static u32 rank(u32 what)
{
	return what == SYMBOLIZER_ANALYSIS ? 2 : what == SYMBOLIZER_TABLE;
}

/* Behind what was sent, and before questions of a higher rank that were not. */
static u32 place_for(const struct symbolizer_client *client, u32 what)
{
	u32 place = client->count;

	while (place > client->sent && rank(client->questions[place - 1].what) > rank(what))
		place--;
	return place;
}

int symbolizer_client_ask(struct symbolizer_client *client, const struct question *question)
{
	struct question taken = *question;
	u32 place;

	if (array_make_room(client->questions, client->count, client->room)) {
		question_clear(&taken);
		return -ENOMEM;
	}
	place = place_for(client, question->what);
	memmove(client->questions + place + 1, client->questions + place,
		(client->count - place) * sizeof(*client->questions));
	client->questions[place] = taken;
	client->count++;
	return 0;
}

static u32 starts_max(const struct symbolizer_client *client)
{
	return file_owner_trusted(client->owner) ? STARTS_MAX_TRUSTED : STARTS_MAX;
}

static void leave_behind(struct symbolizer_client *client)
{
	file_worker_end(&client->worker, 0);
	client->sandbox = 0;
	client->sent = 0;
}

/* The first question is done with. */
static int pop(struct symbolizer_client *client, const struct symbolizer_talk *talk,
	       const struct symbolizer_answer *answer, int symbols)
{
	struct question question = client->questions[0];

	client->count--;
	client->sent -= client->sent > 0;
	memmove(client->questions, client->questions + 1,
		client->count * sizeof(*client->questions));
	client->since = clock_ms();
	return talk->answered(talk->arg, client, &question, answer, symbols);
}

/* The one that is being answered has kept the process, or killed it. */
static int give_up(struct symbolizer_client *client, const struct symbolizer_talk *talk)
{
	bool was_asked = client->sent;

	leave_behind(client);
	return was_asked ? pop(client, talk, NULL, -1) : 0;
}

static int fail_all(struct symbolizer_client *client, const struct symbolizer_talk *talk)
{
	int result = 0;

	while (client->count)
		result = first_error(result, pop(client, talk, NULL, -1));
	return result;
}

static void fill_request(const struct question *question, const struct symbolizer_talk *talk,
			 struct symbolizer_request *request)
{
	const struct build_id *id = talk->id(talk->arg, question->number);

	*request = (struct symbolizer_request){
		.what = question->what,
		.number = question->number,
		.count = question->count,
		.cached = question->cached,
	};
	if (!question->record)
		return;
	request->record = *question->record;
	if (!id)
		return;
	request->record.build_id_bytes = id->bytes;
	memcpy(request->record.build_id, id->build_id, id->bytes);
}

static int send_question(struct symbolizer_client *client, const struct symbolizer_talk *talk)
{
	const struct question *question = &client->questions[client->sent];
	int files[MESSAGE_FILES_MAX], count = 0;
	struct symbolizer_request request;

	fill_request(question, talk, &request);
	if (question->file >= 0)
		files[count++] = question->file;
	if (!question->record) {
		if (talk->kallsyms >= 0)
			files[count++] = talk->kallsyms;
		if (talk->kallsyms >= 0 && talk->modules >= 0)
			files[count++] = talk->modules;
	}
	return message_send_files(client->worker.socket, &request, sizeof(request), files, count,
				  AT_ONCE);
}

/* -EPIPE: none may be started any more; or why it could not be. */
int symbolizer_client_start(struct symbolizer_client *client)
{
	if (client->starts == starts_max(client))
		return -EPIPE;
	client->starts++;
	return file_worker_start(file_owner_trusted(client->owner) ? symbolizer_serve_trusted
								   : symbolizer_serve,
				 &client->worker);
}

int symbolizer_client_await(struct symbolizer_client *client)
{
	u64 deadline = clock_ns(CLOCK_MONOTONIC) + START_MS * NS_PER_MS;
	struct symbolizer_answer ready = {};
	int result = message_receive(client->worker.socket, &ready, sizeof(ready), deadline);

	client->sandbox = ready.sandbox;
	return result ?: ready.result;
}

/* Symbols are asked for with the build id that what was learned before has brought. */
static bool may_send(const struct symbolizer_client *client)
{
	u32 sent = client->sent;

	if (sent == client->count || sent == SENT_MAX)
		return false;
	return !sent || (client->questions[sent].what == client->questions[0].what &&
			 !rank(client->questions[0].what));
}

static int send_questions(struct symbolizer_client *client, const struct symbolizer_talk *talk)
{
	if (!client->worker.pid && client->count && symbolizer_client_start(client))
		return fail_all(client, talk);
	while (may_send(client)) {
		int result = send_question(client, talk);

		if (result == -ETIMEDOUT)
			return 0;
		if (!client->sent++)
			client->since = clock_ms();
		if (result)
			return give_up(client, talk);
	}
	return 0;
}

/* A process that cannot serve says so, or ends. */
static int take(struct symbolizer_client *client, const struct symbolizer_talk *talk,
		const struct symbolizer_answer *answer, int symbols)
{
	const struct question *first = client->questions;

	client->sandbox = answer->sandbox;
	if (answer->what == SYMBOLIZER_READY)
		return answer->result ? give_up(client, talk) : 0;
	if (!client->sent || first->what != answer->what || first->number != answer->number)
		return give_up(client, talk);
	return pop(client, talk, answer, symbols);
}

static int receive_answers(struct symbolizer_client *client, const struct symbolizer_talk *talk)
{
	int result = 0;

	while (client->worker.pid) {
		struct symbolizer_answer answer;
		int files[MESSAGE_FILES_MAX];
		int error = message_receive_files(client->worker.socket, &answer, sizeof(answer),
						  files, AT_ONCE);

		if (error == -ETIMEDOUT)
			return result;
		result = (error ? give_up(client, talk) : take(client, talk, &answer, files[0]))
				 ?: result;
		if (!error && files[0] >= 0)
			close(files[0]);
	}
	return result;
}

int symbolizer_client_patience(const struct symbolizer_client *client)
{
	u64 now = clock_ms(), end;

	if (!client->sent)
		return client->count ? 0 : -1;
	end = client->since +
	      (client->questions[0].what == SYMBOLIZER_LEARN ? LEARN_MS : SYMBOLS_MS);
	return end > now ? end - now : 0;
}

int symbolizer_client_visit(struct symbolizer_client *client, const struct symbolizer_talk *talk)
{
	int result = client->worker.pid ? receive_answers(client, talk) : 0;

	if (client->sent && !symbolizer_client_patience(client))
		result = first_error(result, give_up(client, talk));
	return first_error(result, send_questions(client, talk));
}

void symbolizer_client_end(struct symbolizer_client *client, int wait_ms)
{
	file_worker_end(&client->worker, wait_ms);
	while (client->count)
		question_clear(&client->questions[--client->count]);
	free(client->questions);
	*client = (struct symbolizer_client){};
}
