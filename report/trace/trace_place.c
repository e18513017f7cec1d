#include "report/trace/trace_place.h"

#include <stdio.h>

#include "report/base/message.h"
#include "report/trace/decode.h"
#include "report/trace/trace_read.h"

static int take_record(void *context, const struct gp_record_view *seen)
{
	const struct gp_record_string *string = &seen->record->string;
	struct gp_trace_place *place = context;

	if (seen->record->head.kind != GP_RECORD_STRING || string->space != GP_STRING_INFO)
		return 0;
	if (string->id == GP_INFO_BOOT_ID)
		snprintf(place->boot_id, sizeof(place->boot_id), "%.*s", (int)string->length_bytes,
			 seen->text);
	else if (string->id == GP_INFO_RANK)
		snprintf(place->rank, sizeof(place->rank), "%.*s", (int)string->length_bytes,
			 seen->text);
	return 0;
}

/* A chunk of the writer (ring 0) has both. */
struct gp_trace_place gp_trace_place_of(const char *path)
{
	struct gp_trace_place place = {{0}, {0}};
	const struct gp_record_sink sink = {take_record, &place};
	struct gp_decoded decoded = {0};
	char message[GP_MESSAGE_BYTES];
	struct gp_trace *trace;
	struct gp_chunk chunk;

	if (gp_trace_open(path, &trace, message, sizeof(message)) != 0)
		return place;
	while (place.boot_id[0] == '\0' && gp_trace_next(trace, &chunk) > 0)
		if (chunk.header.ring == 0)
			gp_decode_chunk(&chunk, &sink, &decoded);
	gp_trace_close(trace);
	return place;
}
