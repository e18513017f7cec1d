#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/base/array.h"
#include "report/export/payload_json.h"
#include "report/export/perfetto/perfetto_schema.h"
#include "report/export/perfetto/perfetto_writer.h"
#include "report/model/payload.h"

#define SEQUENCE    1
#define FLUSH_BYTES (1u << 18)

static const char *const notes[GP_PERFETTO_NOTES] = {
	[GP_PERFETTO_CORRELATION] = "correlation",
	[GP_PERFETTO_STATUS] = "status",
	[GP_PERFETTO_ERROR] = "error",
	[GP_PERFETTO_BYTES] = "bytes",
	[GP_PERFETTO_ADDRESS] = "address",
	[GP_PERFETTO_MEMORY] = "memory",
	[GP_PERFETTO_CALLER] = "called by",
	[GP_PERFETTO_SAMPLES] = "samples",
	[GP_PERFETTO_LINE] = "line",
};

static const char *const arguments[GP_PERFETTO_ARGUMENTS] = {
	[GP_PERFETTO_ARG_DEVICE] = "device",
	[GP_PERFETTO_ARG_CONTEXT] = "context",
	[GP_PERFETTO_ARG_STREAM] = "stream",
	[GP_PERFETTO_ARG_CORRELATION] = "correlation",
	[GP_PERFETTO_ARG_REGISTERS] = "registers_per_thread",
	[GP_PERFETTO_ARG_STATIC_SHARED] = "shared_mem_static",
	[GP_PERFETTO_ARG_DYNAMIC_SHARED] = "shared_mem_dynamic",
	[GP_PERFETTO_ARG_EXECUTED_SHARED] = "shared_mem_config_size",
	[GP_PERFETTO_ARG_THREADS] = "thread_count",
	[GP_PERFETTO_ARG_WAVES] = "waves_per_multiprocessor",
	[GP_PERFETTO_ARG_OCCUPANCY] = "sm__maximum_warps_per_active_cycle_pct",
	[GP_PERFETTO_ARG_BLOCKS_BY_REGISTERS] = "occupancy_limit_registers",
	[GP_PERFETTO_ARG_BLOCKS_BY_SHARED] = "occupancy_limit_shared_mem",
	[GP_PERFETTO_ARG_BLOCKS_BY_WARPS] = "occupancy_limit_warps",
	[GP_PERFETTO_ARG_BLOCKS_BY_BLOCKS] = "occupancy_limit_blocks",
	[GP_PERFETTO_ARG_BYTES] = "bytes",
	[GP_PERFETTO_ARG_BANDWIDTH] = "bandwidth_gb_per_s",
	[GP_PERFETTO_ARG_GRAPH] = "graph_id",
	[GP_PERFETTO_ARG_GRAPH_NODE] = "graph_node_id",
	[GP_PERFETTO_ARG_PROCESS] = "process_id",
	[GP_PERFETTO_ARG_NOTE] = "note",
};

/* ---- packets ---- */

static void flush(struct gp_perfetto *p)
{
	if (p->file.used > 0)
		fwrite(p->file.bytes, 1, p->file.used, p->out);
	p->file.used = 0;
	if (p->options->progress)
		p->options->progress(p->options->progress_context);
}

static void open_packet(struct gp_perfetto *p, uint64_t ns, uint64_t flags)
{
	gp_protobuf_value(&p->packet, PACKET_TIMESTAMP, ns);
	gp_protobuf_number(&p->packet, PACKET_SEQUENCE, SEQUENCE);
	gp_protobuf_number(&p->packet, PACKET_FLAGS, flags);
}

void gp_perfetto_open(struct gp_perfetto *p, uint64_t ns)
{
	open_packet(p, p->offset_ns + ns, FLAG_NEEDS_STATE);
}

void gp_perfetto_close(struct gp_perfetto *p)
{
	if (p->interned.used > 0)
		gp_protobuf_message(&p->packet, PACKET_INTERNED, &p->interned);
	gp_protobuf_message(&p->file, TRACE_PACKET, &p->packet);
	if (p->file.used >= FLUSH_BYTES)
		flush(p);
}

int gp_perfetto_end(struct gp_perfetto *p)
{
	if (p->error == 0)
		flush(p);
	gp_protobuf_free(&p->file);
	gp_protobuf_free(&p->packet);
	gp_protobuf_free(&p->event);
	gp_protobuf_free(&p->inner);
	gp_protobuf_free(&p->argument);
	gp_protobuf_free(&p->interned);
	return p->error == 0 && (fflush(p->out) != 0 || ferror(p->out)) ? -EIO : p->error;
}

/* ---- names ---- */

static void intern(struct gp_perfetto *p, uint32_t list, uint64_t iid, const char *name)
{
	gp_protobuf_number(&p->inner, ENTRY_IID, iid);
	gp_protobuf_text(&p->inner, ENTRY_NAME, name);
	gp_protobuf_message(&p->interned, list, &p->inner);
}

uint64_t gp_perfetto_name(struct gp_perfetto *p, uint64_t *known, const char *name)
{
	if (*known == 0) {
		*known = ++p->last_iid;
		intern(p, INTERNED_EVENT_NAMES, *known, *name ? name : "(no name)");
	}
	return *known;
}

uint64_t gp_perfetto_text_name(struct gp_perfetto *p, const char *name)
{
	uint32_t number = gp_groups_find(&p->event_names, name);

	gp_array_grow(&p->event_name_iids, &p->event_name_capacity, number,
		      sizeof(*p->event_name_iids));
	if (number >= p->event_name_count) {
		p->event_name_count = number + 1;
		p->event_name_iids[number] = 0;
	}
	return gp_perfetto_name(p, &p->event_name_iids[number], name);
}

/* The number of the key of an argument: in the list above, or after it. */
static uint64_t find_key(struct gp_perfetto *p, const char *key)
{
	uint32_t number;

	for (uint32_t i = 1; i < GP_PERFETTO_NOTES; i++)
		if (strcmp(notes[i], key) == 0)
			return i;
	number = gp_groups_find(&p->note_names, key);
	if (number >= p->note_name_count) {
		p->note_name_count = number + 1;
		intern(p, INTERNED_NOTE_NAMES, GP_PERFETTO_NOTES + number, key);
	}
	return GP_PERFETTO_NOTES + number;
}

static void intern_categories(struct gp_perfetto *p)
{
	for (uint32_t kind = 0; kind < GP_TIMELINE_ALLOCATION; kind++)
		intern(p, INTERNED_CATEGORIES, kind + 1,
		       kind == GP_TIMELINE_RANGE ? "nvtx" : gp_timeline_categories[kind]);
}

static void intern_all(struct gp_perfetto *p, uint32_t list, const char *const *names,
		       uint64_t count)
{
	for (uint64_t i = 1; i < count; i++)
		intern(p, list, i, names[i]);
}

static void put_clock(struct gp_perfetto *p, uint64_t clock, uint64_t ns)
{
	gp_protobuf_number(&p->inner, CLOCK_ID, clock);
	gp_protobuf_value(&p->inner, CLOCK_TIMESTAMP, ns);
	gp_protobuf_message(&p->event, CLOCKS_CLOCK, &p->inner);
}

/* Packets use the default clock of readers; we set it to Unix time. */
void gp_perfetto_begin(struct gp_perfetto *p, uint64_t unix_ns, uint64_t monotonic_ns)
{
	open_packet(p, unix_ns, FLAG_CLEARED);
	gp_protobuf_number(&p->packet, PACKET_FIRST, 1);
	put_clock(p, CLOCK_IS_BOOTTIME, unix_ns);
	put_clock(p, CLOCK_IS_REALTIME, unix_ns);
	if (monotonic_ns > 0)
		put_clock(p, CLOCK_IS_MONOTONIC, monotonic_ns);
	gp_protobuf_number(&p->event, CLOCKS_PRIMARY, CLOCK_IS_BOOTTIME);
	gp_protobuf_message(&p->packet, PACKET_CLOCKS, &p->event);
	intern_categories(p);
	intern_all(p, INTERNED_NOTE_NAMES, notes, GP_PERFETTO_NOTES);
	intern_all(p, INTERNED_ARGUMENT_NAMES, arguments, GP_PERFETTO_ARGUMENTS);
	gp_perfetto_close(p);
}

/* ---- events ---- */

void gp_perfetto_open_event(struct gp_perfetto *p, enum gp_perfetto_type type, uint64_t track,
			    uint64_t ns)
{
	gp_perfetto_open(p, ns);
	gp_protobuf_number(&p->event, EVENT_TYPE, type);
	gp_protobuf_number(&p->event, EVENT_TRACK, track);
}

void gp_perfetto_name_event(struct gp_perfetto *p, enum gp_timeline_kind kind, uint64_t name)
{
	gp_protobuf_number(&p->event, EVENT_CATEGORY, (uint64_t)kind + 1);
	gp_protobuf_number(&p->event, EVENT_NAME, name);
}

void gp_perfetto_close_event(struct gp_perfetto *p)
{
	gp_protobuf_message(&p->packet, PACKET_TRACK_EVENT, &p->event);
	gp_perfetto_close(p);
}

void gp_perfetto_end_slice(struct gp_perfetto *p, uint64_t track, uint64_t ns)
{
	gp_perfetto_open_event(p, GP_PERFETTO_END, track, ns);
	gp_perfetto_close_event(p);
}

void gp_perfetto_note(struct gp_perfetto *p, enum gp_perfetto_note note, uint64_t value)
{
	gp_protobuf_number(&p->inner, NOTE_NAME, note);
	gp_protobuf_value(&p->inner, note == GP_PERFETTO_ADDRESS ? NOTE_POINTER : NOTE_UNSIGNED,
			  value);
	gp_protobuf_message(&p->event, EVENT_NOTE, &p->inner);
}

void gp_perfetto_note_text(struct gp_perfetto *p, enum gp_perfetto_note note, const char *text)
{
	gp_protobuf_number(&p->inner, NOTE_NAME, note);
	gp_protobuf_text(&p->inner, NOTE_TEXT, text);
	gp_protobuf_message(&p->event, EVENT_NOTE, &p->inner);
}

/* "0 2" */
static void put_bits(struct gp_perfetto *p, uint64_t bits)
{
	char text[256] = "";
	int used = 0;

	for (uint32_t i = 0; i < 64; i++)
		if ((bits >> i & 1) != 0)
			used += snprintf(text + used, sizeof(text) - (size_t)used, "%s%u",
					 used > 0 ? " " : "", i);
	gp_protobuf_text(&p->inner, NOTE_TEXT, text);
}

static void put_payload(struct gp_perfetto *p, const struct gp_timeline_arg *arg)
{
	if (arg->per == GP_PAYLOAD_FLOATING)
		gp_protobuf_double(&p->inner, NOTE_DOUBLE, gp_payload_floating(arg->number));
	else
		gp_protobuf_value(&p->inner,
				  arg->per == GP_PAYLOAD_SIGNED ? NOTE_SIGNED : NOTE_UNSIGNED,
				  arg->number);
}

/* The fields of a payload, as JSON. */
static void put_fields(struct gp_perfetto *p, uint32_t payload)
{
	p->fields.used = 0;
	gp_payload_json_fields(&p->fields, p->model, payload);
	gp_json_bytes(&p->fields, "", 1);
	if (p->fields.error == 0)
		gp_protobuf_text(&p->inner, NOTE_TEXT, p->fields.buffer);
	else
		p->error = p->fields.error;
}

void gp_perfetto_arg(struct gp_perfetto *p, const struct gp_timeline_arg *arg)
{
	if (arg->type == GP_ARG_TEXT && *arg->text == '\0')
		return;
	gp_protobuf_number(&p->inner, NOTE_NAME, find_key(p, arg->key));
	switch (arg->type) {
	case GP_ARG_NUMBER:
		gp_protobuf_value(&p->inner, NOTE_UNSIGNED, arg->number);
		break;
	case GP_ARG_SIGNED:
		gp_protobuf_value(&p->inner, NOTE_SIGNED, arg->number);
		break;
	case GP_ARG_ADDRESS:
		gp_protobuf_value(&p->inner, NOTE_POINTER, arg->number);
		break;
	case GP_ARG_RATIO:
		gp_protobuf_double(&p->inner, NOTE_DOUBLE, (double)arg->number / (double)arg->per);
		break;
	case GP_ARG_TIME:
		gp_protobuf_double(&p->inner, NOTE_DOUBLE, (double)arg->number / 1e3);
		break;
	case GP_ARG_TEXT:
		gp_protobuf_text(&p->inner, NOTE_TEXT, arg->text);
		break;
	case GP_ARG_BITS:
		put_bits(p, arg->number);
		break;
	case GP_ARG_PAYLOAD:
		put_payload(p, arg);
		break;
	case GP_ARG_FIELDS:
		put_fields(p, (uint32_t)arg->number);
	}
	gp_protobuf_message(&p->event, EVENT_NOTE, &p->inner);
}
