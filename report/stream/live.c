#include "report/stream/live.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "report/trace/api_name.h"
#include "report/base/array.h"
#include "report/model/model.h"
#include "report/base/tree.h"

/*
 * So many kernels are told apart, and so many threads have a name; programs have thousands at most.
 */
#define KERNEL_LIMIT 65536u
#define THREAD_LIMIT 16384u

struct gp_live *gp_live_new(void)
{
	return calloc(1, sizeof(struct gp_live));
}

static void free_kernels(struct gp_live *l)
{
	for (uint32_t i = 0; i < l->kernel_count; i++) {
		free(l->kernels[i]->name);
		free(l->kernels[i]);
	}
	free(l->kernels);
}

void gp_live_free(struct gp_live *l)
{
	if (!l)
		return;
	gp_tree_free(l->kernel_index);
	free_kernels(l);
	gp_api_table_clear(&l->api_names);
	for (size_t i = 0; i < sizeof(l->apis) / sizeof(l->apis[0]); i++)
		free(l->apis[i]);
	for (uint32_t i = 0; i < l->device_count; i++)
		free(l->devices[i].name);
	free(l->devices);
	for (uint32_t i = 0; i < l->thread_count; i++)
		free(l->threads[i].name);
	free(l->threads);
	for (size_t i = 0; i < GP_INFO_LIMIT; i++)
		free(l->info[i]);
	gp_live_memory_free(&l->memory);
	gp_live_busy_free(&l->busy);
	gp_live_ranges_free(&l->ranges);
	free(l->open);
	free(l);
}

/* ---- kernels by name ---- */

static int compare_kernels(const void *a, const void *b)
{
	const struct gp_live_kernel *left = a, *right = b;

	return (left->id > right->id) - (left->id < right->id);
}

static struct gp_live_kernel *make_kernel(struct gp_live *l, uint32_t id)
{
	struct gp_live_kernel *kernel = calloc(1, sizeof(*kernel));

	if (!kernel)
		return NULL;
	kernel->id = id;
	if (gp_array_grow(&l->kernels, &l->kernel_capacity, l->kernel_count,
			  sizeof(struct gp_live_kernel *)) != 0 ||
	    !tsearch(kernel, &l->kernel_index, compare_kernels)) {
		free(kernel);
		return NULL;
	}
	l->kernels[l->kernel_count++] = kernel;
	return kernel;
}

/* NULL: no memory. */
static struct gp_live_kernel *find_kernel(struct gp_live *l, uint32_t id)
{
	const struct gp_live_kernel key = {.id = id};
	struct gp_live_kernel **found;

	if (l->last_kernel && l->last_kernel->id == id)
		return l->last_kernel;
	found = tfind(&key, &l->kernel_index, compare_kernels);
	if (!found && l->kernel_count == KERNEL_LIMIT)
		return &l->other_kernels;
	l->last_kernel = found ? *found : make_kernel(l, id);
	return l->last_kernel;
}

/* ---- definitions ---- */

static int set_text(char **to, const char *text, uint32_t length)
{
	free(*to);
	*to = strndup(text, length);
	return *to ? 0 : -ENOMEM;
}

static int name_kernel(struct gp_live *l, const struct gp_record_string *r, const char *text)
{
	struct gp_live_kernel *kernel = find_kernel(l, r->id);

	if (!kernel)
		return -ENOMEM;
	return kernel == &l->other_kernels ? 0 : set_text(&kernel->name, text, r->length_bytes);
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
	const struct gp_live_kernel key = {.id = id};
	struct gp_live_kernel **found = tfind(&key, &l->kernel_index, compare_kernels);

	return found ? (*found)->name : NULL;
}

const char *gp_live_api_name(const struct gp_live *l, uint16_t api)
{
	return gp_api_table_find(&l->api_names, api).name;
}

static bool has_lower_id(const void *element, const void *key)
{
	const struct gp_live_thread *thread = element;

	return thread->id < *(const uint32_t *)key;
}

/* Where the thread is, or were to be. */
static uint32_t place_of_thread(const struct gp_live *l, uint32_t id)
{
	return gp_array_lower_bound(l->threads, l->thread_count, sizeof(*l->threads), has_lower_id,
				    &id);
}

static struct gp_live_thread *find_thread(const struct gp_live *l, uint32_t id)
{
	uint32_t at = place_of_thread(l, id);

	return at < l->thread_count && l->threads[at].id == id ? &l->threads[at] : NULL;
}

/* NULL: no memory.  Mostly it is the last one, for the kernel counts them up. */
static struct gp_live_thread *add_thread(struct gp_live *l, uint32_t id)
{
	uint32_t at = place_of_thread(l, id);

	if (gp_array_grow(&l->threads, &l->thread_capacity, l->thread_count, sizeof(*l->threads)) !=
	    0)
		return NULL;
	memmove(&l->threads[at + 1], &l->threads[at], (l->thread_count - at) * sizeof(*l->threads));
	l->thread_count++;
	l->threads[at] = (struct gp_live_thread){.id = id};
	return &l->threads[at];
}

static int name_thread(struct gp_live *l, const struct gp_record_string *r, const char *text)
{
	struct gp_live_thread *thread = find_thread(l, r->id);
	bool is_given = (r->value & GP_NAME_GIVEN) != 0;

	if (!thread && l->thread_count == THREAD_LIMIT)
		return 0;
	if (!thread)
		thread = add_thread(l, r->id);
	if (!thread)
		return -ENOMEM;
	if (thread->is_given && !is_given)
		return 0;
	thread->is_given = is_given;
	return set_text(&thread->name, text, r->length_bytes);
}

const char *gp_live_thread_name(const struct gp_live *l, uint32_t id)
{
	const struct gp_live_thread *thread = find_thread(l, id);

	return thread && thread->name ? thread->name : "";
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

static int live_string(struct gp_live *l, const struct gp_record_view *seen)
{
	static int (*const spaces[])(struct gp_live *, const struct gp_record_string *,
				     const char *) = {
		[GP_STRING_KERNEL] = name_kernel, [GP_STRING_API] = name_api,
		[GP_STRING_THREAD] = name_thread, [GP_STRING_DEVICE] = name_device,
		[GP_STRING_INFO] = set_info,
	};
	const struct gp_record_string *r = &seen->record->string;

	if (r->space == GP_STRING_RANGE)
		return gp_live_ranges_define(&l->ranges, r->id, seen->text, r->length_bytes);
	if (r->space >= sizeof(spaces) / sizeof(spaces[0]) || !spaces[r->space])
		return 0;
	return spaces[r->space](l, r, seen->text);
}

/* ---- calls ---- */

static void add(struct gp_live_flow *flow, uint64_t ns, uint64_t bytes)
{
	flow->now.count++;
	flow->now.ns += ns;
	flow->now.bytes += bytes;
}

static int add_call(struct gp_live *l, const struct gp_record_call *r)
{
	struct gp_live_api **page = &l->apis[r->api / GP_API_TABLE_PAGE];
	uint64_t duration_ticks = r->duration_low_ticks + ((uint64_t)r->duration_high_ticks << 32);
	struct gp_live_api *api;

	if (!*page)
		*page = calloc(GP_API_TABLE_PAGE, sizeof(**page));
	if (!*page)
		return -ENOMEM;
	api = &(*page)[r->api % GP_API_TABLE_PAGE];
	add(&api->all, 0, 0);
	if (GP_CALL_CODE(r->status) == 0 && !(r->status & GP_CALL_CAPTURED))
		add(&api->done, 0, 0);
	if (r->start_ticks + duration_ticks > l->newest_call_ticks)
		l->newest_call_ticks = r->start_ticks + duration_ticks;
	return 0;
}

static int live_call(struct gp_live *l, const struct gp_record_view *seen)
{
	return add_call(l, &seen->record->call);
}

static int live_memory(struct gp_live *l, const struct gp_record_view *seen)
{
	int result = add_call(l, &seen->record->memory.call);

	if (result != 0 || seen->record->memory.device_id >= GP_DEVICE_LIMIT)
		return result;
	return gp_live_memory_take(&l->memory, &seen->record->memory);
}

static int live_context_end(struct gp_live *l, const struct gp_record_view *seen)
{
	return gp_live_memory_end_context(&l->memory, &seen->record->context_end);
}

/* ---- what a device did ---- */

static int add_operation(struct gp_live *l, struct gp_live_flow *flow, uint16_t device,
			 uint64_t start_ns, uint64_t end_ns, uint64_t bytes)
{
	add(flow, end_ns > start_ns ? end_ns - start_ns : 0, bytes);
	if (device >= GP_DEVICE_LIMIT)
		return 0;
	if (end_ns > l->newest_operation_ns)
		l->newest_operation_ns = end_ns;
	return gp_live_busy_add(&l->busy, device, start_ns, end_ns);
}

static int live_kernel(struct gp_live *l, const struct gp_record_view *seen)
{
	const struct gp_record_kernel *r = &seen->record->kernel;
	struct gp_live_kernel *kernel = find_kernel(l, r->name_id);

	if (!kernel)
		return -ENOMEM;
	l->own_kernels += r->graph_node_id == 0 && !(r->flags & GP_KERNEL_DEVICE_LAUNCHED);
	add(&l->all_kernels, r->end_ns > r->start_ns ? r->end_ns - r->start_ns : 0, 0);
	return add_operation(l, &kernel->flow, r->device_id, r->start_ns, r->end_ns, 0);
}

static bool has_come(const struct gp_live *l, const struct gp_live_launch *launch)
{
	return gp_live_from_cupti(l, l->newest_operation_ns) >=
	       gp_live_from_ticks(l, launch->look.ticks);
}

const struct gp_record_in_flight *gp_live_open(const struct gp_live *l)
{
	const struct gp_record_in_flight *first = NULL;

	for (uint32_t i = 0; i < l->open_count; i++)
		if (!l->open[i].has_ended && !has_come(l, &l->open[i]) &&
		    (!first || l->open[i].look.correlation_id < first->correlation_id))
			first = &l->open[i].look;
	return first;
}

uint32_t gp_live_waited_for(const struct gp_live *l)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < l->open_count; i++)
		count += l->open[i].has_ended && !has_come(l, &l->open[i]);
	return count;
}

static void drop_what_has_come(struct gp_live *l)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < l->open_count; i++)
		if (!has_come(l, &l->open[i]))
			l->open[kept++] = l->open[i];
	l->open_count = kept;
}

static int live_in_flight(struct gp_live *l, const struct gp_record_view *seen)
{
	if (seen->record->in_flight.unasked != 0)
		return 0;
	if (l->open_count == l->open_capacity)
		drop_what_has_come(l);
	if (gp_array_grow(&l->open, &l->open_capacity, l->open_count, sizeof(*l->open)) != 0)
		return -ENOMEM;
	l->open[l->open_count++] = (struct gp_live_launch){.look = seen->record->in_flight};
	return 0;
}

/*
 * Numbers of calls are given when these begin: of calls of two threads that go on at once their
 * order counts.
 */
static int live_stream_wait(struct gp_live *l, const struct gp_record_view *seen)
{
	const struct gp_record_stream_wait *r = &seen->record->stream_wait;

	for (uint32_t i = 0; i < l->open_count; i++) {
		const struct gp_record_in_flight *look = &l->open[i].look;

		l->open[i].has_ended |= look->stream != 0 && look->stream == r->stream &&
					look->era == r->era &&
					(int32_t)(r->correlation_id - look->correlation_id) > 0;
	}
	return 0;
}

static int live_copy(struct gp_live *l, const struct gp_record_view *seen)
{
	const struct gp_record_copy *r = &seen->record->copy;
	uint8_t kind = r->copy_kind < GP_COPY_KINDS ? r->copy_kind : 0;

	if (kind == GP_COPY_HTOH) { /* no work of a device */
		add(&l->copies[kind], r->end_ns > r->start_ns ? r->end_ns - r->start_ns : 0,
		    r->bytes);
		return 0;
	}
	return add_operation(l, &l->copies[kind], r->device_id, r->start_ns, r->end_ns, r->bytes);
}

static int live_memset(struct gp_live *l, const struct gp_record_view *seen)
{
	const struct gp_record_memset *r = &seen->record->memset;

	return add_operation(l, &l->sets, r->device_id, r->start_ns, r->end_ns, r->bytes);
}

static int live_graph(struct gp_live *l, const struct gp_record_view *seen)
{
	const struct gp_record_graph *r = &seen->record->graph;

	return add_operation(l, &l->graphs, r->device_id, r->start_ns, r->end_ns, 0);
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
	gp_live_ranges_take(&l->ranges, &seen->record->range, seen->thread_id);
	return 0;
}

static int live_gate(struct gp_live *l, const struct gp_record_view *seen)
{
	l->is_paused = !seen->record->gate.on;
	l->has_paused |= l->is_paused && seen->record->gate.reason != GP_GATE_FULL;
	l->gate_reason = seen->record->gate.reason;
	return 0;
}

static int live_end(struct gp_live *l, const struct gp_record_view *seen)
{
	if (seen->record->end.reason == GP_END_EXIT)
		l->end_ticks = seen->record->end.ticks;
	return 0;
}

/* What `top` does not show. */
GP_RECORD_IGNORE(live, overhead)
GP_RECORD_IGNORE(live, shape)
GP_RECORD_IGNORE(live, context)
GP_RECORD_IGNORE(live, stream)
GP_RECORD_IGNORE(live, usage)
GP_RECORD_IGNORE(live, sync)
GP_RECORD_IGNORE(live, event)
GP_RECORD_IGNORE(live, node)
GP_RECORD_IGNORE(live, jit)
GP_RECORD_IGNORE(live, pool)
GP_RECORD_IGNORE(live, unified)
GP_RECORD_IGNORE(live, frame)
GP_RECORD_IGNORE(live, module)
GP_RECORD_IGNORE(live, link)
GP_RECORD_IGNORE(live, host_function)
GP_RECORD_IGNORE(live, sample)
/* What the tail of the trace keeps itself (report/trace/tail.h). */
GP_RECORD_IGNORE(live, thread)
GP_RECORD_IGNORE(live, counter)
GP_RECORD_IGNORE(live, waiting)

GP_RECORD_VISITOR(gp_live_take, live, struct gp_live)
