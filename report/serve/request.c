#include "report/serve/request.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "gpuprof/option.h"
#include "report/base/text/duration.h"

#define HTTP_PORT 80 /* browsers omit it in the Host header */

static int make_token(char token[GP_TOKEN_BYTES])
{
	uint8_t bytes[(GP_TOKEN_BYTES - 1) / 2];
	ssize_t length;

	do
		length = getrandom(bytes, sizeof(bytes), 0);
	while (length < 0 && errno == EINTR);
	if (length != sizeof(bytes))
		return length < 0 ? -errno : -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

int gp_door_lock(struct gp_door *door, bool with_once)
{
	int result = make_token(door->token);

	door->once[0] = '\0';
	return result == 0 && with_once ? make_token(door->once) : result;
}

/*
 * Not "localhost": browsers try ::1 first for it, where another user may listen, who would get the
 * token.
 */
static bool is_host(const struct gp_door *door, const char *host)
{
	char text[32];

	snprintf(text, sizeof(text), GP_DOOR_HOST ":%u", (unsigned)door->port);
	return strcmp(host, text) == 0 ||
	       (door->port == HTTP_PORT && strcmp(host, GP_DOOR_HOST) == 0);
}

/* Takes constant time, so that timing does not reveal a part of the token. */
static bool is_token(const char *token, const char *text)
{
	unsigned differs = 0;

	if (!text || strlen(text) != GP_TOKEN_BYTES - 1)
		return false;
	for (size_t i = 0; i < GP_TOKEN_BYTES - 1; i++)
		differs |= (unsigned char)text[i] ^ (unsigned char)token[i];
	return differs == 0;
}

static bool takes_once(struct gp_door *door, const struct gp_request *request)
{
	if (door->once[0] == '\0' || !request->is_own ||
	    !is_token(door->once, gp_request_value(request, "once")))
		return false;
	door->once[0] = '\0';
	return true;
}

unsigned gp_door_refuses(struct gp_door *door, const struct gp_request *request)
{
	if (!request->host || !is_host(door, request->host))
		return 403;
	if (takes_once(door, request))
		return 303;
	if (!is_token(door->token, gp_request_value(request, "token")))
		return 403;
	if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "HEAD") != 0)
		return 405;
	return 0;
}

bool gp_request_add(struct gp_request *request, const char *name, const char *value)
{
	if (request->argument_count == GP_REQUEST_ARGUMENTS) {
		request->has_more = true;
		return false;
	}
	request->arguments[request->argument_count].name = name;
	request->arguments[request->argument_count++].value = value;
	return true;
}

const char *gp_request_value(const struct gp_request *request, const char *name)
{
	for (size_t i = 0; i < request->argument_count; i++)
		if (strcmp(request->arguments[i].name, name) == 0)
			return request->arguments[i].value;
	return NULL;
}

static bool read_whole(const char *text, int64_t *number)
{
	bool is_negative = *text == '-';
	uint64_t digits;
	const char *end = gp_option_digits(text + is_negative, &digits);

	if (!end || *end != '\0' || digits > INT64_MAX)
		return false;
	*number = is_negative ? -(int64_t)digits : (int64_t)digits;
	return true;
}

static bool read_time(const char *text, int64_t *time_ns)
{
	bool is_negative = *text == '-';
	double ns;

	if (read_whole(text, time_ns))
		return true;
	if (!gp_duration_read(text + is_negative, &ns) || !(ns < 0x1p62))
		return false;
	*time_ns = is_negative ? -llround(ns) : llround(ns);
	return true;
}

/* Reads an argument within bounds. Returns 0 and leaves *value unchanged if it is not given. */
static int get_within(const struct gp_request *request, const char *name,
		      bool (*read)(const char *text, int64_t *value), int64_t least, int64_t most,
		      int64_t *value)
{
	const char *text = gp_request_value(request, name);
	int64_t found;

	if (!text)
		return 0;
	if (!read(text, &found) || found < least || found > most)
		return -EINVAL;
	*value = found;
	return 0;
}

int gp_request_number(const struct gp_request *request, const char *name, int64_t least,
		      int64_t most, int64_t *number, char *message, size_t message_bytes)
{
	int result = get_within(request, name, read_whole, least, most, number);

	if (result < 0)
		snprintf(message, message_bytes,
			 "%s needs a whole number from %" PRId64 " to %" PRId64 ", not %.60s", name,
			 least, most, gp_request_value(request, name));
	return result;
}

int gp_request_time(const struct gp_request *request, const char *name, int64_t least_ns,
		    int64_t most_ns, int64_t *time_ns, char *message, size_t message_bytes)
{
	int result = get_within(request, name, read_time, least_ns, most_ns, time_ns);

	if (result < 0)
		snprintf(message, message_bytes,
			 "%s needs a time such as 1.5s, 20ms, 300us or, in ns, 5000, from %" PRId64
			 " to %" PRId64 " ns, not %.60s",
			 name, least_ns, most_ns, gp_request_value(request, name));
	return result;
}
