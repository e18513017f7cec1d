#include "report/serve/site.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/serve/endpoints.h"
#include "report/serve/spans.h"

#define PARAMETERS 5

struct endpoint {
	const char *path, *type;
	int (*write)(const struct gp_call_of_endpoint *call, FILE *out);
	const char *help;
	/* without parameters the answer is slow to make and never changes, so it is cached */
	bool is_kept;
	const char *parameters[PARAMETERS];
};

#define JSON "application/json"

static const struct endpoint endpoints[] = {
	{"/", "text/html; charset=utf-8", gp_endpoint_page, "the page of gpuprof html", true, {0}},
	{"/api/summary",
	 JSON,
	 gp_endpoint_summary,
	 "summary --format json",
	 false,
	 {"by", "top", "sort", "names"}},
	{"/api/kernels",
	 JSON,
	 gp_endpoint_kernels,
	 "summary --by kernel --format json",
	 false,
	 {"top", "sort", "names"}},
	{"/api/advice", JSON, gp_endpoint_advice, "advice --format json", true, {0}},
	{"/api/flame", JSON, gp_endpoint_flame, "export --format speedscope", false, {"value"}},
	{"/api/memory", JSON, gp_endpoint_memory, "summary --memory --format json", false, {"top"}},
	{"/api/holistic",
	 JSON,
	 gp_endpoint_holistic,
	 "summary --by time,idle,kind,kernel --format json",
	 false,
	 {"top", "sort", "names"}},
	{"/api/compile",
	 JSON,
	 gp_endpoint_compile,
	 "summary --by module,tuning --format json",
	 false,
	 {"top", "sort", "names"}},
	{"/api/timeline",
	 JSON,
	 gp_endpoint_timeline,
	 "events in a time window, by thread and stream",
	 false,
	 {"from", "to", "least", "limit"}},
	{"/trace",
	 "application/octet-stream",
	 gp_endpoint_trace,
	 "export --format perfetto",
	 true,
	 {"from", "to", "least"}},
};

#define ENDPOINTS (sizeof(endpoints) / sizeof(endpoints[0]))
_Static_assert(ENDPOINTS == GP_SITE_ENDPOINTS, "each may be cached");

int gp_site_open(struct gp_site *site)
{
	return gp_door_lock(&site->door, site->has_once);
}

void gp_site_close(struct gp_site *site)
{
	for (size_t i = 0; i < ENDPOINTS; i++)
		if (site->kept[i] > 0)
			close(site->kept[i]);
	gp_spans_free(site->spans);
	*site = (struct gp_site){0};
}

void gp_site_list(FILE *out)
{
	for (size_t i = 0; i < ENDPOINTS; i++) {
		fprintf(out, "  %-14s  %s", endpoints[i].path, endpoints[i].help);
		for (size_t p = 0; p < PARAMETERS && endpoints[i].parameters[p]; p++)
			fprintf(out, "%s %s", p > 0 ? "," : ";", endpoints[i].parameters[p]);
		fputc('\n', out);
	}
}

/* ---- answers ---- */

__attribute__((format(printf, 3, 4))) static void say(struct gp_http_answer *answer,
						      unsigned status, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(answer->text, sizeof(answer->text) - 1, format, list);
	va_end(list);
	strcat(answer->text, "\n");
	answer->status = status;
	answer->type = "text/plain; charset=utf-8";
	answer->bytes = strlen(answer->text);
	answer->fd = -1;
}

static bool takes(const struct endpoint *endpoint, const char *name)
{
	if (strcmp(name, "token") == 0)
		return true;
	for (size_t i = 0; i < PARAMETERS && endpoint->parameters[i]; i++)
		if (strcmp(endpoint->parameters[i], name) == 0)
			return true;
	return false;
}

/* Refuses unknown arguments: a mistyped one would otherwise be ignored. */
static bool check_arguments(const struct endpoint *endpoint, const struct gp_request *request,
			    struct gp_http_answer *answer)
{
	if (request->has_more) {
		say(answer, 400, "too many parameters");
		return false;
	}
	for (size_t i = 0; i < request->argument_count; i++)
		if (!takes(endpoint, request->arguments[i].name)) {
			say(answer, 400, "%s has no parameter %.100s", endpoint->path,
			    request->arguments[i].name);
			return false;
		}
	return true;
}

static int duplicate(int fd)
{
	int new = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return new < 0 ? -errno : new;
}

/* Writes the endpoint's answer to an unnamed file. Returns its descriptor or -errno. */
static int make_content(const struct endpoint *endpoint, const struct gp_call_of_endpoint *call)
{
	FILE *out = tmpfile();
	int result = out ? endpoint->write(call, out) : -errno;

	if (result == 0)
		result = fflush(out) == 0 ? duplicate(fileno(out)) : -errno;
	if (out)
		fclose(out);
	return result;
}

static void send_content(struct gp_http_answer *answer, const struct endpoint *endpoint, int fd)
{
	struct stat about;

	if (fstat(fd, &about) < 0) {
		say(answer, 500, "%s", strerror(errno));
		close(fd);
		return;
	}
	*answer = (struct gp_http_answer){
		.status = 200, .type = endpoint->type, .fd = fd, .bytes = (uint64_t)about.st_size};
}

static void answer_by(const struct endpoint *endpoint, struct gp_site *site,
		      const struct gp_request *request, struct gp_http_answer *answer)
{
	char message[GP_MESSAGE_BYTES] = "";
	const struct gp_call_of_endpoint call = {
		.site = site, .request = request, .message = message};
	/* the token is one of the arguments */
	bool is_whole = endpoint->is_kept && request->argument_count == 1;
	int *kept = &site->kept[endpoint - endpoints];
	int fd = is_whole && *kept > 0 ? duplicate(*kept) : make_content(endpoint, &call);

	if (fd == -EINVAL) {
		say(answer, 400, "%s", message);
		return;
	}
	if (fd < 0) {
		say(answer, 500, "cannot make the answer: %s", strerror(-fd));
		return;
	}
	if (is_whole && *kept <= 0)
		*kept = duplicate(fd);
	send_content(answer, endpoint, fd);
}

static void refuse(const struct gp_site *site, unsigned status, struct gp_http_answer *answer)
{
	switch (status) {
	case 303:
		say(answer, status, "%s", site->address);
		answer->header = "Location";
		answer->value = site->address;
		return;
	case 405:
		say(answer, status, "only GET and HEAD are allowed");
		answer->header = "Allow";
		answer->value = "GET, HEAD";
		return;
	default:
		say(answer, status,
		    "use the address that gpuprof serve printed, with its token; with ssh -L use the same port at both ends");
	}
}

void gp_site_answer(struct gp_site *site, const struct gp_request *request,
		    struct gp_http_answer *answer)
{
	unsigned refused = gp_door_refuses(&site->door, request);

	*answer = (struct gp_http_answer){.fd = -1};
	if (refused) {
		refuse(site, refused, answer);
		return;
	}
	for (size_t i = 0; i < ENDPOINTS; i++)
		if (strcmp(endpoints[i].path, request->path) == 0) {
			if (check_arguments(&endpoints[i], request, answer))
				answer_by(&endpoints[i], site, request, answer);
			return;
		}
	say(answer, 404, "there is no such path; see gpuprof serve --help");
}
