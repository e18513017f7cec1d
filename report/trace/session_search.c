#include "report/trace/session_search.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/array.h"
#include "report/base/message.h"
#include "report/trace/decode.h"
#include "report/trace/trace_read.h"

/* The facts of a trace. */
struct facts {
	const char *session;
	bool is_of_session, is_closed;
};

static int take_record(void *context, const struct gp_record_view *seen)
{
	const union gp_any_record *record = seen->record;
	struct facts *facts = context;

	if (record->head.kind == GP_RECORD_STRING && record->string.space == GP_STRING_INFO &&
	    record->string.id == GP_INFO_SESSION)
		facts->is_of_session =
			record->string.length_bytes == strlen(facts->session) &&
			memcmp(seen->text, facts->session, record->string.length_bytes) == 0;
	else if (record->head.kind == GP_RECORD_END)
		facts->is_closed |= record->end.reason == GP_END_EXIT;
	return 0;
}

/* The writer's chunks (ring 0) have the facts; the first of them names the session. */
static void read_facts(struct facts *facts, struct gp_trace *trace)
{
	const struct gp_record_sink sink = {take_record, facts};
	struct gp_decoded decoded = {0};
	struct gp_chunk chunk;

	while (gp_trace_next(trace, &chunk) > 0) {
		if (chunk.header.ring != 0)
			continue;
		gp_decode_chunk(&chunk, &sink, &decoded);
		if (!facts->is_of_session)
			return;
	}
}

/* Compares files, because names may differ: "./x" and "x". */
static bool is_known(const struct gp_search *search, const struct stat *status)
{
	struct stat known;

	for (size_t i = 0; i < search->known_count; i++)
		if (stat(search->known[i], &known) == 0 && known.st_ino == status->st_ino &&
		    known.st_dev == status->st_dev)
			return true;
	return false;
}

/* Only programs of root can change the user; anybody could write the session's name to a trace. */
static void read_trace(struct facts *facts, const struct gp_search *search, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	char message[GP_MESSAGE_BYTES];
	struct gp_trace *trace;
	struct stat status;

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (status.st_uid == geteuid() || geteuid() == 0) && status.st_mtime >= search->since &&
	    !is_known(search, &status) &&
	    gp_trace_open_fd(fd, path, &trace, message, sizeof(message)) == 0) {
		read_facts(facts, trace);
		gp_trace_close(trace);
	}
	close(fd);
}

static int take_path(struct gp_found_traces *found, const struct gp_search *search,
		     const char *path)
{
	struct facts facts = {.session = search->session};
	char *copy;

	read_trace(&facts, search, path);
	if (!facts.is_of_session)
		return 0;
	copy = strdup(path);
	if (!copy || gp_array_grow(&found->traces, &found->capacity, found->count,
				   sizeof(*found->traces)) != 0) {
		free(copy);
		return -ENOMEM;
	}
	found->traces[found->count++] = (struct gp_found_trace){copy, facts.is_closed};
	return 0;
}

int gp_session_search(struct gp_found_traces *found, const struct gp_search *search)
{
	int result = 0;
	glob_t paths;

	*found = (struct gp_found_traces){0};
	if (glob(search->pattern, 0, NULL, &paths) != 0)
		return 0;
	for (size_t i = 0; i < paths.gl_pathc && result == 0; i++)
		result = take_path(found, search, paths.gl_pathv[i]);
	globfree(&paths);
	return result;
}

void gp_session_search_free(struct gp_found_traces *found)
{
	for (uint32_t i = 0; i < found->count; i++)
		free(found->traces[i].path);
	free(found->traces);
	*found = (struct gp_found_traces){0};
}
