/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libcurl is loaded when the first client is opened: linking it would load an HTTP and a TLS
 * library at each start of the command.
 *
 * libcurl repeats a request on a new connection if the kept connection turns out to be closed. If
 * the server had accepted the first request, rows would be stored twice. Therefore a read function
 * that cannot be rewound supplies the body, and libcurl never repeats a request that was begun.
 *
 * A proxy that the environment names is used for https only, where the proxy sees neither password
 * nor rows.
 */
#include "store/wire/http.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "error.h"
#include "server_url.h"

#define CONNECT_MS_MAX 10000
#define DATE_BYTES_MAX 64
/* Limit for the headers of an answer. Beyond it, libcurl has its own: 5,000 lines since 8.6. */
#define HEAD_BYTES_MAX (64U << 10)

static struct {
	__typeof__(&curl_easy_init) init;
	__typeof__(&curl_easy_reset) reset;
	__typeof__(&curl_easy_cleanup) cleanup;
	__typeof__(&curl_easy_setopt) set;
	__typeof__(&curl_easy_getinfo) info;
	__typeof__(&curl_easy_perform) perform;
	__typeof__(&curl_easy_strerror) strerror;
	__typeof__(&curl_slist_append) list_append;
	__typeof__(&curl_slist_free_all) list_free;
	__typeof__(&curl_mime_init) mime_init;
	__typeof__(&curl_mime_free) mime_free;
	__typeof__(&curl_mime_addpart) mime_add;
	__typeof__(&curl_mime_name) mime_name;
	__typeof__(&curl_mime_filename) mime_filename;
	__typeof__(&curl_mime_data) mime_data;
	__typeof__(&curl_getdate) date;
} library;

struct http {
	CURL *curl;
	char *base, *user, *password, *bearer, *ca_file;
	u32 timeout_ms;
	u64 sent, received;
	char why[CURL_ERROR_SIZE];
};

/* The state of one request. */
struct exchange {
	struct http *http;
	const struct http_request *request;
	struct http_answer *answer;
	size_t body_sent;
	size_t head_bytes; /* number of received header bytes */
	bool too_long;
	bool is_cut; /* true: the connection was closed because an error message was too long */
	struct curl_slist *headers;
	curl_mime *parts;
	char *url;
};

static void *load_libcurl_symbol(void *opened, const char *name, bool *missing)
{
	void *symbol = dlsym(opened, name);

	*missing |= !symbol;
	return symbol;
}

static bool load_libcurl(void)
{
	void *opened = library.init ? NULL : dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
	bool missing = false;

	if (library.init)
		return true;
	if (!opened)
		opened = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	if (!opened)
		return false;
	library.reset = load_libcurl_symbol(opened, "curl_easy_reset", &missing);
	library.cleanup = load_libcurl_symbol(opened, "curl_easy_cleanup", &missing);
	library.set = load_libcurl_symbol(opened, "curl_easy_setopt", &missing);
	library.info = load_libcurl_symbol(opened, "curl_easy_getinfo", &missing);
	library.perform = load_libcurl_symbol(opened, "curl_easy_perform", &missing);
	library.strerror = load_libcurl_symbol(opened, "curl_easy_strerror", &missing);
	library.list_append = load_libcurl_symbol(opened, "curl_slist_append", &missing);
	library.list_free = load_libcurl_symbol(opened, "curl_slist_free_all", &missing);
	library.mime_init = load_libcurl_symbol(opened, "curl_mime_init", &missing);
	library.mime_free = load_libcurl_symbol(opened, "curl_mime_free", &missing);
	library.mime_add = load_libcurl_symbol(opened, "curl_mime_addpart", &missing);
	library.mime_name = load_libcurl_symbol(opened, "curl_mime_name", &missing);
	library.mime_filename = load_libcurl_symbol(opened, "curl_mime_filename", &missing);
	library.mime_data = load_libcurl_symbol(opened, "curl_mime_data", &missing);
	library.date = load_libcurl_symbol(opened, "curl_getdate", &missing);
	if (!missing)
		library.init = load_libcurl_symbol(opened, "curl_easy_init", &missing);
	return library.init;
}

static bool copy_optional_text(char **copy, const char *text)
{
	*copy = text ? strdup(text) : NULL;
	return *copy || !text;
}

int http_refuse_cleartext_secrets(const struct http_options *options, struct stackmap_error *error)
{
	if ((!options->password && !options->bearer) || options->allows_cleartext ||
	    server_url_is_tls_or_loopback(options->base))
		return 0;
	return error_set(error, EINVAL,
			 "%s: everybody on the way would read the password or token: use https, or "
			 "--allow-cleartext if the network is trusted",
			 options->base);
}

int http_open(const struct http_options *options, struct http **out, struct stackmap_error *error)
{
	struct http *http;
	int err;

	if (strncmp(options->base, "http://", 7) && strncmp(options->base, "https://", 8))
		return error_set(error, EINVAL, "%s: neither http:// nor https://", options->base);
	if (options->user && strchr(options->user, ':'))
		return error_set(error, EINVAL, "a user's name may not have a colon");
	if (options->bearer && strpbrk(options->bearer, "\r\n"))
		return error_set(error, EINVAL, "a token is a single line");
	err = http_refuse_cleartext_secrets(options, error);
	if (err)
		return err;
	if (!load_libcurl())
		return error_set(error, ENOSYS,
				 "there is no libcurl: the package libcurl3-gnutls has it, or "
				 "libcurl3t64-gnutls");
	http = calloc(1, sizeof(*http));
	if (http)
		http->timeout_ms = options->timeout_ms;
	if (!http || !copy_optional_text(&http->base, options->base) ||
	    !copy_optional_text(&http->user, options->user) ||
	    !copy_optional_text(&http->password, options->password) ||
	    !copy_optional_text(&http->bearer, options->bearer) ||
	    !copy_optional_text(&http->ca_file, options->ca_file) ||
	    !(http->curl = library.init())) {
		http_close(&http);
		return error_set_errno(error, ENOMEM, options->base);
	}
	*out = http;
	return 0;
}

static void erase_secret(char **secret)
{
	if (*secret)
		explicit_bzero(*secret, strlen(*secret));
	free(*secret);
	*secret = NULL;
}

void http_close(struct http **http)
{
	if (!*http)
		return;
	if ((*http)->curl)
		library.cleanup((*http)->curl);
	erase_secret(&(*http)->password);
	erase_secret(&(*http)->bearer);
	free((*http)->base);
	free((*http)->user);
	free((*http)->ca_file);
	free(*http);
	*http = NULL;
}

static size_t receive_body(char *data, size_t size, size_t count, void *arg)
{
	struct exchange *exchange = arg;
	struct byte_buffer *body = &exchange->answer->body;
	size_t bytes = size * count;
	long status = 0;

	library.info(exchange->http->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200 || status >= 300) {
		size_t room = HTTP_COMPLAINT_BYTES - body->used;

		/* Stores the first bytes of an error message and ends the transfer, because the
		 * message may be endless. */
		byte_buffer_append(body, data, bytes < room ? bytes : room);
		exchange->is_cut = bytes > room;
		return body->failed || exchange->is_cut ? 0 : bytes;
	}
	exchange->too_long = bytes > exchange->request->most_bytes - body->used;
	if (exchange->too_long)
		return 0;
	byte_buffer_append(body, data, bytes);
	return body->failed ? 0 : bytes;
}

static size_t receive_header(char *data, size_t size, size_t count, void *arg)
{
	struct exchange *exchange = arg;
	size_t bytes = size * count;
	char text[DATE_BYTES_MAX];
	time_t date;

	exchange->head_bytes += bytes;
	if (exchange->head_bytes > HEAD_BYTES_MAX)
		return 0;
	if (bytes > 5 && bytes - 5 < sizeof(text) && !strncasecmp(data, "Date:", 5)) {
		memcpy(text, data + 5, bytes - 5);
		text[bytes - 5] = 0;
		date = library.date(text, NULL);
		exchange->answer->date = date > 0 ? (u64)date : 0;
	}
	return bytes;
}

static size_t copy_request_body_for_curl(char *data, size_t size, size_t count, void *arg)
{
	struct exchange *exchange = arg;
	size_t left = exchange->request->length - exchange->body_sent;
	size_t bytes = size * count < left ? size * count : left;

	memcpy(data, (const char *)exchange->request->body + exchange->body_sent, bytes);
	exchange->body_sent += bytes;
	return bytes;
}

static int refuse_to_resend_body(void *arg, curl_off_t offset, int origin)
{
	(void)arg, (void)offset, (void)origin;
	return CURL_SEEKFUNC_FAIL;
}

static void set_curl_connection_options(struct http *http)
{
	CURL *curl = http->curl;
	u32 connect = http->timeout_ms < CONNECT_MS_MAX ? http->timeout_ms : CONNECT_MS_MAX;

	library.reset(curl);
	http->why[0] = 0;
	library.set(curl, CURLOPT_ERRORBUFFER, http->why);
	library.set(curl, CURLOPT_NOSIGNAL, 1L);
	library.set(curl, CURLOPT_FOLLOWLOCATION, 0L);
	library.set(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	library.set(curl, CURLOPT_TIMEOUT_MS, (long)http->timeout_ms);
	library.set(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)connect);
	library.set(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	if (strncmp(http->base, "https:", 6))
		library.set(curl, CURLOPT_PROXY, "");
	library.set(curl, CURLOPT_SSL_VERIFYPEER, 1L);
	library.set(curl, CURLOPT_SSL_VERIFYHOST, 2L);
	library.set(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (http->ca_file)
		library.set(curl, CURLOPT_CAINFO, http->ca_file);
	if (!http->user)
		return;
	library.set(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
	library.set(curl, CURLOPT_USERNAME, http->user);
	library.set(curl, CURLOPT_PASSWORD, http->password ? http->password : "");
}

static bool add_header(struct exchange *exchange, const char *line)
{
	struct curl_slist *longer = library.list_append(exchange->headers, line);

	if (longer)
		exchange->headers = longer;
	return longer;
}

static bool add_form_parts(struct exchange *exchange)
{
	const struct http_request *request = exchange->request;
	bool added;

	exchange->parts = library.mime_init(exchange->http->curl);
	added = exchange->parts;
	for (u32 i = 0; added && i < request->part_count; i++) {
		const struct http_part *from = &request->parts[i];
		curl_mimepart *part = library.mime_add(exchange->parts);

		/* A part without a file name would count as a plain form field. */
		added = part && !library.mime_name(part, from->name) &&
			!library.mime_filename(part, from->name) &&
			!library.mime_data(part, from->bytes ? from->bytes : "", from->length);
	}
	library.set(exchange->http->curl, CURLOPT_MIMEPOST, exchange->parts);
	return added;
}

static bool add_request_body(struct exchange *exchange)
{
	CURL *curl = exchange->http->curl;

	if (exchange->request->part_count)
		return add_form_parts(exchange);
	if (!exchange->request->body)
		return true;
	library.set(curl, CURLOPT_POST, 1L);
	library.set(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)exchange->request->length);
	library.set(curl, CURLOPT_READFUNCTION, copy_request_body_for_curl);
	library.set(curl, CURLOPT_READDATA, exchange);
	library.set(curl, CURLOPT_SEEKFUNCTION, refuse_to_resend_body);
	return true;
}

static bool prepare_request(struct exchange *exchange)
{
	const char *const *headers = exchange->request->headers;
	struct http *http = exchange->http;
	bool added;
	char *line;

	set_curl_connection_options(http);
	if (asprintf(&exchange->url, "%s%s", http->base, exchange->request->target) < 0) {
		exchange->url = NULL;
		return false;
	}
	library.set(http->curl, CURLOPT_URL, exchange->url);
	library.set(http->curl, CURLOPT_WRITEFUNCTION, receive_body);
	library.set(http->curl, CURLOPT_WRITEDATA, exchange);
	library.set(http->curl, CURLOPT_HEADERFUNCTION, receive_header);
	library.set(http->curl, CURLOPT_HEADERDATA, exchange);
	/* "Expect:" disables the 100-continue handshake, which costs a round trip. */
	added = add_header(exchange, "Expect:");
	for (; added && headers && *headers; headers++)
		added = add_header(exchange, *headers);
	if (added && http->bearer) {
		if (asprintf(&line, "Authorization: Bearer %s", http->bearer) < 0)
			line = NULL;
		added = line && add_header(exchange, line);
		erase_secret(&line);
	}
	library.set(http->curl, CURLOPT_HTTPHEADER, exchange->headers);
	return added && add_request_body(exchange);
}

static void count_transferred_bytes(struct http *http)
{
	long head_out = 0, head_in = 0;
	curl_off_t body_out = 0, body_in = 0;

	library.info(http->curl, CURLINFO_REQUEST_SIZE, &head_out);
	library.info(http->curl, CURLINFO_SIZE_UPLOAD_T, &body_out);
	library.info(http->curl, CURLINFO_HEADER_SIZE, &head_in);
	library.info(http->curl, CURLINFO_SIZE_DOWNLOAD_T, &body_in);
	http->sent += (u64)head_out + (u64)body_out;
	http->received += (u64)head_in + (u64)body_in;
}

static int errno_of_curl_code(CURLcode code)
{
	switch (code) {
	case CURLE_OUT_OF_MEMORY:
		return ENOMEM;
	case CURLE_OPERATION_TIMEDOUT:
		return ETIMEDOUT;
	case CURLE_COULDNT_CONNECT:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return ECONNREFUSED;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return EPROTO;
	default:
		return EIO;
	}
}

static int check_http_transfer(struct exchange *exchange, CURLcode code,
			       struct stackmap_error *error)
{
	struct http *http = exchange->http;
	long status = 0;

	if (exchange->too_long)
		return error_set(error, EFBIG, "%s: the answer has more than %llu bytes",
				 http->base, (unsigned long long)exchange->request->most_bytes);
	if (exchange->head_bytes > HEAD_BYTES_MAX)
		return error_set(error, EFBIG, "%s: the answer has headers of more than %u bytes",
				 http->base, HEAD_BYTES_MAX);
	if (code != CURLE_OK && !exchange->is_cut)
		return error_set(error, errno_of_curl_code(code), "%s: %s", http->base,
				 http->why[0] ? http->why : library.strerror(code));
	library.info(http->curl, CURLINFO_RESPONSE_CODE, &status);
	exchange->answer->status = (u32)status;
	if (status >= 300 && status < 400)
		return error_set(error, EPROTO, "%s: it points to another server, which is refused",
				 http->base);
	return 0;
}

int http_send(struct http *http, const struct http_request *request, struct http_answer *answer,
	      struct stackmap_error *error)
{
	struct exchange exchange = {.http = http, .request = request, .answer = answer};
	CURLcode code;
	int err;

	*answer = (struct http_answer){0};
	if (prepare_request(&exchange)) {
		code = library.perform(http->curl);
		count_transferred_bytes(http);
		err = check_http_transfer(&exchange, code, error);
	} else {
		err = error_set_errno(error, ENOMEM, http->base);
	}
	library.reset(exchange.http->curl);
	library.list_free(exchange.headers);
	library.mime_free(exchange.parts);
	free(exchange.url);
	return err;
}

u64 http_bytes_sent(const struct http *http)
{
	return http->sent;
}

u64 http_bytes_received(const struct http *http)
{
	return http->received;
}
