/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Service names by rules, and without a rule. */
#include "agent/service_names.h"

#include <errno.h>
#include <string.h>

#include "unit_test.h"

#define ID "4f1ec5c4d1a3c1d0e21a1b8cf8f6c1f3a9b7c5d2e4f60718293a4b5c6d7e8f90"

static struct service_names *make(const char *const *rules, u32 count)
{
	struct service_names *names;
	struct stackmap_error error;

	assert_int_equal(service_names_create(rules, count, &names, &error), 0);
	return names;
}

TEST(the_cgroup_names_the_service)
{
	struct service_names *names = make(NULL, 0);

	assert_string_equal(service_names_of(names, "/system.slice/nginx.service", false).service,
			    "nginx");
	assert_string_equal(service_names_of(names, "/", false).service, SERVICE_OTHER);
	assert_string_equal(service_names_of(names, "", false).service, SERVICE_OTHER);
	assert_string_equal(service_names_of(names, "/x.service", false).version, "");
	service_names_free(&names);
	assert_null(names);
}

TEST(threads_of_the_kernel_are_its_own)
{
	struct service_names *names = make(NULL, 0);

	assert_string_equal(service_names_of(names, "/", true).service, SERVICE_KERNEL);
	assert_string_equal(service_names_of(names, "", true).service, SERVICE_KERNEL);
	assert_string_equal(service_names_of(names, "/system.slice/x.service", true).service, "x");
	service_names_free(&names);
}

TEST(the_first_rule_that_matches_wins)
{
	static const char *const rules[] = {
		"/system.slice/web-*=web:1.5",
		"*/docker-*=shop",
		"/system.slice/*=:2.0",
		"*/web-*=never",
	};
	struct service_names *names = make(rules, 4);
	struct task_service found;

	found = service_names_of(names, "/system.slice/web-7.service", false);
	assert_string_equal(found.service, "web");
	assert_string_equal(found.version, "1.5");
	found = service_names_of(names, "/system.slice/docker-" ID ".scope", false);
	assert_string_equal(found.service, "shop");
	assert_string_equal(found.version, "");
	found = service_names_of(names, "/system.slice/nginx.service", false);
	assert_string_equal(found.service, "nginx");
	assert_string_equal(found.version, "2.0");
	service_names_free(&names);
}

TEST(a_malformed_rule_is_refused)
{
	static const char *const wrong[] = {"web", "=web", "*=", "*=:", ""};

	for (u32 i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct service_names *names = (void *)1;
		struct stackmap_error error = {};

		assert_int_equal(service_names_create(&wrong[i], 1, &names, &error), -EINVAL);
		assert_ptr_equal(names, (void *)1);
		assert_non_null(strstr(error.message, "GLOB=NAME"));
	}
}
