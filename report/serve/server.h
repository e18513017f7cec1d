/*
 * server: answers requests of this machine for a site (report/serve/site.h), one after the other,
 * in the thread that runs it.
 *
 * It listens at 127.0.0.1 alone.  Connections are never waited for: one that is slow, silent or cut
 * delays no other, and gives its place up after a minute.  There are 64 places.
 */
#ifndef REPORT_SERVE_SERVER_H
#define REPORT_SERVE_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "report/serve/http.h"
#include "report/serve/site.h"

struct gp_server {
	struct gp_http http;
	struct MHD_Daemon *daemon;
	struct gp_site *site;
};

/*
 * Listen; port 0 = any that is free, site->door.port says which it is, site->address where.
 * SIGPIPE has to be ignored.  Returns 0, or -errno and the line for the user in message;
 * gp_server_close() in either case.
 */
int gp_server_open(struct gp_server *server, struct gp_site *site, uint16_t port, char *message,
		   size_t message_bytes);

/* Answer until stop_fd can be read.  Returns 0 or -errno. */
int gp_server_run(struct gp_server *server, int stop_fd);

void gp_server_close(struct gp_server *server);

#endif
