/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "noreturn_name.h"

#include <string.h>

/* Functions of the C and C++ runtimes that never return. */
static const char *const noreturn_names[] = {
	"abort",
	"exit",
	"_exit",
	"_Exit",
	"quick_exit",
	"pthread_exit",
	"thrd_exit",
	"__stack_chk_fail",
	"__fortify_fail",
	"__chk_fail",
	"__assert_fail",
	"__assert",
	"__assert_perror_fail",
	"longjmp",
	"_longjmp",
	"siglongjmp",
	"__longjmp_chk",
	"err",
	"errx",
	"verr",
	"verrx",
	"__libc_start_main",
	"__libc_fatal",
	"__cxa_throw",
	"__cxa_rethrow",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_throw_bad_array_new_length",
	"__cxa_throw_bad_array_length",
	"__cxa_call_unexpected",
	"__cxa_call_terminate",
	"__cxa_pure_virtual",
	"__cxa_deleted_virtual",
	"_Unwind_Resume",
	"_ZSt9terminatev",
	"_ZSt10unexpectedv",
	"_ZSt17__throw_bad_allocv",
	"_ZSt16__throw_bad_castv",
	"_ZSt18__throw_bad_typeidv",
	"_ZSt19__throw_logic_errorPKc",
	"_ZSt20__throw_length_errorPKc",
	"_ZSt20__throw_out_of_rangePKc",
	"_ZSt24__throw_out_of_range_fmtPKcz",
	"_ZSt24__throw_invalid_argumentPKc",
	"_ZSt21__throw_runtime_errorPKc",
	"_ZSt19__throw_range_errorPKc",
	"_ZSt20__throw_domain_errorPKc",
	"_ZSt22__throw_overflow_errorPKc",
	"_ZSt23__throw_underflow_errorPKc",
	"_ZSt19__throw_ios_failurePKc",
	"_ZSt19__throw_ios_failurePKci",
	"_ZSt20__throw_system_errori",
	"_ZSt20__throw_future_errori",
	"_ZSt25__throw_bad_function_callv",
	"_ZSt21__throw_bad_exceptionv",
	"_ZSt28__throw_bad_array_new_lengthv",
	"_ZSt33__throw_bad_variant_accessPKc",
	"_ZSt21__glibcxx_assert_failPKciS0_S0_",
	"_ZSt29__throw_regex_errorNSt15regex_constants10error_typeE",
	"_ZSt29__throw_bad_optional_accessv",
};

bool noreturn_name(const char *name)
{
	for (unsigned int i = 0; i < sizeof(noreturn_names) / sizeof(noreturn_names[0]); i++)
		if (!strcmp(name, noreturn_names[i]))
			return true;
	return false;
}
