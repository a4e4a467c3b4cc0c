/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The facts that a bug report needs: the sources and tools from which this program was built, and
 * by which methods a recording works on this kernel. The recorder chooses the methods by the same
 * code.
 */
#include "command.h"

#include <bpf/libbpf.h>
#include <string.h>
#include <sys/utsname.h>

#include "capture/feature/feature.h"
#include "capture/feature/task_work.h"
#include "capture/load/pid_namespace.h"
#include "capture/source/source.h"
#include "format/printable.h"
#include "privilege/capability.h"
#include "product_version.h"
#include "recording/session_face.h"
#include "terminal/message.h"
#include "version_commit.h"

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

#define KERNEL_FUNCTIONS_MANY 1000

static void print_name_and_value(const char *what, const char *value)
{
	printf("%-18s ", what);
	printable_put(value, stdout);
	putchar('\n');
}

static const char *describe_user_stack_method(enum user_way way)
{
	if (way == USER_WAY_DEFERRED)
		return task_work_form() == TASK_WORK_AUX
			       ? "deferred: in the kernel, by bpf_task_work_schedule_resume_impl()"
			       : "deferred: in the kernel, by bpf_task_work_schedule_resume()";
	return way == USER_WAY_ASSISTED
		       ? "assisted: by the recorder, from registers and a copy of the stack"
		       : "frame pointers";
}

static const char *describe_kernel_attach_methods(struct kernel_attach_methods ways)
{
	if (ways.multi)
		return "one link (kprobe multi)";
	if (ways.entry)
		return ways.probe ? "fentry, or a kprobe" : "fentry";
	return ways.probe ? "a kprobe each" : "none";
}

static void print_recording_methods(void)
{
	struct source_list sources = {};
	struct stackmap_error error;
	int result;
	struct stackmap_error why = {};
	enum user_way way;
	struct pid_namespace_id pids = {};
	struct stackmap_error fault;

	if (pid_namespace_find(&pids, &fault))
		print_name_and_value("PID namespace:", fault.message);
	else if (pids.level)
		printf("%-18s %u inside the initial one\n", "PID namespace:", pids.level);
	else
		print_name_and_value("PID namespace:", "the initial one");
	result = source_list_add_sample(&sources, 1, &error);
	print_name_and_value("CPU samples:", result ? error.message : sources.sources[0].name);
	source_list_clear(&sources);
	print_name_and_value("tracepoints:", attach_has_tracepoint_cookies()
						     ? "one program for many, by cookies"
						     : "a program each");
	print_name_and_value("user functions:", attach_has_uprobe_multi()
							? "one link for many (uprobe multi)"
							: "a uprobe each");
	print_name_and_value("kernel functions:", describe_kernel_attach_methods(
							  attach_methods_for_kernel_functions(1)));
	print_name_and_value("  many at once:",
			     describe_kernel_attach_methods(
				     attach_methods_for_kernel_functions(KERNEL_FUNCTIONS_MANY)));
	/* Called last, because the try gives up privileges. */
	if (try_recording_of_whole_machine(&way, &why)) {
		print_name_and_value("recording:", why.message);
		return;
	}
	print_name_and_value("user stacks:", describe_user_stack_method(way));
	if (why.message[0])
		print_name_and_value("  no better way:", why.message);
}

int version_print(int count, char *const *words)
{
	bool verbose = count == 1 && !strcmp(words[0], "--verbose");
	struct utsname system;

	if (count && !verbose) {
		message("--version: nothing but --verbose can follow");
		return EXIT_USAGE;
	}
	printf("stackmap %s\n", STACKMAP_VERSION);
	if (!verbose)
		return EXIT_DONE;
	print_name_and_value("commit:", COMMIT[0] ? COMMIT : "none: not built in a git work tree");
	print_name_and_value("compiler:", COMPILER);
	print_name_and_value("BPF compiler:", BPF_COMPILER);
	printf("%-18s %d.%d compiled against, %s running\n", "libbpf:", LIBBPF_MAJOR_VERSION,
	       LIBBPF_MINOR_VERSION, libbpf_version_string());
	if (!uname(&system))
		printf("%-18s %s %s, %s\n", "kernel:", system.sysname, system.release,
		       system.machine);
	if (capability_allows_loading_programs())
		print_recording_methods();
	else
		print_name_and_value("ways:", "they cannot be tried; run this as root");
	return EXIT_DONE;
}
