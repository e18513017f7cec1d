/*
 * server: answers the requests of this machine for a site (report/serve/site.h), one after the
 * other, in one thread.
 *
 * It listens at 127.0.0.1 only. It never blocks on a connection: a slow, silent or broken one
 * delays no other, and is closed after a minute. There are at most 64 connections. One that has not
 * shown the token ten seconds after it began is closed, whatever it sends.
 */
#ifndef REPORT_SERVE_SERVER_H
#define REPORT_SERVE_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "report/serve/http.h"
#include "report/serve/site.h"

#define GP_SERVER_CONNECTIONS 64u

struct gp_server {
	struct gp_http http;
	struct MHD_Daemon *daemon;
	struct gp_site *site;
	struct gp_stranger {
		int fd;                     /* of the connection */
		uint64_t deadline_ns;       /* 0 = free */
	} strangers[GP_SERVER_CONNECTIONS]; /* connections that have not shown the token */
};

/*
 * Starts to listen. port 0 = any free one; site->door.port becomes the port, site->address the
 * address. SIGPIPE must be ignored. Returns 0, or -errno with the line for the user in message.
 * Call gp_server_close() in both cases.
 */
int gp_server_open(struct gp_server *server, struct gp_site *site, uint16_t port, char *message,
		   size_t message_bytes);

/* Answers requests until stop_fd is readable. Returns 0 or -errno. */
int gp_server_run(struct gp_server *server, int stop_fd);

void gp_server_close(struct gp_server *server);

#endif
