#include "report/serve/http.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

/* The version of microhttpd.h. */
#define LIBRARY "libmicrohttpd.so.12"

/* The first missing function; NULL = none. */
static const char *find_functions(struct gp_http *http)
{
	const struct {
		const char *name;
		void **function;
	} functions[] = {
		{"MHD_start_daemon", (void **)&http->start_daemon},
		{"MHD_stop_daemon", (void **)&http->stop_daemon},
		{"MHD_run", (void **)&http->run},
		{"MHD_get_timeout", (void **)&http->get_timeout},
		{"MHD_get_daemon_info", (void **)&http->get_daemon_info},
		{"MHD_get_connection_info", (void **)&http->get_connection_info},
		{"MHD_lookup_connection_value", (void **)&http->lookup_connection_value},
		{"MHD_get_connection_values", (void **)&http->get_connection_values},
		{"MHD_create_response_from_buffer", (void **)&http->create_response_from_buffer},
		{"MHD_create_response_from_fd64", (void **)&http->create_response_from_fd64},
		{"MHD_add_response_header", (void **)&http->add_response_header},
		{"MHD_queue_response", (void **)&http->queue_response},
		{"MHD_destroy_response", (void **)&http->destroy_response},
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		*functions[i].function = dlsym(http->handle, functions[i].name);
		if (!*functions[i].function)
			return functions[i].name;
	}
	return NULL;
}

int gp_http_load(struct gp_http *http, char *message, size_t message_bytes)
{
	const char *lacking;

	*http = (struct gp_http){.handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL)};
	if (!http->handle) {
		snprintf(
			message, message_bytes,
			"serve: libmicrohttpd is not installed (%s); install it (Debian, Ubuntu: apt-get install libmicrohttpd12; Fedora: dnf install libmicrohttpd), or write the page to a file: gpuprof html FILE",
			dlerror());
		return -ENOENT;
	}
	lacking = find_functions(http);
	if (!lacking)
		return 0;
	snprintf(
		message, message_bytes,
		"serve: " LIBRARY
		" of this machine has no %s; install a newer version, or write the page to a file: gpuprof html FILE",
		lacking);
	return -ENOENT;
}

void gp_http_unload(struct gp_http *http)
{
	if (http->handle)
		dlclose(http->handle);
	*http = (struct gp_http){0};
}
