#include "report/trace/trace_boot.h"

#include <stdio.h>

#include "report/base/message.h"
#include "report/trace/decode.h"
#include "report/trace/trace_read.h"

static int take_record(void *context, const struct gp_record_view *seen)
{
	const struct gp_record_string *string = &seen->record->string;

	if (seen->record->head.kind == GP_RECORD_STRING && string->space == GP_STRING_INFO &&
	    string->id == GP_INFO_BOOT_ID)
		snprintf(context, GP_BOOT_ID_TEXT_BYTES, "%.*s", (int)string->length_bytes,
			 seen->text);
	return 0;
}

/* The writer's chunks (ring 0) have the facts. */
bool gp_trace_boot_id(const char *path, char id[GP_BOOT_ID_TEXT_BYTES])
{
	const struct gp_record_sink sink = {take_record, id};
	struct gp_decoded decoded = {0};
	char message[GP_MESSAGE_BYTES];
	struct gp_trace *trace;
	struct gp_chunk chunk;

	id[0] = '\0';
	if (gp_trace_open(path, &trace, message, sizeof(message)) != 0)
		return false;
	while (id[0] == '\0' && gp_trace_next(trace, &chunk) > 0)
		if (chunk.header.ring == 0)
			gp_decode_chunk(&chunk, &sink, &decoded);
	gp_trace_close(trace);
	return id[0] != '\0';
}
