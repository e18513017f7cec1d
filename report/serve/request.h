/*
 * request: a browser's request, and the check of its permission.
 *
 * Every user of the machine can connect, and every page in the user's browser can send requests. So
 * a request needs the token, which only the printed address has. It must also name this host: a
 * page of another site whose name resolves to this machine (DNS rebinding) does not.
 */
#ifndef REPORT_SERVE_REQUEST_H
#define REPORT_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_REQUEST_ARGUMENTS 16u
#define GP_TOKEN_BYTES       33u /* 128 bits as hexadecimal digits, and a NUL */

/* The receiver of the request owns all texts. None is trusted. */
struct gp_request {
	const char *method, *path;
	const char *host; /* from the header; NULL = none */
	struct {
		const char *name, *value; /* decoded; a value is never NULL */
	} arguments[GP_REQUEST_ARGUMENTS];
	size_t argument_count;
	bool has_more; /* more arguments than fit */
	bool is_own;   /* the client runs as the same user as this process */
};

/* The only name of this server. */
#define GP_DOOR_HOST "127.0.0.1"

struct gp_door {
	uint16_t port; /* at which we listen */
	char token[GP_TOKEN_BYTES];
	/*
	 * A path that redirects a browser to the token, once. The address that starts a browser is
	 * in the list of processes, where every user of the machine can read it, so it works only
	 * for a request that is_own. "" = none.
	 */
	char once[GP_TOKEN_BYTES];
};

/* Makes a new token; with_once: and `once`. Returns 0 or -errno. */
int gp_door_lock(struct gp_door *door, bool with_once);

/*
 * Returns 0 if the request is allowed; else an HTTP status: 303 to the page with the token, which
 * uses up `once`; 403; 405.
 */
unsigned gp_door_refuses(struct gp_door *door, const struct gp_request *request);

/* Adds an argument. Returns false if there is no space. */
bool gp_request_add(struct gp_request *request, const char *name, const char *value);

/* The value of an argument, the first of several; NULL = not given. */
const char *gp_request_value(const struct gp_request *request, const char *name);

/*
 * Reads a number within bounds; leaves *number unchanged if the argument is not given. Returns 0,
 * or -EINVAL with the line for the user in message.
 */
int gp_request_number(const struct gp_request *request, const char *name, int64_t least,
		      int64_t most, int64_t *number, char *message, size_t message_bytes);

/* Reads a time: a whole number of ns, or a number with a unit ("100ms", "-1.5s"). */
int gp_request_time(const struct gp_request *request, const char *name, int64_t least_ns,
		    int64_t most_ns, int64_t *time_ns, char *message, size_t message_bytes);

#endif
