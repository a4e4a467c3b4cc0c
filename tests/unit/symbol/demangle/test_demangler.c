/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Long names of compilers are demangled in the sandbox. Malicious names that would take endless
 * time or memory come to an end, and the next name is demangled.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbol/demangle/demangler.h"
#include "unit_test.h"

/* Names of g++, rustc (both schemes) and gdc, and the output of c++filt. */
static const char *const vectors[][2] = {
	{"_ZN3foo3barEi", "foo::bar(int)"},
	{"_ZNSt6vectorISt4pairIiNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEESaIS7_EE9push_"
	 "backERKS7_",
	 "std::vector<std::pair<int, std::__cxx11::basic_string<char, std::char_traits<char>, "
	 "std::allocator<char> > >, std::allocator<std::pair<int, std::__cxx11::basic_string<char, "
	 "std::char_traits<char>, std::allocator<char> > > > >::push_back(std::pair<int, "
	 "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > > "
	 "const&)"},
	{"_ZN66_$LT$core..option..Option$LT$T$GT$$u20$as$u20$core..fmt..Debug$GT$"
	 "3fmt17h4cafbfd85c87e87cE",
	 "<core::option::Option<T> as core::fmt::Debug>::fmt"},
	{"_RINvYNtNtNtCsjrHSEGnQ3l9_3std4hash6random11RandomStateNtNtCsgEmfK2I1SDS_"
	 "4core4hash11BuildHasher8hash_oneRReECs4aeLWIHSniE_2tr",
	 "<std::hash::random::RandomState as core::hash::BuildHasher>::hash_one::<&&str>"},
	{"_D3std3uni__T10MultiArrayTSQzQx__T9BitPackedTkVmi8ZQrTSQCbQCa__TQBeTkVmi13ZQBpTSQDaQCz__"
	 "TQCdTbVmi1ZQCnZQDm__T7raw_ptrVmi0ZQnMNgFNaNbNdNiZPNgm",
	 "std.uni.MultiArray!(std.uni.BitPacked!(uint, 8uL).BitPacked, std.uni.BitPacked!(uint, "
	 "13uL).BitPacked, std.uni.BitPacked!(bool, 1uL).BitPacked).MultiArray.raw_ptr!(0uL)."
	 "raw_ptr() inout"},
};

#define VECTORS (sizeof(vectors) / sizeof(vectors[0]))

static struct demangler *demangler;

static void expect(const char *mangled, const char *plain)
{
	char *found = demangler_demangle_name(demangler, mangled);

	assert_non_null(found);
	assert_string_equal(found, plain);
	free(found);
}

static void expect_all(void)
{
	for (size_t i = 0; i < VECTORS; i++)
		expect(vectors[i][0], vectors[i][1]);
}

static int setup(void **state)
{
	(void)state;
	return demangler_create(&demangler);
}

static int teardown(void **state)
{
	(void)state;
	demangler_free(&demangler);
	assert_null(demangler);
	return 0;
}

TEST(long_names_are_demangled, setup, teardown)
{
	expect_all();
}

TEST(names_that_are_not_mangled_are_unchanged, setup, teardown)
{
	static const char *const names[] = {
		"main", "", "_",
		"_a_function_of_the_kernel_whose_name_is_longer_than_what_is_short",
		"a_function_of_the_kernel_whose_name_is_even_longer_than_what_is_called_short"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_null(demangler_demangle_name(demangler, names[i]));
	expect_all();
}

/* Makes the text before, piece, piece, ... , behind. */
static char *repeat(const char *before, const char *piece, size_t times, const char *behind)
{
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	fputs(before, out);
	for (size_t i = 0; i < times; i++)
		fputs(piece, out);
	fputs(behind, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void expect_an_end(const char *before, const char *piece, size_t times, const char *behind)
{
	char *name = repeat(before, piece, times, behind);

	free(demangler_demangle_name(demangler, name));
	free(name);
	expect_all();
}

TEST(nesting_without_end, setup, teardown)
{
	static const char *const begin[] = {"_Z1f", "_RNvC1a", "_D1f"};
	static const char *const pieces[] = {"I", "P", "F", "N"};

	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++)
		for (size_t j = 0; j < sizeof(pieces) / sizeof(pieces[0]); j++) {
			expect_an_end(begin[i], pieces[j], 1000, "i");
			expect_an_end(begin[i], pieces[j], 50000, "i");
			expect_an_end(begin[i], pieces[j], 1000000, "i");
		}
}

/* Each type contains the type before twice. */
TEST(names_that_grow_without_end, setup, teardown)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[512] = "_Z1f1A1BIS_S_E";

	for (size_t i = 1; i < 35; i++)
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "S0_IS%c_S%c_E",
			 digits[i], digits[i]);
	assert_null(demangler_demangle_name(demangler, name));
	expect_all();
}

/* Each piece doubles the number of ways to parse the name. */
TEST(work_without_end, setup, teardown)
{
	expect_an_end("_ZcvT_", "IT_", 150, "v");
	expect_an_end("_D1f", "VC1a", 100, "i");
	expect_an_end("_ZcvT_", "IT_", 19, "");
	expect_an_end("_D1f", "VC1a", 15, "");
}

/* _Z1fIJii...EEvDTspplT_spplT_...T_E: each expansion is repeated for all arguments of the expansion
 * before. */
TEST(expressions_that_are_expanded, setup, teardown)
{
	static const struct {
		int arguments, steps;
	} names[] = {{20, 3}, {20, 5}, {40, 9}, {100, 11}};
	char name[512];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		strcpy(name, "_Z1fIJ");
		for (int j = 0; j < names[i].arguments; j++)
			strcat(name, "i");
		strcat(name, "EEvDT");
		for (int j = 0; j < names[i].steps; j++)
			strcat(name, "spplT_");
		strcat(name, "T_E");
		free(demangler_demangle_name(demangler, name));
		expect_all();
	}
}

static void expect_failures(u64 count, const char *reason)
{
	struct demangle_failures failures = demangler_failures(demangler);

	assert_int_equal(failures.count, count);
	if (reason)
		assert_string_equal(failures.reason, reason);
}

/* The demangler does not try the name. */
TEST(a_name_that_is_too_long, setup, teardown)
{
	char *name = repeat("_ZN", "1a", 40000, "Ev");

	assert_null(demangler_demangle_name(demangler, name));
	expect_failures(1, "it takes too much memory to read");
	free(name);
}

/* Names that are not mangled, and names that are demangled, are no failures. */
TEST(failures_have_a_reason, setup, teardown)
{
	char *endless = repeat("_ZcvT_", "IT_", 150, "v"), *other = repeat("_Z", "9", 200, "");

	expect_all();
	assert_null(demangler_demangle_name(demangler, "main"));
	assert_null(demangler_demangle_name(demangler, other));
	expect_failures(0, NULL);
	assert_null(demangler_demangle_name(demangler, endless));
	assert_null(demangler_demangle_name(demangler, endless));
	expect_failures(2, "it takes too long to read");
	free(endless);
	free(other);
}

/* A child process has the limit, so the other tests run without a limit. */
TEST(without_descriptors_there_is_no_sandbox, setup, teardown)
{
	const struct rlimit none = {0, 0};
	char *name = repeat("_Z1f", "P", 900, "i");
	pid_t pid = fork();
	int status;

	if (!pid) {
		bool is_right = !setrlimit(RLIMIT_NOFILE, &none) &&
				!demangler_demangle_name(demangler, name) &&
				!strcmp(demangler_failures(demangler).reason, strerror(EMFILE));

		_exit(!is_right);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	free(name);
}

/* glibc refuses stacks of less than PTHREAD_STACK_MIN: 16 KiB on x86-64, 128 KiB on arm64. */
#define SMALL_STACK_BYTES (PTHREAD_STACK_MIN < (64 << 10) ? 64 << 10 : PTHREAD_STACK_MIN)

/* Names of each length up to what libiberty takes, nested as deep as they are long. */
static void *demangle_all(void *arg)
{
	static const char *const pieces[] = {"P", "N1a", "I", "F", "1aI"};

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		for (size_t bytes = 16; bytes < 1024; bytes += 16) {
			char *name = repeat("_Z1f", pieces[i], bytes / strlen(pieces[i]), "i");

			free(demangler_demangle_name(demangler, name));
			free(name);
		}
	*(char **)arg = repeat("_Z1f", "P", 900, "i");
	return demangler_demangle_name(demangler, *(char **)arg);
}

TEST(a_small_stack_suffices, setup, teardown)
{
	pthread_attr_t attributes;
	pthread_t thread;
	char *mangled;
	void *plain;

	assert_int_equal(pthread_attr_init(&attributes), 0);
	assert_int_equal(pthread_attr_setstacksize(&attributes, SMALL_STACK_BYTES), 0);
	assert_int_equal(pthread_create(&thread, &attributes, demangle_all, &mangled), 0);
	assert_int_equal(pthread_join(thread, &plain), 0);
	assert_non_null(plain);
	assert_int_equal(strlen(plain), strlen("f(int)") + 900);
	free(plain);
	free(mangled);
	pthread_attr_destroy(&attributes);
}

/* The expected names are those that c++filt and rustfilt print. */
static const struct {
	const char *mangled;
	const char *plain; /* NULL: not mangled */
} names_of_schemes[] = {
	/* C++ */
	{"_ZN3foo3barEi", "foo::bar(int)"},
	{"_ZNSt6vectorIiSaIiEE9push_backERKi",
	 "std::vector<int, std::allocator<int> >::push_back(int const&)"},
	{"_ZdlPv", "operator delete(void*)"},
	{"_ZN3fooC1Ev.cold", "foo::foo() [clone .cold]"},
	/* Rust, legacy: the hash is gone */
	{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
	{"_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Write$GT$9write_"
	 "str17h0123456789abcdefE",
	 "<alloc::string::String as core::fmt::Write>::write_str"},
	/* Rust, v0 */
	{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
	{"_RINvCsjrVPa4l567z_7mycrate3genhEB2_", "mycrate::gen::<u8>"},
	{"_RNvMs_Cs4Cv8Wi1oAIB_7mycrateNtB4_7Example3foo", "<mycrate::Example>::foo"},
	/* D */
	{"_D3std5stdio7writelnFAyaZv", "std.stdio.writeln(immutable(char)[])"},
	{"_D3std5stdio7writelnFAyaZv.part.0",
	 "std.stdio.writeln(immutable(char)[]) [clone .part.0]"},
	{"_D.part.0", NULL},
	/* stubs */
	{"_ZdlPv@plt", "operator delete(void*)@plt"},
	{"malloc@plt", NULL},
	/* not mangled, or damaged */
	{"main", NULL},
	{"", NULL},
	{"_", NULL},
	{"_Z", NULL},
	{"_R", NULL},
	{"_D", NULL},
	{"_init", NULL},
	{"_DYNAMIC", NULL},
	{"_ZN3foo", NULL},
	{"@plt", NULL},
	{"_@plt", NULL},
};

TEST(names_are_demangled)
{
	for (size_t i = 0; i < sizeof(names_of_schemes) / sizeof(*names_of_schemes); i++) {
		char *plain = demangle(names_of_schemes[i].mangled);

		if (names_of_schemes[i].plain) {
			assert_non_null(plain);
			assert_string_equal(plain, names_of_schemes[i].plain);
		} else {
			assert_null(plain);
		}
		free(plain);
	}
}
