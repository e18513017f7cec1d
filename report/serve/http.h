/*
 * http: loads libmicrohttpd, which speaks HTTP for `gpuprof serve`, when it is needed.
 *
 * It is not linked: distributions build it with TLS, which every command of gpuprof would need
 * then.
 */
#ifndef REPORT_SERVE_HTTP_H
#define REPORT_SERVE_HTTP_H

#include <microhttpd.h>
#include <stddef.h>

/* Its functions, named without MHD_. */
struct gp_http {
	void *handle;
	__typeof__(&MHD_start_daemon) start_daemon;
	__typeof__(&MHD_stop_daemon) stop_daemon;
	__typeof__(&MHD_run) run;
	__typeof__(&MHD_get_timeout) get_timeout;
	__typeof__(&MHD_get_daemon_info) get_daemon_info;
	__typeof__(&MHD_get_connection_info) get_connection_info;
	__typeof__(&MHD_lookup_connection_value) lookup_connection_value;
	__typeof__(&MHD_get_connection_values) get_connection_values;
	__typeof__(&MHD_create_response_from_buffer) create_response_from_buffer;
	__typeof__(&MHD_create_response_from_fd64) create_response_from_fd64;
	__typeof__(&MHD_add_response_header) add_response_header;
	__typeof__(&MHD_queue_response) queue_response;
	__typeof__(&MHD_destroy_response) destroy_response;
};

/*
 * Returns 0, or -ENOENT with the line for the user in message. Call gp_http_unload() in both cases.
 */
int gp_http_load(struct gp_http *http, char *message, size_t message_bytes);
void gp_http_unload(struct gp_http *http);

#endif
