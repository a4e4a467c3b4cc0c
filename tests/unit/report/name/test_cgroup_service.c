/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Paths of cgroups as systemd, container runtimes and users make them, and the service of each
 * path. */
#include "report/name/cgroup_service.h"

#include <stdint.h>
#include <string.h>

#include "unit_test.h"

#define ID "4f1ec5c4d1a3c1d0e21a1b8cf8f6c1f3a9b7c5d2e4f60718293a4b5c6d7e8f90"
#define OTHER_ID "aaaaaaaaaaaac1d0e21a1b8cf8f6c1f3a9b7c5d2e4f60718293a4b5c6d7e8f90"
#define USER "/user.slice/user-1000.slice/user@1000.service"

struct named {
	const char *cgroup, *service;
};

static void assert_service_names_of_cgroups(const struct named *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char name[CGROUP_SERVICE_BYTES] = "";

		assert_true(cgroup_service_name(cases[i].cgroup, name));
		assert_string_equal(name, cases[i].service);
	}
}

#define EXPECT(...)                                                                                \
	do {                                                                                       \
		static const struct named cases_[] = {__VA_ARGS__};                                \
		assert_service_names_of_cgroups(cases_, sizeof(cases_) / sizeof(*cases_));         \
	} while (0)

TEST(cgroups_of_the_machine_have_services)
{
	EXPECT({"/system.slice/nginx.service", "nginx"},
	       {"/system.slice/nginx.service/worker", "nginx"},
	       {"/system.slice/system-getty.slice/getty@tty1.service", "getty"},
	       {"/system.slice/postgresql@15-main.service", "postgresql"},
	       {"/system.slice/my\\x2dtool.service", "my-tool"},
	       {"/system.slice/run-u17.service", "run"}, {"/init.scope", "init"},
	       {"/system.slice", "system"}, {"/app-firefox-123.scope", "app-firefox"},
	       {"/batch", "batch"}, {"/batch/night", "night"}, {"/@", "@"});
}

TEST(containers_are_their_id)
{
	EXPECT({"/system.slice/docker-" ID ".scope", "4f1ec5c4d1a3"},
	       {"/docker/" ID, "4f1ec5c4d1a3"},
	       {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod7.slice/"
		"cri-containerd-" ID ".scope",
		"4f1ec5c4d1a3"},
	       {"/kubepods/burstable/pod12ab/" ID, "4f1ec5c4d1a3"},
	       {"/machine.slice/libpod-" ID ".scope/container", "4f1ec5c4d1a3"},
	       {"/machine.slice/machine-web.scope", "machine-web"}, {"/lxc.payload.web", "web"});
}

TEST(a_unit_of_a_user_belongs_to_the_user)
{
	EXPECT({"/user.slice/user-1000.slice/session-3.scope", "user-1000"}, {USER, "user-1000"},
	       {"/user.slice/user-1000.slice/nginx.service", "user-1000/nginx"},
	       {USER "/app.slice/nginx.service", "user-1000/nginx"},
	       {"/nested" USER "/app.slice/nginx.service", "user-1000/nginx"},
	       {"/user@1000.service/nginx.service", "user-1000/nginx"},
	       {USER "/app.slice/app-firefox-123.scope", "user-1000/app-firefox"},
	       {USER "/init.scope", "user-1000/init"},
	       {USER "/user.slice/docker-" ID ".scope", "user-1000/4f1ec5c4d1a3"},
	       {USER "/kubepods/burstable/pod12ab/" ID "/x.service", "user-1000/x"},
	       {USER "/app.slice/user-0.slice/user@0.service", "user-1000"},
	       {USER "/kernel", "user-1000"}, {USER "/other.service", "user-1000/other"});
}

TEST(cgroups_in_a_container_or_service_belong_to_it)
{
	EXPECT({"/docker/" ID "/system.slice/nginx.service", "4f1ec5c4d1a3/nginx"},
	       {"/docker/" ID "/docker/" OTHER_ID, "4f1ec5c4d1a3/aaaaaaaaaaaa"},
	       {"/machine.slice/machine-web.scope/system.slice/nginx.service", "machine-web/nginx"},
	       {"/lxc.payload.web/system.slice/nginx.service", "web/nginx"},
	       {"/system.slice/jobs.service/nginx.service", "jobs/nginx"},
	       {"/system.slice/jobs.service/docker-" ID ".scope", "jobs/4f1ec5c4d1a3"});
}

/* A user could give a cgroup a name that ends a line, or that names another owner. */
TEST(odd_characters_are_harmless)
{
	EXPECT({USER "/a\tb\x1b[1m.service", "user-1000/a?b?[1m"},
	       {USER "/a\\x0ab.service", "user-1000/a\\x0ab"},
	       {USER "/..\\x2fnginx.service", "user-1000/..\\x2fnginx"},
	       {USER "/\\x00.service", "user-1000/\\x00"}, {USER "/.service", "user-1000"},
	       {"/user.slice/user-.slice/x", "x"}, {"/user.slice/user-1x.slice", "user-1x"});
}

TEST(the_root_and_sessions_have_no_service)
{
	static const char *const none[] = {"", "/", "//", "/session-1.scope"};
	char name[CGROUP_SERVICE_BYTES];

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_false(cgroup_service_name(none[i], name));
}

TEST(long_names_are_cut)
{
	char path[600] = USER "/", name[CGROUP_SERVICE_BYTES];
	size_t begin = strlen(path);

	memset(path + begin, 'x', 500 - begin);
	memcpy(path + 500, ".service", sizeof(".service"));
	assert_true(cgroup_service_name(path, name));
	assert_int_equal(strlen(name), CGROUP_SERVICE_BYTES - 1);
	assert_memory_equal(name, "user-1000/xxx", 13);
}
