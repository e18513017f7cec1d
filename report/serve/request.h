/*
 * request: what a browser asks for, and who is let in.
 *
 * Anybody on the machine can connect, and any page in the user's browser can send requests here.
 * So a request has to know the token, which only the address has that was printed; and to name us
 * as the host, which a page of another site that makes its name lead to this machine (DNS
 * rebinding) does not.
 */
#ifndef REPORT_SERVE_REQUEST_H
#define REPORT_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_REQUEST_ARGUMENTS 16u
#define GP_TOKEN_BYTES       33u /* 128 bits as hexadecimal digits, and a 0 */

/* All texts belong to whoever received the request; none is trusted. */
struct gp_request {
	const char *method, *path;
	const char *host; /* of the header; NULL = none */
	struct {
		const char *name, *value; /* decoded; a value is never NULL */
	} arguments[GP_REQUEST_ARGUMENTS];
	size_t argument_count;
	bool has_more; /* arguments, for which there is no room */
	bool is_own;   /* who asks is the user whose process this is */
};

struct gp_door {
	uint16_t port; /* at which we listen */
	char token[GP_TOKEN_BYTES];
	/*
	 * Takes a browser to the token, one time: the address that a browser is started with is in
	 * the list of processes, where everybody on the machine reads it, and may be first: so only
	 * for a request that is_own.  Empty = there is none.
	 */
	char once[GP_TOKEN_BYTES];
};

/* A new token, from the kernel; with_once: and a way to it.  Returns 0 or -errno. */
int gp_door_lock(struct gp_door *door, bool with_once);

/*
 * 0: it may come in.  Else the status of HTTP that it gets: 303, to the page with the token, which
 * takes once away; 403; 405.
 */
unsigned gp_door_refuses(struct gp_door *door, const struct gp_request *request);

/* Room for one more: false where there is none. */
bool gp_request_add(struct gp_request *request, const char *name, const char *value);

/* The value of an argument, of several the first; NULL: it was not given. */
const char *gp_request_value(const struct gp_request *request, const char *name);

/*
 * The number of an argument, within the bounds; as it was, where the argument was not given.  0, or
 * -EINVAL and the line for the user in message, which names the value.
 */
int gp_request_number(const struct gp_request *request, const char *name, int64_t least,
		      int64_t most, int64_t *number, char *message, size_t message_bytes);

/* The same of a time: a whole number of ns, or with a unit ("100ms", "-1.5s"). */
int gp_request_time(const struct gp_request *request, const char *name, int64_t least_ns,
		    int64_t most_ns, int64_t *time_ns, char *message, size_t message_bytes);

#endif
