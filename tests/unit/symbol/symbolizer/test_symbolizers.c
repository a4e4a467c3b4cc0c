/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The symbolizer processes, and their answers when one of them is stopped or killed: files of its
 * owner then have no names, files of root have them. The test replaces the service: it reads no
 * files, and hangs at files of one number. */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "privilege/memory_limit.h"
#include "privilege/message.h"
#include "symbol/file/mapped_file.h"
#include "symbol/symbolizer/symbol_service.h"
#include "symbol/symbolizer/symbolizer.h"
#include "symbol/symbolizer/symbolizers.h"
#include "unit_test.h"

#define HANGS 77
#define DIES 78
#define UNFOUND 79
#define NO_ROOM 80
#define PARTIAL 81
#define PARTIAL_TOO 82
#define PARTIAL_LAST 83
#define GONE 84	     /* only the process that has made the table has found the file */
#define COMPARED 124 /* index of the number of comparisons that were asked for */
#define ANALYSES_HELD 125
#define HELD 126 /* the service waits with the table of this number; 1: with all tables */
#define MADE 127 /* index of the number of tables */
#define SOMEBODY 12345
#define SOMEBODY_ELSE 12346

static void send_symbol(int socket, struct symbolizer_answer *answer)
{
	const struct symbol_item head = {.start = answer->number, .size = 8, .name_bytes = 4};
	int memory = symbol_file_create();

	answer->bytes = sizeof(head) + head.name_bytes;
	assert_int_equal(write(memory, &head, sizeof(head)), sizeof(head));
	assert_int_equal(write(memory, "name", head.name_bytes), head.name_bytes);
	message_send_files(socket, answer, sizeof(*answer), &memory, 1, MESSAGE_NO_DEADLINE);
	close(memory);
}

static u8 byte_of(int file, u32 index)
{
	u8 byte = 0;

	assert_int_equal(pread(file, &byte, 1, index), 1);
	return byte;
}

static void make_table(int file, const struct symbolizer_request *request,
		       struct symbolizer_answer *answer)
{
	u32 number = request->number;
	u8 made;

	while (byte_of(file, HELD) == 1 || byte_of(file, HELD) == number ||
	       (byte_of(file, ANALYSES_HELD) && request->what == SYMBOLIZER_ANALYSIS))
		usleep(1000);
	made = byte_of(file, MADE) + 1;
	assert_int_equal(pwrite(file, &made, 1, number), 1);
	assert_int_equal(pwrite(file, &made, 1, MADE), 1);
	answer->result = number == NO_ROOM ? -E2BIG : 0;
	answer->is_partial = number >= PARTIAL && number <= PARTIAL_LAST;
}

static void answer(int socket, const struct symbolizer_request *request, int file)
{
	struct symbolizer_answer answer = {.what = request->what, .number = request->number};
	static bool has_made_table;

	if (request->what == SYMBOLIZER_MOVED) {
		u8 compared = byte_of(file, COMPARED) + 1;

		assert_int_equal(pwrite(file, &compared, 1, COMPARED), 1);
	}
	if (request->what == SYMBOLIZER_TABLE || request->what == SYMBOLIZER_ANALYSIS) {
		make_table(file, request, &answer);
		has_made_table |= request->number == GONE;
	}
	while (request->number == HANGS)
		pause();
	if (request->number == DIES)
		_exit(1);
	if ((request->number == UNFOUND && request->cached) ||
	    (request->number == GONE && !has_made_table))
		answer.result = -ENOENT;
	if (!answer.result && request->what == SYMBOLIZER_SYMBOLS)
		return send_symbol(socket, &answer);
	answer.id = (struct build_id){.bytes = 4, .build_id = "abc"};
	message_send(socket, &answer, sizeof(answer), MESSAGE_NO_DEADLINE);
}

void symbolizer_serve(int socket)
{
	const struct symbolizer_answer ready = {.what = SYMBOLIZER_READY};
	struct symbolizer_request request;
	int files[MESSAGE_FILES_MAX];

	message_send(socket, &ready, sizeof(ready), MESSAGE_NO_DEADLINE);
	while (!message_receive_files(socket, &request, sizeof(request), files,
				      MESSAGE_NO_DEADLINE)) {
		answer(socket, &request, files[0]);
		message_close_files(files);
	}
}

void symbolizer_serve_trusted(int socket)
{
	symbolizer_serve(socket);
}

static struct symbolizers *symbolizers;
static struct mapping_record records[128];
static u32 identified, named[128];

/* A byte for each table: its position in the order in which tables were made, or 0. The service
 * receives this memory in place of the engine's map. */
static u8 *tables;
static int tables_file = -1;

static int see_identified(void *arg, u32 number)
{
	(void)arg;
	(void)number;
	identified++;
	return 0;
}

static int see_symbol(void *arg, const struct trace_symbol *symbol)
{
	(void)arg;
	assert_string_equal(symbol->name, "name");
	named[symbol->mapping]++;
	return 0;
}

static const struct symbolizers_sink sink = {.identified = see_identified, .symbol = see_symbol};

static int setup(void **state)
{
	(void)state;
	identified = 0;
	if (!tables) {
		tables_file = symbol_file_create();
		assert_int_equal(ftruncate(tables_file, MADE + 1), 0);
		tables = mmap(NULL, MADE + 1, PROT_READ | PROT_WRITE, MAP_SHARED, tables_file, 0);
		assert_ptr_not_equal(tables, MAP_FAILED);
	}
	memset(tables, 0, MADE + 1);
	memset(named, 0, sizeof(named));
	return symbolizers_create(&symbolizers) ?: symbolizers_await_root_process(symbolizers);
}

static int teardown(void **state)
{
	(void)state;
	symbolizers_free(&symbolizers);
	return 0;
}

/* Adds a file that a process of `owner` has mapped. */
static void add_mapped_file_of_owner(u32 number, u32 owner)
{
	struct trace_mapping mapping;
	char path[64];

	records[number] = (struct mapping_record){
		.key = {.kind = MAPPING_FILE}, .owner = owner, .tgid = getpid()};
	symbolizers_request_build_id(symbolizers, number, &records[number], &mapping, path,
				     sizeof(path));
	assert_int_equal(mapping.build_id_bytes, 0);
}

static void request_symbol_of_file(u32 number)
{
	const u64 address = number;

	assert_int_equal(symbolizers_request_symbols(symbolizers, number,
						     number ? &records[number] : NULL, &address, 1),
			 0);
}

static void visit_until_symbols_answered(enum symbolizers_which which)
{
	assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	while (symbolizers_have_pending_symbols(symbolizers, which)) {
		symbolizers_wait(symbolizers, 1000);
		assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	}
}

TEST(names_of_several_owners, setup, teardown)
{
	add_mapped_file_of_owner(1, FILE_OWNER_ROOT);
	add_mapped_file_of_owner(2, SOMEBODY);
	request_symbol_of_file(0);
	request_symbol_of_file(1);
	request_symbol_of_file(2);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(named[0], 1);
	assert_int_equal(named[1], 1);
	assert_int_equal(named[2], 1);
	assert_int_equal(identified, 2);
	assert_int_equal(symbolizers_take_failures(symbolizers), 0);
}

/* The number of addresses of the file that still have to be requested. */
static u32 count_uncached_addresses(u32 number)
{
	u64 addresses[1] = {number};
	u32 count = 1;

	assert_int_equal(
		symbolizers_find_cached_symbols(symbolizers, number, addresses, &count, &sink), 0);
	return count;
}

TEST(answers_about_a_file_are_cached, setup, teardown)
{
	add_mapped_file_of_owner(1, FILE_OWNER_ROOT);
	add_mapped_file_of_owner(2, FILE_OWNER_ROOT);
	records[2].key.kind = MAPPING_ANON;
	assert_int_equal(count_uncached_addresses(1), 1);
	request_symbol_of_file(0);
	request_symbol_of_file(1);
	request_symbol_of_file(2);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(count_uncached_addresses(0), 1);
	assert_int_equal(count_uncached_addresses(1), 0);
	assert_int_equal(named[1], 2);
	assert_int_equal(count_uncached_addresses(2), 1);
}

/* No call waits for the process, and its jobs are dropped when their time is over. */
TEST(a_process_that_hangs_costs_its_owner, setup, teardown)
{
	struct symbolizers_trouble trouble;
	u64 began = clock_ms();

	add_mapped_file_of_owner(HANGS, SOMEBODY);
	add_mapped_file_of_owner(2, SOMEBODY);
	add_mapped_file_of_owner(1, FILE_OWNER_ROOT);
	request_symbol_of_file(HANGS);
	request_symbol_of_file(2);
	request_symbol_of_file(1);
	request_symbol_of_file(0);
	visit_until_symbols_answered(SYMBOLIZERS_TRUSTED);
	assert_int_equal(named[1], 1);
	assert_int_equal(named[0], 1);
	assert_int_equal(named[2], 0);
	symbolizers_drop_symbol_requests(symbolizers);
	assert_int_equal(symbolizers_take_failures(symbolizers), 2);
	assert_false(symbolizers_have_pending_symbols(symbolizers, SYMBOLIZERS_ANY));
	assert_true(symbolizers_next_slow_owner(symbolizers, &trouble));
	assert_int_equal(trouble.owner, SOMEBODY);
	assert_int_equal(trouble.files, 2);
	assert_false(symbolizers_next_slow_owner(symbolizers, &trouble));
	assert_true(clock_ms() - began < 3000); /* the limit for one process has not passed */
}

/* The next window has names of other users, and those of this user when a new process reads. */
TEST(a_process_that_hangs_is_waited_for_once, setup, teardown)
{
	add_mapped_file_of_owner(HANGS, SOMEBODY);
	add_mapped_file_of_owner(2, SOMEBODY);
	add_mapped_file_of_owner(3, SOMEBODY_ELSE);
	request_symbol_of_file(HANGS);
	assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	assert_true(symbolizers_have_pending_symbols(symbolizers, SYMBOLIZERS_ANY));
	symbolizers_drop_symbol_requests(symbolizers);
	request_symbol_of_file(2);
	assert_false(symbolizers_have_pending_symbols(symbolizers, SYMBOLIZERS_ANY));
	request_symbol_of_file(3);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(named[3], 1);
	assert_int_equal(named[2], 0);
	while (!named[2]) {
		symbolizers_wait(symbolizers, 1000);
		assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	}
	request_symbol_of_file(2);
	assert_true(symbolizers_have_pending_symbols(symbolizers, SYMBOLIZERS_ANY));
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
}

/* The kernel's symbols are read first, and no file delays them. */
TEST(the_kernel_does_not_wait_for_files_of_root, setup, teardown)
{
	add_mapped_file_of_owner(HANGS, FILE_OWNER_ROOT);
	request_symbol_of_file(HANGS);
	assert_int_equal(symbolizers_request_kernel_names_early(symbolizers), 0);
	request_symbol_of_file(0);
	visit_until_symbols_answered(SYMBOLIZERS_KERNEL);
	assert_true(named[0] > 0);
	assert_true(symbolizers_have_pending_symbols(symbolizers, SYMBOLIZERS_TRUSTED));
	symbolizers_drop_symbol_requests(symbolizers);
	assert_int_equal(symbolizers_take_failures(symbolizers), 1);
}

TEST(jobs_behind_a_hanging_process_go_to_another_one, setup, teardown)
{
	add_mapped_file_of_owner(HANGS, SOMEBODY);
	add_mapped_file_of_owner(2, SOMEBODY);
	request_symbol_of_file(HANGS);
	request_symbol_of_file(2);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(named[2], 1);
	assert_int_equal(named[HANGS], 0);
	assert_int_equal(symbolizers_take_failures(symbolizers), 1);
}

/* The number of processes that are started for an owner is limited. */
TEST(a_process_that_keeps_dying_is_given_up, setup, teardown)
{
	add_mapped_file_of_owner(3, SOMEBODY);
	for (int i = 0; i < 8; i++) {
		records[DIES] = records[3];
		request_symbol_of_file(DIES);
	}
	request_symbol_of_file(3);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(named[3], 0);
	assert_int_equal(symbolizers_take_failures(symbolizers), 2); /* each file counts once */
	add_mapped_file_of_owner(1, FILE_OWNER_ROOT);
	request_symbol_of_file(1);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(named[1], 1);
}

/* The path is of the process that has mapped the file: the symbolizer of this process's user looks
 * for it. */
TEST(a_file_that_its_owner_does_not_find, setup, teardown)
{
	u32 pids[SYMBOLIZER_PROCESSES_MAX], before;

	add_mapped_file_of_owner(1, FILE_OWNER_ROOT);
	request_symbol_of_file(1);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	before = symbolizers_processes(symbolizers, pids);
	add_mapped_file_of_owner(UNFOUND, SOMEBODY);
	request_symbol_of_file(UNFOUND);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(named[UNFOUND], 1);
	assert_int_equal(symbolizers_take_failures(symbolizers), 0);
	assert_int_equal(symbolizers_processes(symbolizers, pids), before + 1);
}

static void request_unwind_table(u32 number)
{
	symbolizers_request_unwind_table(symbolizers, number, &records[number], tables_file);
}

static void await_tables(u32 count)
{
	while (__atomic_load_n(&tables[MADE], __ATOMIC_ACQUIRE) < count) {
		symbolizers_wait(symbolizers, 10);
		assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	}
}

TEST(names_of_root_do_not_wait_for_tables, setup, teardown)
{
	tables[HELD] = true;
	add_mapped_file_of_owner(1, FILE_OWNER_ROOT);
	request_unwind_table(1);
	request_symbol_of_file(1);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(named[1], 1);
	assert_int_equal(tables[MADE], 0);
	__atomic_store_n(&tables[HELD], false, __ATOMIC_RELEASE);
	await_tables(1);
}

/* Processes that begin to run make the descriptor readable, too. */
TEST(an_answer_makes_the_descriptor_readable_until_it_is_taken, setup, teardown)
{
	struct pollfd answers = {.fd = symbolizers_answers_fd(symbolizers), .events = POLLIN};

	add_mapped_file_of_owner(1, FILE_OWNER_ROOT);
	request_symbol_of_file(1);
	while (symbolizers_have_pending_symbols(symbolizers, SYMBOLIZERS_ANY)) {
		assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
		if (symbolizers_have_pending_symbols(symbolizers, SYMBOLIZERS_ANY))
			assert_int_equal(poll(&answers, 1, -1), 1);
	}
	while (poll(&answers, 1, 0))
		assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	assert_int_equal(named[1], 1);
}

TEST(a_file_that_only_its_table_was_made_of_has_names, setup, teardown)
{
	add_mapped_file_of_owner(GONE, FILE_OWNER_ROOT);
	request_unwind_table(GONE);
	await_tables(1);
	while (symbolizers_have_pending_tables(symbolizers)) {
		symbolizers_wait(symbolizers, 10);
		assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	}
	request_symbol_of_file(GONE);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(named[GONE], 1);
	assert_int_equal(symbolizers_take_failures(symbolizers), 0);
}

/* A table that is asked for afterwards is made after all that its process was asked before. */
TEST(memory_of_a_process_is_read_for_its_user_alone, setup, teardown)
{
	add_mapped_file_of_owner(GONE, FILE_OWNER_ROOT);
	request_unwind_table(GONE);
	await_tables(1);
	while (symbolizers_have_pending_tables(symbolizers)) {
		symbolizers_wait(symbolizers, 10);
		assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	}
	symbolizers_request_code_comparison(symbolizers, GONE, getpid(), &records[GONE],
					    tables_file);
	add_mapped_file_of_owner(1, FILE_OWNER_ROOT);
	request_symbol_of_file(1);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	request_unwind_table(1);
	await_tables(2);
	assert_int_equal(tables[COMPARED], 1);
}

/* Names of other files wait only for the table that is being made. */
TEST(tables_wait_for_names, setup, teardown)
{
	tables[HELD] = true;
	for (u32 number = 1; number <= 3; number++) {
		add_mapped_file_of_owner(number, SOMEBODY);
		request_unwind_table(number);
		request_unwind_table(number);
	}
	assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	while (identified < 3) {
		symbolizers_wait(symbolizers, 10);
		assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	}
	request_symbol_of_file(1);
	assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	__atomic_store_n(&tables[HELD], false, __ATOMIC_RELEASE);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(named[1], 1);
	assert_in_range(tables[MADE], 1, 2);
	await_tables(3);
	assert_true(tables[1] < tables[2] && tables[2] < tables[3]);
	assert_int_equal(symbolizers_take_failures(symbolizers), 0);
}

static void visit_until_analysing(void)
{
	while (!symbolizers_are_analysing(symbolizers)) {
		symbolizers_wait(symbolizers, 10);
		assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	}
}

/* The analysis also waits for a table that is requested after it. */
TEST(an_analysis_waits_for_all_tables, setup, teardown)
{
	static const u32 numbers[] = {PARTIAL, 2, 3};

	tables[HELD] = 2;
	for (u32 i = 0; i < 3; i++)
		add_mapped_file_of_owner(numbers[i], SOMEBODY);
	request_unwind_table(PARTIAL);
	request_unwind_table(2);
	visit_until_analysing();
	assert_true(symbolizers_have_pending_tables(symbolizers));
	request_unwind_table(3);
	__atomic_store_n(&tables[HELD], 0, __ATOMIC_RELEASE);
	while (symbolizers_are_analysing(symbolizers)) {
		symbolizers_wait(symbolizers, 10);
		assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	}
	assert_false(symbolizers_have_pending_tables(symbolizers));
	assert_int_equal(tables[2], 2);
	assert_int_equal(tables[3], 3);
	assert_int_equal(tables[PARTIAL], 4);
	assert_int_equal(tables[MADE], 4);
	assert_int_equal(symbolizers_take_failures(symbolizers), 0);
}

static void let_held_service_go_on(u8 *held)
{
	__atomic_store_n(held, 0, __ATOMIC_RELEASE);
}

TEST(tables_of_root_do_not_wait_for_an_analysis, setup, teardown)
{
	add_mapped_file_of_owner(PARTIAL, FILE_OWNER_ROOT);
	add_mapped_file_of_owner(2, FILE_OWNER_ROOT);
	tables[ANALYSES_HELD] = true;
	request_unwind_table(PARTIAL);
	visit_until_analysing();
	request_unwind_table(2);
	await_tables(2);
	assert_int_equal(tables[2], 2);
	assert_true(symbolizers_are_analysing(symbolizers));
	let_held_service_go_on(&tables[ANALYSES_HELD]);
	await_tables(3);
	assert_int_equal(tables[PARTIAL], 3);
}

/* Events meet two of a program's files, and stacks end in one of them. */
TEST(tables_that_events_miss_come_first, setup, teardown)
{
	tables[HELD] = true;
	for (u32 number = 1; number <= 6; number++) {
		add_mapped_file_of_owner(number, SOMEBODY);
		request_unwind_table(number);
	}
	while (identified < 6) {
		symbolizers_wait(symbolizers, 10);
		assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	}
	symbolizers_raise_table_urgency(symbolizers, 5, 0);
	symbolizers_raise_table_urgency(symbolizers, 6, 0);
	symbolizers_raise_table_urgency(symbolizers, 6, 3);
	let_held_service_go_on(&tables[HELD]);
	await_tables(6);
	assert_int_equal(tables[1], 1); /* the process already works on this job */
	assert_int_equal(tables[6], 2);
	assert_int_equal(tables[5], 3);
	for (u32 number = 2; number <= 4; number++)
		assert_int_equal(tables[number], number + 2);
}

/* The order of the files does not matter: the urgent one is met last. */
TEST(analyses_that_events_miss_come_first, setup, teardown)
{
	add_mapped_file_of_owner(PARTIAL, FILE_OWNER_ROOT);
	add_mapped_file_of_owner(PARTIAL_TOO, FILE_OWNER_ROOT);
	add_mapped_file_of_owner(PARTIAL_LAST, FILE_OWNER_ROOT);
	tables[ANALYSES_HELD] = true;
	request_unwind_table(PARTIAL);
	visit_until_analysing();
	request_unwind_table(PARTIAL_TOO);
	request_unwind_table(PARTIAL_LAST);
	await_tables(3);
	while (symbolizers_have_pending_tables(symbolizers)) {
		symbolizers_wait(symbolizers, 10);
		assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	}
	symbolizers_raise_table_urgency(symbolizers, PARTIAL_TOO, 1);
	symbolizers_raise_table_urgency(symbolizers, PARTIAL_LAST, 2);
	let_held_service_go_on(&tables[ANALYSES_HELD]);
	await_tables(6);
	assert_int_equal(tables[PARTIAL], 4);
	assert_int_equal(tables[PARTIAL_LAST], 5);
	assert_int_equal(tables[PARTIAL_TOO], 6);
}

TEST(a_full_map_gets_no_table, setup, teardown)
{
	add_mapped_file_of_owner(NO_ROOM, FILE_OWNER_ROOT);
	request_unwind_table(NO_ROOM);
	await_tables(1);
	add_mapped_file_of_owner(1, FILE_OWNER_ROOT);
	while (identified < 2) {
		symbolizers_wait(symbolizers, 10);
		assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	}
	request_unwind_table(1);
	request_symbol_of_file(1);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(tables[MADE], 1);
	symbolizers_allow_table_requests_again(symbolizers);
	request_unwind_table(1);
	await_tables(2);
	request_unwind_table(1);
	request_symbol_of_file(1);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(tables[MADE], 2);
}

/* Only missing names count as a failure. */
TEST(a_table_that_is_not_made_is_no_failure, setup, teardown)
{
	struct symbolizers_trouble trouble;

	add_mapped_file_of_owner(4, SOMEBODY);
	request_symbol_of_file(4);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	records[DIES] = records[4];
	request_unwind_table(DIES);
	await_tables(1);
	request_symbol_of_file(4);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(named[4], 2);
	assert_int_equal(symbolizers_take_failures(symbolizers), 0);
	assert_false(symbolizers_next_slow_owner(symbolizers, &trouble));
}

static int setup_with_little_memory(void **state)
{
	memory_limit_lower(256 << 20);
	return setup(state);
}

static void visit_until_identified(u32 count)
{
	while (identified < count) {
		symbolizers_wait(symbolizers, 1000);
		assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	}
}

/* Names wait for the first of two tables, which is being made; files are identified meanwhile. Then
 * come the names, the second table, and the analysis; further names wait for the analysis, too. */
TEST(processes_of_root_take_turns_where_memory_is_little, setup_with_little_memory, teardown)
{
	tables[ANALYSES_HELD] = true;
	tables[HELD] = 1;
	add_mapped_file_of_owner(PARTIAL, FILE_OWNER_ROOT);
	add_mapped_file_of_owner(2, FILE_OWNER_ROOT);
	request_unwind_table(PARTIAL);
	request_unwind_table(2);
	visit_until_identified(2);
	request_symbol_of_file(PARTIAL);
	add_mapped_file_of_owner(3, FILE_OWNER_ROOT);
	visit_until_identified(3);
	assert_int_equal(named[PARTIAL], 0);
	__atomic_store_n(&tables[HELD], 2, __ATOMIC_RELEASE);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(named[PARTIAL], 1);
	assert_int_equal(tables[PARTIAL], 1);
	let_held_service_go_on(&tables[HELD]);
	await_tables(2);
	while (symbolizers_have_pending_tables(symbolizers)) {
		symbolizers_wait(symbolizers, 10);
		assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	}
	request_symbol_of_file(3);
	request_unwind_table(3);
	add_mapped_file_of_owner(4, FILE_OWNER_ROOT);
	visit_until_identified(4);
	assert_int_equal(named[3], 0);
	assert_int_equal(tables[MADE], 2);
	let_held_service_go_on(&tables[ANALYSES_HELD]);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(named[3], 1);
	await_tables(4);
	assert_int_equal(tables[PARTIAL], 3);
	assert_int_equal(tables[3], 4);
	assert_int_equal(symbolizers_take_failures(symbolizers), 0);
}

/* Processes of other users cannot block the turns of root's processes. */
TEST(root_does_not_wait_for_others_where_memory_is_little, setup_with_little_memory, teardown)
{
	add_mapped_file_of_owner(HANGS, SOMEBODY);
	assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	add_mapped_file_of_owner(1, FILE_OWNER_ROOT);
	request_symbol_of_file(1);
	visit_until_symbols_answered(SYMBOLIZERS_TRUSTED);
	assert_int_equal(named[1], 1);
}

TEST(others_do_not_wait_for_root_where_memory_is_little, setup_with_little_memory, teardown)
{
	tables[HELD] = 1;
	add_mapped_file_of_owner(1, FILE_OWNER_ROOT);
	request_unwind_table(1);
	assert_int_equal(symbolizers_exchange_messages(symbolizers, &sink), 0);
	add_mapped_file_of_owner(2, SOMEBODY);
	request_symbol_of_file(2);
	visit_until_symbols_answered(SYMBOLIZERS_ANY);
	assert_int_equal(named[2], 1);
	assert_int_equal(tables[MADE], 0);
	let_held_service_go_on(&tables[HELD]);
	await_tables(1);
}

TEST(owners)
{
	struct mapping_record record = {.key = {.kind = MAPPING_FILE, .device = 41}};

	assert_int_equal(file_owner(&record), FILE_OWNER_ROOT);
	record.file_system = 0x65735546; /* FUSE */
	assert_int_equal(file_owner(&record), FILE_OWNER_MOUNT | 41);
	assert_false(file_owner_trusted(file_owner(&record)));
	record.file_system = 0xef53; /* ext4 */
	record.owner = SOMEBODY;
	assert_int_equal(file_owner(&record), SOMEBODY);
	record.key = (struct mapping_key){.kind = MAPPING_ANON, .inode = (u64)getpid() << 24};
	assert_int_equal(file_owner(&record), geteuid());
	assert_true(file_owner_trusted(geteuid()));
}
