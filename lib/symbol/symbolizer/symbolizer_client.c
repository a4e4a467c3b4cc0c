/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When a process does not answer a job, the jobs after it are sent to a new process. */
#include "symbolizer_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "array.h"
#include "clock.h"
#include "error.h"
#include "privilege/message.h"
#include "symbol/file/mapped_file.h"

#define SENT_MAX 64
/* The most jobs for tables that a process may have before it answers one, if jobs for names go to
 * another process; the jobs after the first wait in the socket of the process. */
#define TABLES_SENT_MAX 4
#define AT_ONCE 1 /* a deadline that lies in the past: a call with it does not wait */

/* Time limits of a job. They are longer than the limits of the sandbox: to end and replace the
 * sandbox costs less than to replace the symbolizer process. */
#define IDENTIFY_MS 3000
#define SYMBOLS_MS 12000

/* Time limit for the start of a process, which runs only our own code until it is ready. On an
 * emulated machine that started forty recordings at once, the start of a process took more than 10
 * s. */
#define START_MS 60000

#define STARTS_MAX 3
#define STARTS_MAX_TRUSTED 16

void symbolizer_job_clear(struct symbolizer_job *job)
{
	if (job->file >= 0)
		close(job->file);
	if (job->code >= 0)
		close(job->code);
	job->file = job->code = -1;
}

/* True for jobs that read a whole file: these take memory. */
static bool job_reads_file(u32 what)
{
	return what == SYMBOLIZER_SYMBOLS || what == SYMBOLIZER_TABLE ||
	       what == SYMBOLIZER_ANALYSIS;
}

/* The order of jobs by kind: a job waits for all jobs of a lower rank. */
static u32 order_of_job_kind(u32 what)
{
	return what == SYMBOLIZER_ANALYSIS ? 2 : what == SYMBOLIZER_TABLE;
}

int symbolizer_client_submit(struct symbolizer_client *client, const struct symbolizer_job *job)
{
	struct symbolizer_job taken = *job;

	if (array_make_room(client->jobs, client->count, client->room)) {
		symbolizer_job_clear(&taken);
		return -ENOMEM;
	}
	client->jobs[client->count++] = taken;
	return 0;
}

static bool is_job_more_urgent(const struct symbolizer_job *left,
			       const struct symbolizer_job *right,
			       const struct symbolizer_callbacks *callbacks)
{
	u32 a = order_of_job_kind(left->what), b = order_of_job_kind(right->what);

	if (!callbacks->may_read && job_reads_file(left->what) != job_reads_file(right->what))
		return job_reads_file(right->what);
	if (a != b || !a)
		return a < b;
	return callbacks->urgency(callbacks->arg, left->number) >
	       callbacks->urgency(callbacks->arg, right->number);
}

/* Moves the job that is to be sent next before all others that are not sent. Jobs that are equally
 * urgent keep their order.
 */
static void choose_next_job(struct symbolizer_client *client,
			    const struct symbolizer_callbacks *callbacks)
{
	struct symbolizer_job *first = client->jobs + client->sent, *best = first, chosen;

	for (struct symbolizer_job *job = first; job < client->jobs + client->count; job++)
		if (is_job_more_urgent(job, best, callbacks))
			best = job;
	chosen = *best;
	memmove(first + 1, first, (best - first) * sizeof(*first));
	*first = chosen;
}

/* Removes the first job from the list and hands its answer to callbacks->answered(). */
static int finish_first_job(struct symbolizer_client *client,
			    const struct symbolizer_callbacks *callbacks,
			    const struct symbolizer_answer *answer, int file)
{
	struct symbolizer_job job = client->jobs[0];

	client->count--;
	client->sent -= client->sent > 0;
	client->hangs = false;
	memmove(client->jobs, client->jobs + 1, client->count * sizeof(*client->jobs));
	client->since = clock_ms();
	return callbacks->answered(callbacks->arg, client, &job, answer, file);
}

/* Ends the process, which the first sent job has blocked or killed; this job counts as failed. */
static int abandon_process(struct symbolizer_client *client,
			   const struct symbolizer_callbacks *callbacks)
{
	bool had_job = client->sent;

	file_worker_end(&client->worker, 0);
	client->sandbox = 0;
	client->sent = 0;
	return had_job ? finish_first_job(client, callbacks, NULL, -1) : 0;
}

static int send_job(struct symbolizer_client *client, const struct symbolizer_callbacks *callbacks)
{
	const struct symbolizer_job *job = &client->jobs[client->sent];
	const struct build_id *id = callbacks->id(callbacks->arg, job->number);
	struct symbolizer_request request = {
		.what = job->what,
		.number = job->number,
		.count = job->count,
		.cached = job->cached,
		.wants_code = job->wants_code,
	};
	int files[MESSAGE_FILES_MAX], count = 0;

	if (job->file >= 0)
		files[count++] = job->file;
	if (job->code >= 0)
		files[count++] = job->code;
	if (job->record) {
		request.record = *job->record;
		if (id) {
			request.record.build_id_bytes = id->bytes;
			memcpy(request.record.build_id, id->build_id, id->bytes);
		}
	} else {
		if (callbacks->kallsyms >= 0)
			files[count++] = callbacks->kallsyms;
		if (callbacks->kallsyms >= 0 && callbacks->modules >= 0)
			files[count++] = callbacks->modules;
		if (job->file >= 0 && count == 3 && callbacks->kernel_copy->kallsyms >= 0) {
			files[count++] = callbacks->kernel_copy->kallsyms;
			files[count++] = callbacks->kernel_copy->modules;
		}
	}
	return message_send_files(client->worker.socket, &request, sizeof(request), files, count,
				  AT_ONCE);
}

int symbolizer_client_start(struct symbolizer_client *client)
{
	bool is_trusted = file_owner_trusted(client->owner);
	struct epoll_event answer = {.events = EPOLLIN | EPOLLET};
	int result;

	if (client->starts == (is_trusted ? STARTS_MAX_TRUSTED : STARTS_MAX))
		return -EPIPE;
	client->starts++;
	result = file_worker_start(is_trusted ? symbolizer_serve_trusted : symbolizer_serve,
				   &client->worker);
	if (!result && epoll_ctl(client->answers, EPOLL_CTL_ADD, client->worker.socket, &answer)) {
		result = -errno;
		file_worker_end(&client->worker, 0);
	}
	return result;
}

int symbolizer_client_await(struct symbolizer_client *client)
{
	u64 deadline = clock_ns(CLOCK_MONOTONIC) + START_MS * NS_PER_MS;
	struct symbolizer_answer ready = {};
	int result = message_receive(client->worker.socket, &ready, sizeof(ready), deadline);

	client->sandbox = ready.sandbox;
	return result ?: ready.result;
}

/* True if another job may be sent. Only jobs of one kind are with the process at a time, so that a
 * request for symbols has the build id from identification. */
static bool may_send_job(struct symbolizer_client *client,
			 const struct symbolizer_callbacks *callbacks)
{
	bool is_table = client->count && order_of_job_kind(client->jobs[0].what);
	bool one_by_one = client->owner != FILE_OWNER_TABLES || callbacks->takes_turns;
	u32 sent = client->sent, most = !is_table ? SENT_MAX : one_by_one ? 1 : TABLES_SENT_MAX;

	if (sent == client->count || (sent && sent >= most))
		return false;
	choose_next_job(client, callbacks);
	if (!callbacks->may_read && job_reads_file(client->jobs[sent].what))
		return false;
	return !sent || client->jobs[sent].what == client->jobs[0].what;
}

static int send_jobs(struct symbolizer_client *client, const struct symbolizer_callbacks *callbacks)
{
	int failed = 0;

	if (!client->worker.pid && client->count && symbolizer_client_start(client)) {
		while (client->count)
			failed = first_error(failed, finish_first_job(client, callbacks, NULL, -1));
		return failed;
	}
	while (may_send_job(client, callbacks)) {
		int result = send_job(client, callbacks);

		if (result == -ETIMEDOUT)
			return 0;
		if (!client->sent++)
			client->since = clock_ms();
		if (result)
			return abandon_process(client, callbacks);
	}
	return 0;
}

static int receive_answers(struct symbolizer_client *client,
			   const struct symbolizer_callbacks *callbacks)
{
	int result = 0;

	while (client->worker.pid) {
		const struct symbolizer_job *first = client->jobs;
		struct symbolizer_answer answer;
		int files[MESSAGE_FILES_MAX], taken;
		int error = message_receive_files(client->worker.socket, &answer, sizeof(answer),
						  files, AT_ONCE);

		if (error == -ETIMEDOUT)
			return result;
		if (!error)
			client->sandbox = answer.sandbox;
		if (!error && answer.what == SYMBOLIZER_READY)
			taken = answer.result ? abandon_process(client, callbacks) : 0;
		else if (error || !client->sent || first->what != answer.what ||
			 first->number != answer.number)
			taken = abandon_process(client, callbacks);
		else
			taken = finish_first_job(client, callbacks, &answer, files[0]);
		result = taken ?: result;
		if (!error && files[0] >= 0)
			close(files[0]);
	}
	return result;
}

bool symbolizer_client_reads_whole_file(const struct symbolizer_client *client)
{
	return client->sent && job_reads_file(client->jobs[0].what);
}

int symbolizer_client_time_left(const struct symbolizer_client *client)
{
	u64 now = clock_ms(), end;

	if (!client->sent)
		return client->count ? 0 : -1;
	end = client->since +
	      (client->jobs[0].what == SYMBOLIZER_IDENTIFY ? IDENTIFY_MS : SYMBOLS_MS);
	return end > now ? end - now : 0;
}

int symbolizer_client_exchange(struct symbolizer_client *client,
			       const struct symbolizer_callbacks *callbacks)
{
	int result = client->worker.pid ? receive_answers(client, callbacks) : 0;

	if (client->sent && !symbolizer_client_time_left(client))
		result = first_error(result, abandon_process(client, callbacks));
	return first_error(result, send_jobs(client, callbacks));
}

void symbolizer_client_end(struct symbolizer_client *client, int wait_ms)
{
	file_worker_end(&client->worker, wait_ms);
	while (client->count)
		symbolizer_job_clear(&client->jobs[--client->count]);
	free(client->jobs);
	*client = (struct symbolizer_client){};
}
