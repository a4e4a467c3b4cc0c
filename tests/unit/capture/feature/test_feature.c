/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Probes of features give a result in each environment: with the test's privileges, without
 * privileges, and with a bpf(2) that is refused or missing. Each environment is a child process. No
 * probe may leave a file descriptor open.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/feature/feature.h"
#include "scalar.h"
#include "unit_test.h"

static int count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	while (directory && readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static bool is_feature_result_valid(const struct feature_result *result)
{
	return result->works ? !result->why[0] && !result->fix[0] : result->why[0] != '\0';
}

static int probe_all(struct feature_result *results)
{
	int before = count_descriptors();

	for (int feature = 0; feature < FEATURE_COUNT; feature++) {
		feature_probe(feature, &results[feature]);
		if (!is_feature_result_valid(&results[feature]))
			return 10 + feature;
	}
	return count_descriptors() == before ? 0 : 1;
}

/* Runs `world` in a child and returns its exit status. */
static int exit_status_of_call_in_child(int (*world)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(world());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int probe_features_with_own_rights(void)
{
	struct feature_result results[FEATURE_COUNT];

	return probe_all(results);
}

static bool drop_privileges(void)
{
	return geteuid() != 0 || setuid(65534) == 0;
}

static int probe_features_without_privileges(void)
{
	struct feature_result results[FEATURE_COUNT];
	int err = drop_privileges() ? probe_all(results) : 2;

	if (err)
		return err;
	if (results[FEATURE_PERF_EVENT].works || results[FEATURE_TRACEPOINT].works)
		return 3;
	return strstr(results[FEATURE_TRACEPOINT].fix, "run as root") ? 0 : 4;
}

/* From here on bpf(2) fails with this errno. */
static bool refuse_bpf(int err)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (u32)err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int probe_features_under_seccomp(void)
{
	struct feature_result results[FEATURE_COUNT];
	int err = refuse_bpf(EPERM) ? probe_all(results) : 2;
	const struct feature_result *bpf = &results[FEATURE_BPF];

	if (err)
		return err;
	if (bpf->works || !strstr(bpf->why, strerror(EPERM)))
		return 3;
	return strstr(bpf->fix, geteuid() == 0 ? "seccomp" : "run as root") ? 0 : 4;
}

static int probe_features_without_bpf(void)
{
	struct feature_result results[FEATURE_COUNT];
	int err = refuse_bpf(ENOSYS) ? probe_all(results) : 2;

	if (err)
		return err;
	return strstr(results[FEATURE_BPF].fix, "CONFIG_BPF_SYSCALL") ? 0 : 3;
}

TEST(probes_give_a_result_with_own_privileges)
{
	assert_int_equal(exit_status_of_call_in_child(probe_features_with_own_rights), 0);
}

TEST(probes_give_a_result_without_privileges)
{
	assert_int_equal(exit_status_of_call_in_child(probe_features_without_privileges), 0);
}

TEST(probes_give_a_result_under_seccomp)
{
	assert_int_equal(exit_status_of_call_in_child(probe_features_under_seccomp), 0);
}

TEST(probes_give_a_result_without_bpf)
{
	assert_int_equal(exit_status_of_call_in_child(probe_features_without_bpf), 0);
}

TEST(every_feature_has_a_name_and_a_purpose)
{
	for (int feature = 0; feature < FEATURE_COUNT; feature++) {
		assert_true(feature_name(feature)[0]);
		assert_true(feature_meaning(feature)[0]);
	}
}
