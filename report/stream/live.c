#include "report/stream/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/trace/api_name.h"
#include "report/base/array.h"
#include "report/model/model.h"

/* Most names that are kept, of kernels and of threads: programs have thousands. */
#define NAME_LIMIT 65536u

struct gp_live *gp_live_new(bool is_of_job)
{
	struct gp_live *l = calloc(1, sizeof(*l));

	if (l)
		l->is_of_job = is_of_job;
	if (l)
		l->sums.has_no_distributions = true;
	return l;
}

void gp_live_rest(struct gp_live *l)
{
	gp_cover_trim(&l->sums.cover);
}

static void free_names(struct gp_live_names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		free(names->rows[i].text);
	free(names->rows);
}

void gp_live_free(struct gp_live *l)
{
	if (!l)
		return;
	gp_sums_free(&l->sums);
	gp_api_table_clear(&l->api_names);
	free_names(&l->kernel_names);
	free_names(&l->thread_names);
	for (uint32_t i = 0; i < l->device_count; i++)
		free(l->devices[i].name);
	free(l->devices);
	for (size_t i = 0; i < GP_INFO_LIMIT; i++)
		free(l->info[i]);
	gp_live_memory_free(&l->memory);
	gp_live_ranges_free(&l->ranges);
	gp_live_steps_free(&l->steps);
	free(l->open);
	free(l);
}

/* ---- definitions ---- */

static int set_text(char **to, const char *text, uint32_t length)
{
	free(*to);
	*to = strndup(text, length);
	return *to ? 0 : -ENOMEM;
}

static bool has_lower_id(const void *element, const void *key)
{
	return ((const struct gp_live_name *)element)->id < *(const uint32_t *)key;
}

/* The first name whose id is not lower. */
static uint32_t place_of(const struct gp_live_names *names, uint32_t id)
{
	return gp_array_lower_bound(names->rows, names->count, sizeof(*names->rows), has_lower_id,
				    &id);
}

static const char *find_name(const struct gp_live_names *names, uint32_t id)
{
	uint32_t at = place_of(names, id);

	return at < names->count && names->rows[at].id == id ? names->rows[at].text : NULL;
}

/* Ids mostly come in their order.  The program's own name replaces others, not the reverse. */
static int set_name(struct gp_live_names *names, const struct gp_record_string *r, const char *text)
{
	bool is_given = (r->value & GP_NAME_GIVEN) != 0;
	uint32_t at = place_of(names, r->id);
	struct gp_live_name *row;

	if (at == names->count || names->rows[at].id != r->id) {
		if (names->count == NAME_LIMIT)
			return 0;
		if (gp_array_grow(&names->rows, &names->capacity, names->count,
				  sizeof(*names->rows)) != 0)
			return -ENOMEM;
		row = &names->rows[at];
		memmove(row + 1, row, (names->count++ - at) * sizeof(*row));
		*row = (struct gp_live_name){.id = r->id};
	}
	row = &names->rows[at];
	if (row->is_given && !is_given)
		return 0;
	row->is_given = is_given;
	return set_text(&row->text, text, r->length_bytes);
}

static int name_kernel(struct gp_live *l, const struct gp_record_string *r, const char *text)
{
	return set_name(&l->kernel_names, r, text);
}

static int name_thread(struct gp_live *l, const struct gp_record_string *r, const char *text)
{
	return set_name(&l->thread_names, r, text);
}

static int name_api(struct gp_live *l, const struct gp_record_string *r, const char *text)
{
	size_t length = gp_api_name_length(text, strnlen(text, r->length_bytes));

	if (r->id > UINT16_MAX || length == 0)
		return 0;
	return gp_api_table_set(&l->api_names, (uint16_t)r->id, strndup(text, length),
				r->value < GP_API_CLASSES ? (uint8_t)r->value : GP_API_OTHER);
}

const char *gp_live_kernel_name(const struct gp_live *l, uint32_t id)
{
	return find_name(&l->kernel_names, id);
}

const char *gp_live_api_name(const struct gp_live *l, uint16_t api)
{
	return gp_api_table_find(&l->api_names, api).name;
}

const char *gp_live_thread_name(const struct gp_live *l, uint32_t id)
{
	const char *name = find_name(&l->thread_names, id);

	return name ? name : "";
}

struct gp_live_device *gp_live_device(struct gp_live *l, uint16_t id)
{
	for (uint32_t i = 0; i < l->device_count; i++)
		if (l->devices[i].id == id)
			return &l->devices[i];
	if (gp_array_grow(&l->devices, &l->device_capacity, l->device_count, sizeof(*l->devices)) !=
	    0)
		return NULL;
	l->devices[l->device_count] = (struct gp_live_device){.id = id};
	return &l->devices[l->device_count++];
}

static int name_device(struct gp_live *l, const struct gp_record_string *r, const char *text)
{
	struct gp_live_device *device;

	if (r->id >= GP_DEVICE_LIMIT || (r->value & GP_NAME_GIVEN))
		return 0;
	device = gp_live_device(l, (uint16_t)r->id);
	return device ? set_text(&device->name, text, r->length_bytes) : -ENOMEM;
}

static int set_info(struct gp_live *l, const struct gp_record_string *r, const char *text)
{
	if (r->id == 0 || r->id >= GP_INFO_LIMIT || r->id == GP_INFO_NOTE)
		return 0;
	return set_text(&l->info[r->id], text, r->length_bytes);
}

static bool is_shown_of_job(const struct gp_record_string *r, const char *text)
{
	if (r->space == GP_STRING_KERNEL)
		return memmem(text, r->length_bytes, "nccl", strlen("nccl")) != NULL;
	return r->space == GP_STRING_API || r->space == GP_STRING_INFO;
}

static int live_string(struct gp_live *l, const struct gp_record_view *seen)
{
	static int (*const spaces[])(struct gp_live *, const struct gp_record_string *,
				     const char *) = {
		[GP_STRING_KERNEL] = name_kernel, [GP_STRING_API] = name_api,
		[GP_STRING_THREAD] = name_thread, [GP_STRING_DEVICE] = name_device,
		[GP_STRING_INFO] = set_info,
	};
	const struct gp_record_string *r = &seen->record->string;

	if (l->is_of_job && !is_shown_of_job(r, seen->text))
		return 0;
	if (r->space == GP_STRING_RANGE)
		return gp_live_ranges_define(&l->ranges, r->id, seen->text, r->length_bytes);
	if (r->space >= sizeof(spaces) / sizeof(spaces[0]) || !spaces[r->space])
		return 0;
	return spaces[r->space](l, r, seen->text);
}

/* ---- calls ---- */

static int live_call(struct gp_live *l, const struct gp_record_view *seen)
{
	return gp_sums_call(&l->sums, seen->record);
}

static int live_memory(struct gp_live *l, const struct gp_record_view *seen)
{
	int result = gp_sums_call(&l->sums, seen->record);

	if (result != 0 || seen->record->memory.device_id >= GP_DEVICE_LIMIT)
		return result;
	return gp_live_memory_take(&l->memory, &seen->record->memory);
}

static int live_context_end(struct gp_live *l, const struct gp_record_view *seen)
{
	return gp_live_memory_end_context(&l->memory, &seen->record->context_end);
}

/* ---- operations ---- */

/* Device and end lie where a kernel has them (report/model/sums/sums.c). */
static int note_operation(struct gp_live *l, const struct gp_record_view *seen, int result)
{
	const struct gp_record_kernel *r = &seen->record->kernel;

	if (result != 0 || r->device_id >= GP_DEVICE_LIMIT)
		return result;
	if (r->end_ns > l->newest_operation_ns)
		l->newest_operation_ns = r->end_ns;
	return gp_live_device(l, r->device_id) ? 0 : -ENOMEM;
}

static int live_kernel(struct gp_live *l, const struct gp_record_view *seen)
{
	const struct gp_record_kernel *r = &seen->record->kernel;
	int result = note_operation(l, seen, gp_sums_kernel(&l->sums, seen->record));

	return result == 0 ? gp_live_steps_take(&l->steps, r->context_id, r->stream_id, r->name_id,
						r->start_ns)
			   : result;
}

static int live_copy(struct gp_live *l, const struct gp_record_view *seen)
{
	int result = gp_sums_copy(&l->sums, seen->record);

	/* a copy from host to host is no work of a device */
	return seen->record->copy.copy_kind == GP_COPY_HTOH ? result
							    : note_operation(l, seen, result);
}

static int live_memset(struct gp_live *l, const struct gp_record_view *seen)
{
	return note_operation(l, seen, gp_sums_memset(&l->sums, seen->record));
}

/* The number is left out: a program may make a graph for each iteration. */
static int live_graph(struct gp_live *l, const struct gp_record_view *seen)
{
	union gp_any_record record = *seen->record;
	int result;

	record.graph.graph_id = 0;
	result = note_operation(l, seen, gp_sums_graph(&l->sums, &record));
	return result == 0 ? gp_live_steps_take(&l->steps, record.graph.context_id,
						record.graph.stream_id, 0, record.graph.start_ns)
			   : result;
}

/* ---- launches without a record ---- */

static bool has_come(const struct gp_live *l, const struct gp_live_launch *launch)
{
	return gp_live_from_cupti(l, l->newest_operation_ns) >=
	       gp_live_from_ticks(l, launch->check.ticks);
}

const struct gp_record_in_flight *gp_live_open(const struct gp_live *l)
{
	const struct gp_record_in_flight *first = NULL;

	for (uint32_t i = 0; i < l->open_count; i++)
		if (!l->open[i].has_ended && !has_come(l, &l->open[i]) &&
		    (!first || l->open[i].check.correlation_id < first->correlation_id))
			first = &l->open[i].check;
	return first;
}

uint32_t gp_live_waited_for(const struct gp_live *l)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < l->open_count; i++)
		count += l->open[i].has_ended && !has_come(l, &l->open[i]);
	return count;
}

static void drop_those_that_came(struct gp_live *l)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < l->open_count; i++)
		if (!has_come(l, &l->open[i]))
			l->open[kept++] = l->open[i];
	l->open_count = kept;
}

static int live_in_flight(struct gp_live *l, const struct gp_record_view *seen)
{
	if (seen->record->in_flight.unflushed != 0)
		return 0;
	if (l->open_count == l->open_capacity)
		drop_those_that_came(l);
	if (gp_array_grow(&l->open, &l->open_capacity, l->open_count, sizeof(*l->open)) != 0)
		return -ENOMEM;
	l->open[l->open_count++] = (struct gp_live_launch){.check = seen->record->in_flight};
	return 0;
}

/*
 * Calls get their numbers when they begin: the order of numbers decides between calls of two
 * threads that overlap.
 */
static int live_stream_wait(struct gp_live *l, const struct gp_record_view *seen)
{
	const struct gp_record_stream_wait *r = &seen->record->stream_wait;

	for (uint32_t i = 0; i < l->open_count; i++) {
		const struct gp_record_in_flight *check = &l->open[i].check;

		l->open[i].has_ended |= check->stream != 0 && check->stream == r->stream &&
					check->era == r->era &&
					(int32_t)(r->correlation_id - check->correlation_id) > 0;
	}
	return 0;
}

/* ---- the rest ---- */

static int live_device(struct gp_live *l, const struct gp_record_view *seen)
{
	const struct gp_record_device *r = &seen->record->device;
	struct gp_live_device *device;

	if (r->device_id >= GP_DEVICE_LIMIT)
		return 0;
	device = gp_live_device(l, r->device_id);
	if (!device)
		return -ENOMEM;
	device->memory_bytes = r->memory_bytes;
	return 0;
}

static int live_anchor(struct gp_live *l, const struct gp_record_view *seen)
{
	const struct gp_record_anchor *r = &seen->record->anchor;

	if (l->first_anchor.slots == 0)
		l->first_anchor = *r;
	l->last_anchor = *r;
	if (r->cupti_ns != 0)
		l->cupti_anchor = *r;
	return 0;
}

static int live_range(struct gp_live *l, const struct gp_record_view *seen)
{
	if (!l->is_of_job)
		gp_live_ranges_take(&l->ranges, &seen->record->range, seen->thread_id);
	return 0;
}

static int live_gate(struct gp_live *l, const struct gp_record_view *seen)
{
	const struct gp_record_gate *r = &seen->record->gate;

	if (r->reason == GP_GATE_KEPT) /* also during a pause */
		return 0;
	if (r->on && l->is_paused && r->ticks > l->paused_since_ticks)
		l->paused_ticks += r->ticks - l->paused_since_ticks;
	if (!r->on && !l->is_paused)
		l->paused_since_ticks = r->ticks;
	l->is_paused = !r->on;
	l->has_paused |= l->is_paused && r->reason != GP_GATE_FULL;
	l->gate_reason = r->reason;
	return 0;
}

static int live_end(struct gp_live *l, const struct gp_record_view *seen)
{
	if (seen->record->end.reason == GP_END_EXIT)
		l->end_ticks = seen->record->end.ticks;
	return 0;
}

/* `top` does not show these. */
GP_RECORD_IGNORE(live, overhead)
#define GP_MODEL_RECORDS(name, ...) GP_RECORD_IGNORE(live, name)
#include "report/model/array.def"
GP_RECORD_IGNORE(live, shape)
GP_RECORD_IGNORE(live, context)
GP_RECORD_IGNORE(live, stream)
GP_RECORD_IGNORE(live, usage)
GP_RECORD_IGNORE(live, node)
GP_RECORD_IGNORE(live, frame)
GP_RECORD_IGNORE(live, module)
GP_RECORD_IGNORE(live, link)
GP_RECORD_IGNORE(live, sample)
GP_RECORD_IGNORE(live, hw_window)
GP_RECORD_IGNORE(live, hw_value)
GP_RECORD_IGNORE(live, energy)
/* The tail of the trace keeps these itself (report/trace/tail.h). */
GP_RECORD_IGNORE(live, thread)
GP_RECORD_IGNORE(live, counter)
GP_RECORD_IGNORE(live, waiting)

GP_RECORD_VISITOR(gp_live_take, live, struct gp_live)
