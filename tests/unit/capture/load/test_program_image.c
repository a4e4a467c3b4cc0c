/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that are loaded in parallel, each with its own constants; and the state after the
 * refusal of one of them. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "capture/load/program_image.h"
#include "unit_test.h"

#define LOADS 8

/* Returns the first number of a map. */
static struct bpf_insn first_constant[] = {
	{.code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_VALUE},
	{},
	{.code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 0, .src_reg = 1},
	{.code = BPF_JMP | BPF_EXIT},
};

/* Returns a register that is not set. */
static struct bpf_insn refused[] = {
	{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 0, .src_reg = 7},
	{.code = BPF_JMP | BPF_EXIT},
};

static struct program_image image_of(struct bpf_insn *code, u32 count)
{
	return (struct program_image){
		.type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.name = "tried",
		.code = code,
		.count = count,
		.options = {.sz = sizeof(struct bpf_prog_load_opts)},
	};
}

static int map_with(u32 number)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_RDONLY_PROG);
	u32 key = 0;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "numbers", sizeof(key), sizeof(number), 1,
				&options);

	if (fd < 0)
		skip();
	assert_int_equal(bpf_map_update_elem(fd, &key, &number, BPF_ANY), 0);
	assert_int_equal(bpf_map_freeze(fd), 0);
	return fd;
}

static u32 result_of(int program)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	assert_int_equal(bpf_prog_test_run_opts(program, &options), 0);
	return options.retval;
}

static void count_call(void *calls)
{
	++*(u32 *)calls;
}

TEST(each_has_its_constants)
{
	u32 calls = 0;
	const struct meanwhile meanwhile = {.call = count_call, .arg = &calls};
	struct program_image image = image_of(first_constant, 4);
	struct program_load loads[LOADS];
	const struct program_load *failed;
	int shared = map_with(100);

	first_constant[0].imm = shared;
	for (u32 i = 0; i < LOADS; i++)
		loads[i] = (struct program_load){
			.image = &image,
			.constants = shared,
			.own_constants = i ? map_with(100 + i) : shared,
		};
	assert_int_equal(program_loads_run(loads, LOADS, &meanwhile, &failed), 0);
	assert_null(failed);
	assert_true(calls);
	for (u32 i = 0; i < LOADS; i++)
		assert_int_equal(result_of(loads[i].fd), 100 + i);
	for (u32 i = 0; i < LOADS; i++) {
		close(loads[i].fd);
		close(loads[i].own_constants);
	}
}

TEST(a_failure_leaves_no_program)
{
	struct program_image good = image_of(first_constant, 4), bad = image_of(refused, 2);
	struct program_load loads[LOADS];
	const struct meanwhile nothing = {};
	const struct program_load *failed;
	int constants = map_with(1), result;

	first_constant[0].imm = constants;
	for (u32 i = 0; i < LOADS; i++)
		loads[i] = (struct program_load){
			.image = i == LOADS / 2 ? &bad : &good,
			.constants = constants,
			.own_constants = constants,
		};
	result = program_loads_run(loads, LOADS, &nothing, &failed);
	assert_int_equal(result, -EACCES);
	assert_ptr_equal(failed, &loads[LOADS / 2]);
	for (u32 i = 0; i < LOADS; i++)
		assert_true(loads[i].fd < 0 || fcntl(loads[i].fd, F_GETFD) < 0);
	close(constants);
}
