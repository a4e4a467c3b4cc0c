/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Vectors for each scheme; the expected names are those that c++filt and rustfilt print. */
#include <stdint.h>
#include <stdlib.h>

#include "symbol/demangle/demangle.h"
#include "unit_test.h"

static const struct {
	const char *mangled;
	const char *plain; /* NULL: not mangled */
} vectors[] = {
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
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		char *plain = demangle(vectors[i].mangled);

		if (vectors[i].plain) {
			assert_non_null(plain);
			assert_string_equal(plain, vectors[i].plain);
		} else {
			assert_null(plain);
		}
		free(plain);
	}
}
