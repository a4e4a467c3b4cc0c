// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * An addon of Node.js for programs that publish their spans: attach(ArrayBuffer) makes the buffer
 * the record of the calling thread (spans_published.c has the variable), and work(N) runs span_N()
 * or nothing_N(). The addon needs no headers of Node.js: the few functions of Node-API that it
 * calls are declared here.
 */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "spans_published.h"

typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_callback_info__ *napi_callback_info;
typedef napi_value (*napi_callback)(napi_env env, napi_callback_info info);

int napi_get_cb_info(napi_env env, napi_callback_info info, size_t *count, napi_value *arguments,
		     napi_value *object, void **data);
int napi_get_arraybuffer_info(napi_env env, napi_value buffer, void **data, size_t *bytes);
int napi_get_value_uint32(napi_env env, napi_value value, uint32_t *number);
int napi_create_function(napi_env env, const char *name, size_t length, napi_callback function,
			 void *data, napi_value *out);
int napi_set_named_property(napi_env env, napi_value object, const char *name, napi_value value);
napi_value napi_register_module_v1(napi_env env, napi_value exports);

#define TURNS 20000

static volatile unsigned int sink;

#define SPAN(name)                                                                                 \
	__attribute__((noinline, noclone)) static void name(void)                                  \
	{                                                                                          \
		for (unsigned int i = 0; i < TURNS; i++)                                           \
			sink += i;                                                                 \
		getppid();                                                                         \
		usleep(100);                                                                       \
	}

SPAN(span_1)
SPAN(span_2)
SPAN(span_3)
SPAN(nothing_4)
SPAN(nothing_5)

static void (*const bodies[])(void) = {span_1, span_2, span_3, nothing_4, nothing_5};

static napi_value argument_of(napi_env env, napi_callback_info info)
{
	napi_value argument = NULL;
	size_t count = 1;

	if (napi_get_cb_info(env, info, &count, &argument, NULL, NULL) || count != 1)
		abort();
	return argument;
}

static napi_value attach(napi_env env, napi_callback_info info)
{
	void *record;
	size_t bytes;

	if (napi_get_arraybuffer_info(env, argument_of(env, info), &record, &bytes) ||
	    bytes < sizeof(struct published))
		abort();
	publish(record);
	return NULL;
}

static napi_value work(napi_env env, napi_callback_info info)
{
	uint32_t number;

	if (napi_get_value_uint32(env, argument_of(env, info), &number) || !number || number > 5)
		abort();
	bodies[number - 1]();
	return NULL;
}

napi_value napi_register_module_v1(napi_env env, napi_value exports)
{
	napi_value function;

	if (napi_create_function(env, "attach", 6, attach, NULL, &function) ||
	    napi_set_named_property(env, exports, "attach", function) ||
	    napi_create_function(env, "work", 4, work, NULL, &function) ||
	    napi_set_named_property(env, exports, "work", function))
		return NULL;
	return exports;
}
