#include "report/serve/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "report/base/monotonic.h"

#define SILENCE_S    60u /* idle connections are closed after that */
#define MOST_WAIT_MS 1000
#define STRANGER_NS  UINT64_C(10000000000)

/* ---- clients ---- */

/* Whether a row of /proc/net/tcp is the other end of our connection; *user is its owner. */
static bool is_other_end(const char *row, uint16_t client_port, uint16_t port, uid_t *user)
{
	unsigned from, to, local, remote, number;

	if (sscanf(row, " %*u: %x:%x %x:%x %*x %*x:%*x %*x:%*x %*x %u", &local, &from, &remote, &to,
		   &number) != 5)
		return false;
	*user = number;
	return local == htonl(INADDR_LOOPBACK) && remote == local && from == client_port &&
	       to == port;
}

static bool is_own(const struct gp_server *server, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		server->http.get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	FILE *table = info ? fopen("/proc/net/tcp", "re") : NULL;
	uid_t user = 0;
	bool found = false;
	char row[256];
	uint16_t port;

	if (!table)
		return false;
	port = ntohs(((const struct sockaddr_in *)(const void *)info->client_addr)->sin_port);
	while (!found && fgets(row, sizeof(row), table))
		found = is_other_end(row, port, server->site->door.port, &user);
	fclose(table);
	return found && user == geteuid();
}

/* ---- strangers ---- */

static int descriptor_of(const struct gp_server *server, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		server->http.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static void forget_stranger(struct gp_server *server, int fd)
{
	for (size_t i = 0; i < GP_SERVER_CONNECTIONS; i++)
		if (server->strangers[i].fd == fd)
			server->strangers[i].deadline_ns = 0;
}

static void note_connection(void *context, struct MHD_Connection *connection, void **state,
			    enum MHD_ConnectionNotificationCode code)
{
	struct gp_server *server = context;
	int fd = descriptor_of(server, connection);
	size_t at = 0;

	(void)state;
	forget_stranger(server, fd);
	if (code != MHD_CONNECTION_NOTIFY_STARTED)
		return;
	while (at < GP_SERVER_CONNECTIONS && server->strangers[at].deadline_ns > 0)
		at++;
	if (at < GP_SERVER_CONNECTIONS)
		server->strangers[at] = (struct gp_stranger){fd, gp_monotonic_ns() + STRANGER_NS};
}

/* The library closes what was shut down. */
static void end_strangers(struct gp_server *server)
{
	uint64_t now_ns = gp_monotonic_ns();

	for (size_t i = 0; i < GP_SERVER_CONNECTIONS; i++) {
		struct gp_stranger *stranger = &server->strangers[i];

		if (stranger->deadline_ns == 0 || stranger->deadline_ns > now_ns)
			continue;
		stranger->deadline_ns = 0;
		shutdown(stranger->fd, SHUT_RDWR);
	}
}

/* ---- answers ---- */

static enum MHD_Result take_argument(void *context, enum MHD_ValueKind kind, const char *name,
				     const char *value)
{
	(void)kind;
	return gp_request_add(context, name, value ? value : "") ? MHD_YES : MHD_NO;
}

static void add_headers(const struct gp_http *http, struct MHD_Response *response,
			const struct gp_http_answer *answer)
{
	static const struct {
		const char *name, *value;
	} all[] = {
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		/* the page has another policy of its own */
		{"Content-Security-Policy", "frame-ancestors 'none'"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		http->add_response_header(response, all[i].name, all[i].value);
	http->add_response_header(response, "Content-Type", answer->type);
	if (answer->header)
		http->add_response_header(response, answer->header, answer->value);
}

static enum MHD_Result answer_request(void *context, struct MHD_Connection *connection,
				      const char *path, const char *method, const char *version,
				      const char *upload, size_t *upload_bytes, void **state)
{
	struct gp_server *server = context;
	const struct gp_http *http = &server->http;
	struct gp_request request = {
		.method = method,
		.path = path,
		.host = http->lookup_connection_value(connection, MHD_HEADER_KIND, "Host")};
	struct MHD_Response *response;
	struct gp_http_answer answer;
	enum MHD_Result result;

	request.is_own = server->site->door.once[0] != '\0' && is_own(server, connection);
	(void)version, (void)upload, (void)upload_bytes, (void)state;
	http->get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_argument, &request);
	gp_site_answer(server->site, &request, &answer);
	if (answer.status < 300)
		forget_stranger(server, descriptor_of(server, connection));
	response = answer.fd >= 0 ? http->create_response_from_fd64(answer.bytes, answer.fd)
				  : http->create_response_from_buffer(answer.bytes, answer.text,
								      MHD_RESPMEM_MUST_COPY);
	if (!response) {
		if (answer.fd >= 0)
			close(answer.fd);
		return MHD_NO;
	}
	add_headers(http, response, &answer);
	result = http->queue_response(connection, answer.status, response);
	http->destroy_response(response);
	return result;
}

/* ---- the server ---- */

/*
 * Opens a socket that listens on the loopback address. *port: 0 or the port; becomes the actual
 * one.
 */
static int listen_at(uint16_t *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(*port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error;
	const int on = 1;

	if (fd < 0)
		return -errno;
	/* makes the port of a server that has just ended usable */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(fd, GP_SERVER_CONNECTIONS) == 0 &&
	    getsockname(fd, (struct sockaddr *)&address, &length) == 0) {
		*port = ntohs(address.sin_port);
		return fd;
	}
	error = errno;
	close(fd);
	return -error;
}

int gp_server_open(struct gp_server *server, struct gp_site *site, uint16_t port, char *message,
		   size_t message_bytes)
{
	int result, fd;

	*server = (struct gp_server){.site = site};
	result = gp_http_load(&server->http, message, message_bytes);
	if (result < 0)
		return result;
	fd = listen_at(&port);
	if (fd < 0) {
		snprintf(message, message_bytes, "serve: cannot listen at 127.0.0.1:%u: %s%s",
			 (unsigned)port, strerror(-fd),
			 port > 0 ? "; leave out --port to use a free port" : "");
		return fd;
	}
	site->door.port = port;
	server->daemon = server->http.start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, answer_request, server, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, GP_SERVER_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
		SILENCE_S, MHD_OPTION_NOTIFY_CONNECTION, note_connection, server,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
	if (server->daemon) {
		snprintf(site->address, sizeof(site->address), "http://127.0.0.1:%u/?token=%s",
			 (unsigned)port, site->door.token);
		return 0;
	}
	close(fd);
	snprintf(
		message, message_bytes,
		"serve: libmicrohttpd cannot serve here; write the page to a file: gpuprof html FILE");
	return -EIO;
}

/*
 * How long poll() may wait. After the limit of connections is reached, the library listens again
 * only when it runs once more.
 */
static int wait_of(const struct gp_server *server)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;

	if (server->http.get_timeout(server->daemon, &wait_ms) != MHD_YES)
		return MOST_WAIT_MS;
	return wait_ms < MOST_WAIT_MS ? (int)wait_ms : MOST_WAIT_MS;
}

int gp_server_run(struct gp_server *server, int stop_fd)
{
	const union MHD_DaemonInfo *info =
		server->http.get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd fds[] = {{.fd = stop_fd, .events = POLLIN},
			       {.fd = info ? info->epoll_fd : -1, .events = POLLIN}};

	for (;;) {
		if (poll(fds, 2, wait_of(server)) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents)
			return 0;
		server->http.run(server->daemon);
		end_strangers(server);
	}
}

void gp_server_close(struct gp_server *server)
{
	if (server->daemon)
		server->http.stop_daemon(server->daemon);
	gp_http_unload(&server->http);
	*server = (struct gp_server){0};
}
