#include "report/load/load_model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/array.h"
#include "report/import/import.h"
#include "report/import/importing.h"
#include "report/base/memory.h"
#include "report/base/memory_limit.h"
#include "report/base/monotonic.h"
#include "report/model/build/build.h"
#include "report/model/chunk_index.h"
#include "report/stream/one_pass.h"
#include "report/trace/recover.h"
#include "report/base/spill_memory.h"
#include "report/trace/ring_salvage.h"
#include "report/trace/trace_read.h"

#define CHUNKS_PER_PROGRESS 64
#define COVERED_LEAST       1024u

/* How far the chunks read so far cover a ring. */
struct covered {
	uint32_t ring;
	uint64_t end; /* position */
};

struct reading {
	struct gp_model_builder builder;
	struct gp_trace *trace;
	const struct gp_load_options *options;
	struct gp_decoded decoded;
	struct gp_decoded recovered; /* from rings */
	uint64_t next_sequence;
	bool is_saved;           /* the file has all that was in the rings */
	bool saved_now;          /* since we read it */
	bool has_left;           /* the rings hold records that the file lacks */
	struct covered *covered; /* of a ring several, until there are covered_limit */
	uint32_t covered_count, covered_capacity, covered_limit;
	struct gp_rings rings;
	int ring_file;
	struct gp_one_pass *pass; /* NULL = all goes into the model */
	uint64_t chunks;          /* so far */
};

static void show_progress(const struct reading *r)
{
	if (r->options->progress)
		r->options->progress(r->options->progress_context);
}

/* ---- in one pass ---- */

static int start_pass(struct reading *r)
{
	/* takes all records that are no events */
	const struct gp_record_sink sink = {gp_take_record, &r->builder};

	if (!r->options->in_one_pass)
		return 0;
	r->builder.model->totals = calloc(1, sizeof(*r->builder.model->totals));
	r->pass = gp_one_pass_new(&sink);
	if (!r->pass || !r->builder.model->totals)
		return -ENOMEM;
	gp_trace_swap_windows(r->trace, gp_one_pass_swap, r->pass);
	return 0;
}

static int end_pass(struct reading *r)
{
	struct gp_totals *totals = r->builder.model->totals;
	uint64_t unknown = 0;
	int result;

	if (!r->pass)
		return 0;
	result = gp_one_pass_end(r->pass, totals, &unknown);
	totals->file_bytes = gp_trace_state(r->trace)->file_bytes;
	r->decoded.unknown += unknown;
	r->builder.first_ticks = totals->sums.first_ticks;
	r->builder.last_ticks = totals->sums.last_ticks;
	return result;
}

/* ---- the chunks ---- */

/* A record that stands as it was in a ring. */
static int take_slots(void *context, const struct gp_record_view *seen)
{
	struct reading *r = context;

	return r->pass ? gp_one_pass_record(r->pass, seen) : gp_take_record(&r->builder, seen);
}

GP_COMPARE_BY_TWO(compare_covered, struct covered, ring, end)

/* Of each ring one: memory grows with the rings that a trace has, not with its chunks. */
static int keep_furthest(struct reading *r)
{
	uint32_t kept = 0;

	if (gp_array_sort(r->covered, r->covered_count, sizeof(*r->covered), compare_covered,
			  NULL) != 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->covered_count; i++) {
		if (kept > 0 && r->covered[kept - 1].ring == r->covered[i].ring)
			kept--;
		r->covered[kept++] = r->covered[i];
	}
	r->covered_count = kept;
	r->covered_limit = 2 * kept > COVERED_LEAST ? 2 * kept : COVERED_LEAST;
	return 0;
}

static int note_covered(struct reading *r, const struct gp_chunk_header *h)
{
	struct covered now = {h->ring, h->position + h->position_slots};
	struct covered *last = r->covered_count > 0 ? &r->covered[r->covered_count - 1] : NULL;

	if (h->ring == 0)
		return 0;
	if (last && last->ring == now.ring && now.end >= last->end) {
		last->end = now.end;
		return 0;
	}
	if (last && r->covered_count >= r->covered_limit && keep_furthest(r) != 0)
		return -ENOMEM;
	if (gp_array_grow(&r->covered, &r->covered_capacity, r->covered_count, sizeof(now)) != 0)
		return -ENOMEM;
	r->covered[r->covered_count++] = now;
	return 0;
}

/* A chunk that was saved from a ring, or of ring 0: the end of the saving. */
static int take_saved(struct reading *r, const struct gp_chunk *chunk)
{
	struct gp_record_sink sink = {take_slots, r};
	const struct gp_chunk_header *h = &chunk->header;
	int result = r->pass ? gp_one_pass_drain(r->pass) : 0;

	r->is_saved = h->ring == 0;
	if (h->payload_bytes % GP_SLOT_BYTES != 0)
		r->decoded.unknown++;
	if (result != 0)
		return result;
	return gp_decode_chunk(chunk, &sink, h->ring == 0 ? &r->decoded : &r->recovered);
}

static int take_names(struct reading *r, const struct gp_chunk *chunk)
{
	struct gp_packed_names *names = &r->builder.model->frame_names;
	const struct gp_chunk_header *h = &chunk->header;
	size_t before = h->thread > 0 ? names->length : 0;
	uint8_t *bytes = realloc(names->bytes, before + h->payload_bytes);

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes + before, chunk->payload, h->payload_bytes);
	*names = (struct gp_packed_names){bytes, before + h->payload_bytes, h->position};
	return 0;
}

/* ---- a part of it ---- */

static int take_unless_event(void *load, const struct gp_record_view *seen)
{
	return gp_record_is_event(seen->record) ? 0 : gp_take_record(load, seen);
}

/* Of a chunk that is not loaded as a whole, the records whose other half is loaded. */
static int take_lefts(struct reading *r, uint64_t number)
{
	uint32_t count;
	const struct gp_chunk_left *lefts =
		gp_chunk_index_lefts(r->options->chosen, number, &count);
	int result = 0;

	for (uint32_t i = 0; i < count && result == 0; i++) {
		const struct gp_record_view seen = {&lefts[i].record, NULL, lefts[i].thread};

		if (gp_chunk_index_needs(r->options->chosen, number, &lefts[i]))
			result = gp_take_record(&r->builder, &seen);
	}
	return result;
}

static int take_payload(struct reading *r, const struct gp_chunk *chunk)
{
	struct gp_record_sink sink = {gp_take_record, &r->builder};
	uint64_t number = r->chunks - 1;
	enum gp_chunk_want want =
		r->options->chosen ? gp_chunk_index_want(r->options->chosen, number) : GP_CHUNK_ALL;
	int result = 0;

	if (r->pass)
		return gp_one_pass_chunk(r->pass, chunk);
	if (want == GP_CHUNK_OTHERS)
		sink.visit = take_unless_event;
	if (want != GP_CHUNK_NOTHING)
		result = gp_decode_chunk(chunk, &sink, &r->decoded);
	return result == 0 && want != GP_CHUNK_ALL ? take_lefts(r, number) : result;
}

static int take_chunk(struct reading *r, const struct gp_chunk *chunk)
{
	const struct gp_chunk_header *h = &chunk->header;

	r->next_sequence = h->sequence + 1;
	r->chunks++;
	if (note_covered(r, h) != 0)
		return -ENOMEM;
	if (h->form == GP_CHUNK_SLOTS)
		return take_saved(r, chunk);
	if (h->form == GP_CHUNK_PACKED || h->form == GP_CHUNK_KEPT)
		return take_payload(r, chunk);
	if (h->form == GP_CHUNK_NAMES)
		return take_names(r, chunk);
	r->decoded.unknown += h->records;
	return 0;
}

/* Steps over chunks that are not wanted, but takes their halves. */
static int step_over(struct reading *r)
{
	uint64_t first = r->chunks;
	uint64_t place = gp_chunk_index_step_over(r->options->chosen, &r->chunks);
	int result = 0;

	if (place == 0)
		return 0;
	gp_trace_go_to(r->trace, place);
	for (uint64_t i = first; i < r->chunks && result == 0; i++)
		result = take_lefts(r, i);
	return result;
}

static int next_chunk(struct reading *r, struct gp_chunk *chunk)
{
	int result = r->options->chosen ? step_over(r) : 0;

	return result < 0 ? result : gp_trace_next(r->trace, chunk);
}

/* Every chunk from where the last call ended to the end that the file has now. */
static int take_chunks(struct reading *r)
{
	struct gp_chunk chunk;
	int result;

	for (unsigned i = 0; (result = next_chunk(r, &chunk)) > 0; i++) {
		result = take_chunk(r, &chunk);
		if (result < 0)
			break;
		if (i % CHUNKS_PER_PROGRESS == 0)
			show_progress(r);
	}
	return result == 0 && r->pass ? gp_one_pass_drain(r->pass) : result;
}

/* ---- the rings ---- */

static uint64_t number_of(const char *text)
{
	return text ? strtoull(text, NULL, 10) : 0;
}

/* Where that fails all is as before: the ring file stays, and is read again next time. */
static void save(struct reading *r)
{
	const struct gp_ring_saving saving = {
		.trace = r->options->save_to,
		.state = gp_trace_state(r->trace),
		.sequence = &r->next_sequence,
		.is_saved = r->is_saved,
		.ring_path = r->builder.model->info[GP_INFO_RING_FILE],
		.ring_file = r->ring_file,
		.rings = &r->rings,
		.counters = r->builder.model->counters,
	};

	r->saved_now = gp_save_rings(&saving) == 0;
}

static int decode_rings(struct reading *r)
{
	struct gp_record_sink sink = {take_slots, r};
	int result = 0;

	for (uint32_t i = 0; i < r->rings.count && result == 0; i++) {
		const struct gp_ring *ring = &r->rings.rings[i];
		const uint8_t *slots;
		uint64_t count = gp_ring_left(ring, &slots);

		r->has_left |= count > 0;
		if (count > 0)
			result = gp_decode_slots(slots, count, ring->thread, &sink, &r->recovered);
	}
	return result;
}

/* Where an earlier saving came to its end, the file has them. */
static int take_waiting(struct reading *r)
{
	uint32_t count = r->is_saved || r->builder.model->losses.closed ? 0 : r->rings.call_count;
	int result = 0;

	for (uint32_t i = 0; i < count && result == 0; i++) {
		const union gp_any_record record = {.waiting = r->rings.calls[i]};

		result = gp_take_record(&r->builder, &(struct gp_record_view){.record = &record});
	}
	return result;
}

static int take_rings(struct reading *r, bool are_abandoned)
{
	int result;

	for (uint32_t i = 0; i < r->covered_count; i++)
		gp_rings_cover(&r->rings, r->covered[i].ring, r->covered[i].end);
	gp_rings_raise(&r->rings, r->builder.model->counters);
	if (are_abandoned && !r->builder.model->losses.closed)
		save(r);
	result = take_waiting(r);
	return result == 0 ? decode_rings(r) : result;
}

static int note_rings_missing(struct reading *r, const char *ring_path, int error)
{
	char *note;

	if (asprintf(
		    &note,
		    "the trace has no end: it was cut, or the process did not end normally and its ring file %s %s%s; its last records may be missing",
		    ring_path,
		    error == -ENOENT   ? "is gone"
		    : error == -ESTALE ? "belongs to another process now"
				       : "cannot be read: ",
		    error == -ENOENT || error == -ESTALE ? "" : strerror(-error)) < 0)
		return -ENOMEM;
	return gp_model_builder_note(&r->builder, note);
}

/*
 * Recovers records from the rings of a process that did not end in order. Reads the rings first and
 * the rest of the file second, so that records which move meanwhile are in the file.
 */
static int recover(struct reading *r)
{
	struct gp_model *m = r->builder.model;
	const char *ring_path = m->info[GP_INFO_RING_FILE];
	struct gp_process process = {(uint32_t)number_of(m->info[GP_INFO_PID]),
				     number_of(m->info[GP_INFO_START_TIME]),
				     m->info[GP_INFO_BOOT_ID]};
	bool abandoned;
	int found, result;

	m->losses.live = gp_process_is_live(&process);
	r->ring_file = ring_path ? gp_rings_open(ring_path) : -ENOENT;
	abandoned = r->options->save_to >= 0 &&
		    gp_rings_are_abandoned(r->ring_file, r->options->save_to, &process);
	found = ring_path ? gp_rings_read(r->ring_file, m->path, &process, &r->rings) : 0;
	if (ring_path)
		m->rings_monotonic_ns = gp_monotonic_ns();
	result = take_chunks(r);
	if (result == 0 && found == 0)
		result = take_rings(r, abandoned);
	m->losses.killed = !m->losses.closed && (r->rings.are_left || r->is_saved);
	if (m->losses.closed)
		m->losses.live = false;
	else if (result == 0 && found == -ENOMEM)
		result = -ENOMEM;
	else if (result == 0 && found < 0 && !r->is_saved)
		result = note_rings_missing(r, ring_path, found);
	return result;
}

/* ---- the whole ---- */

/* A trace that may still grow, or that ends with unknown bytes, gets nothing appended. */
static void note_end(struct reading *r)
{
	struct gp_model *m = r->builder.model;
	struct stat status;

	if (m->losses.live || m->losses.damaged_bytes > 0 || m->losses.cut ||
	    !(m->losses.closed || r->is_saved || r->saved_now))
		return;
	m->next_sequence = r->next_sequence;
	m->file_bytes = gp_trace_state(r->trace)->file_bytes;
	if (r->saved_now)
		m->file_bytes =
			fstat(r->options->save_to, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static void account_for_file(struct reading *r)
{
	const struct gp_trace_state *state = gp_trace_state(r->trace);
	struct gp_losses *losses = &r->builder.model->losses;

	losses->damaged_bytes = r->options->chosen
					? gp_chunk_index_damaged_bytes(r->options->chosen)
					: state->damaged_bytes;
	if (!state->rest_is_cut)
		losses->damaged_bytes += state->rest_bytes;
	else if (!losses->live && !r->saved_now)
		losses->cut = true;
	losses->unknown_records += r->decoded.unknown + r->recovered.unknown;
	if (!losses->live)
		losses->recovered_records = r->recovered.records;
	losses->in_rings = r->has_left && !losses->live && !r->saved_now;
	note_end(r);
}

static int name_if_unnamed(struct gp_model *m, uint16_t id)
{
	char *name;

	if (gp_api_table_find(m->private, id).name)
		return 0;
	if (asprintf(&name, "%s cbid %u", GP_API_IS_DRIVER(id) ? "driver" : "runtime",
		     GP_API_CBID(id)) < 0)
		return -ENOMEM;
	return gp_api_table_set(m->private, id, name, GP_API_OTHER);
}

static int name_unnamed_apis(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;

	int result = 0;

	for (uint32_t i = 0; i < sizeof(b->apis) && result == 0; i++)
		for (uint32_t bit = 0; b->apis[i] >> bit != 0 && result == 0; bit++)
			if (b->apis[i] >> bit & 1)
				result = name_if_unnamed(m, (uint16_t)(8 * i + bit));
	for (uint32_t i = 0; i < m->waiting_count && result == 0; i++)
		result = name_if_unnamed(m, m->waiting[i].api);
	return result;
}

/* Ranges need as much memory again, so the join tables are freed first. */
static int free_joins(struct gp_model_builder *b)
{
	gp_model_builder_free_details(b);
	gp_spill_free(b->keys);
	b->keys = NULL;
	return 0;
}

/* Records that were not loaded are not lost. */
static void forget_halves(struct gp_losses *losses)
{
	losses->launches_without_op = losses->launches_captured = losses->launches_failed = 0;
	losses->graphs_without_op = 0;
	losses->launches_unnumbered = losses->launches_left_out = losses->copies_in_flight = 0;
	losses->launches_waited_for = 0;
	losses->ops_without_call = losses->ops_untimed = losses->ops_reversed = 0;
	losses->ops_contradicted = losses->ops_clashing = losses->ops_early = 0;
	losses->frees_unknown = losses->range_ends_unknown = losses->launches_outside = 0;
	losses->ops_outside = losses->frees_outside = losses->range_ends_outside = 0;
}

/* The operations of ranges that begin before or end after the loaded records are not known. */
static void cut_ranges(struct gp_model *m, const struct gp_chunk_index *chosen)
{
	uint64_t from_ns, to_ns;

	gp_chunk_index_span(chosen, m->first_ns, &from_ns, &to_ns);
	for (uint32_t i = 0; i < m->range_count; i++) {
		struct gp_range *range = &m->ranges[i];

		if (range->start_ns >= from_ns && range->end_ns <= to_ns)
			continue;
		range->is_cut = true;
		range->op_count = range->gpu_busy_ns = 0;
		range->gpu_start_ns = range->gpu_end_ns = 0;
	}
}

static int finish(struct reading *r)
{
	static int (*const joins[])(struct gp_model_builder *) = {
		gp_resolve_totals, gp_join_ops,       gp_join_hw_values,
		gp_join_in_flight, gp_join_captures,  free_joins,
		gp_join_memory,    name_unnamed_apis, gp_join_ranges,
	};
	struct gp_model *m = r->builder.model;
	int result;

	m->pid = (uint32_t)number_of(m->info[GP_INFO_PID]);
	result = gp_resolve(&r->builder);
	show_progress(r);
	for (size_t i = 0; result == 0 && i < sizeof(joins) / sizeof(joins[0]); i++) {
		result = joins[i](&r->builder);
		show_progress(r);
	}
	if (result == 0 && r->options->chosen) {
		forget_halves(&m->losses);
		cut_ranges(m, r->options->chosen);
		return 0; /* the launches before it are not known, so no stacks are estimated */
	}
	return result == 0 ? gp_estimate_stacks(m) : result;
}

static struct gp_model *new_model(const char *path)
{
	struct gp_model *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->path = strdup(path);
	m->private = calloc(1, sizeof(struct gp_api_table));
	if (m->path && m->private)
		return m;
	gp_model_free(m);
	return NULL;
}

static void explain_size(const char *path, char *message, size_t message_bytes)
{
	char trouble[GP_SPILL_TROUBLE_BYTES];

	gp_spill_trouble(trouble);
	snprintf(
		message, message_bytes,
		"%s is too large for the free memory%s%s%s, or run a command that needs little memory: gpuprof summary --one-pass %s; gpuprof top --batch --iterations 1 %s",
		path, trouble[0] ? ", and temporary files have no space for the rest (" : "",
		trouble,
		trouble[0] ? "): set TMPDIR to a folder with more space"
			   : ": read it on a machine with more memory",
		path, path);
}

static void explain(int error, const char *path, char *message, size_t message_bytes)
{
	if (error == -ENODATA)
		snprintf(
			message, message_bytes,
			"%s holds no readable records: the program has written none yet, ended before it did, or the file is damaged",
			path);
	else if (error == -ENOMEM || error == -EOVERFLOW)
		explain_size(path, message, message_bytes);
	else
		snprintf(message, message_bytes, "%s cannot be read: %s", path, strerror(-error));
}

static int read_all(struct reading *r)
{
	int result = start_pass(r);

	if (result == 0)
		result = take_chunks(r);
	if (result == 0 && gp_trace_state(r->trace)->chunks == 0)
		return -ENODATA;
	if (result == 0 && !r->builder.model->losses.closed)
		result = recover(r);
	if (result == 0)
		result = end_pass(r);
	if (result == 0)
		account_for_file(r);
	return result == 0 ? finish(r) : result;
}

/* A trace that another profiler wrote. */
static int import(struct reading *r, const struct gp_importer *importer, const char *path,
		  char *message, size_t message_bytes)
{
	int result;

	r->builder.process = r->options->process;
	result = importer->load(path, &r->builder, message, message_bytes);
	if (result != 0)
		return result;
	show_progress(r);
	result = finish(r);
	if (result == 0)
		gp_import_mark_asynchronous(r->builder.model);
	else
		gp_import_explain(result, path, message, message_bytes);
	return result;
}

static int read_own(struct reading *r, const char *path, char *message, size_t message_bytes)
{
	int fd = r->options->save_to;
	int result = fd < 0 ? gp_trace_open(path, &r->trace, message, message_bytes)
			    : gp_trace_open_fd(fd, path, &r->trace, message, message_bytes);

	if (result != 0)
		return result;
	result = read_all(r);
	if (result != 0)
		explain(result, path, message, message_bytes);
	return result;
}

static void free_named(struct gp_named *named, uint32_t count)
{
	for (uint32_t i = 0; named && i < count; i++)
		free(named[i].text);
	free(named);
}

static void end_reading(struct reading *r)
{
	free_named(r->builder.names, r->builder.model ? r->builder.model->name_count : 0);
	free_named(r->builder.device_names, r->builder.device_name_count);
	gp_spill_free(r->builder.anchors);
	gp_spill_free(r->builder.context_ends);
	gp_spill_free(r->builder.range_points);
	gp_spill_free(r->builder.hw_values);
	gp_spill_free(r->builder.keys);
	gp_model_builder_free_details(&r->builder);
	free(r->covered);
	gp_rings_free(&r->rings);
	if (r->ring_file >= 0)
		close(r->ring_file);
	gp_one_pass_free(r->pass);
	gp_trace_close(r->trace);
}

/*
 * Once, as later free memory depends on our own use. Half is for events, half for all that does not
 * grow with them.
 */
static void keep_within_memory(void)
{
	static bool done;

	if (!done)
		gp_spill_limit(gp_memory_keep_within(gp_memory_left("")) / 2);
	done = true;
}

static int load(const char *path, const struct gp_load_options *options, struct gp_model **model,
		char *message, size_t message_bytes)
{
	const struct gp_importer *importer;
	struct reading r = {.options = options, .ring_file = -1};
	char opened[32];
	int result;

	snprintf(opened, sizeof(opened), "/proc/self/fd/%d", options->save_to);
	result = gp_import_find(options->save_to < 0 ? path : opened, &importer);
	keep_within_memory();
	r.builder.clocks = options->clocks;
	r.builder.model = result == 0 ? new_model(path) : NULL;
	if (!r.builder.model) {
		explain(-ENOMEM, path, message, message_bytes);
		return -ENOMEM;
	}
	result = importer ? import(&r, importer, path, message, message_bytes)
			  : read_own(&r, path, message, message_bytes);
	end_reading(&r);
	if (result == 0)
		*model = r.builder.model;
	else
		gp_model_free(r.builder.model);
	return result;
}

/* A load that lacked memory for anything has failed. */
int gp_model_load_with(const char *path, const struct gp_load_options *options,
		       struct gp_model **model, char *message, size_t message_bytes)
{
	int result;

	gp_memory_begin_attempt();
	result = load(path, options, model, message, message_bytes);
	if (!gp_memory_end_attempt() && result == 0) {
		gp_model_free(*model);
		*model = NULL;
		explain(-ENOMEM, path, message, message_bytes);
		result = -ENOMEM;
	}
	return result;
}

int gp_model_load(const char *path, struct gp_model **model, char *message, size_t message_bytes)
{
	const struct gp_load_options options = {.save_to = -1};

	return gp_model_load_with(path, &options, model, message, message_bytes);
}
