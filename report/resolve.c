#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/array.h"
#include "report/load.h"

/* An operation that began so long before the first anchor has no true time. */
#define EARLIEST_NS (-3600 * INT64_C(1000000000))

/* ---- definitions: sorted by id, the last of each id kept ---- */

/* Every definition begins its comparison with a function of this kind. */
static int compare_ids(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

#define COMPARE(name, type, id_of)                                                                 \
	static int compare_##name(const void *a, const void *b, const void *context)               \
	{                                                                                          \
		const type *left = a, *right = b;                                                  \
                                                                                                   \
		(void)context;                                                                     \
		return compare_ids(id_of(left), id_of(right));                                     \
	}
#define ID(r)        ((r)->id)
#define DEVICE_ID(r) ((r)->device_id)
#define STREAM_ID(r) ((uint64_t)(r)->context_id << 32 | (r)->id)
COMPARE(named, struct gp_named, ID)
COMPARE(threads, struct gp_thread, ID)
COMPARE(shapes, struct gp_record_shape, ID)
COMPARE(contexts, struct gp_record_context, ID)
COMPARE(devices, struct gp_record_device, DEVICE_ID)
COMPARE(streams, struct gp_record_stream, STREAM_ID)

static void drop_nothing(void *element)
{
	(void)element;
}

static void drop_named(void *element)
{
	free(((struct gp_named *)element)->text);
}

static void drop_thread(void *element)
{
	free((char *)((struct gp_thread *)element)->name);
}

static int sort_and_keep_last(void *array, uint32_t *count, size_t element_bytes,
			      gp_array_compare *compare, void (*drop)(void *element))
{
	char *at = array;
	uint32_t kept = 0;

	if (*count == 0)
		return 0;
	if (gp_array_sort(array, *count, element_bytes, compare, NULL) != 0)
		return -ENOMEM;
	for (uint32_t i = 1; i < *count; i++) {
		char *last = at + kept * element_bytes, *next = at + i * element_bytes;

		if (compare(last, next, NULL) == 0)
			drop(last);
		else
			last = at + ++kept * element_bytes;
		if (last != next)
			memcpy(last, next, element_bytes);
	}
	*count = kept + 1;
	return 0;
}

static int settle_definitions(struct gp_load *load)
{
	struct gp_model *m = load->model;
	struct {
		void *array;
		uint32_t *count;
		size_t element_bytes;
		gp_array_compare *compare;
		void (*drop)(void *element);
	} kinds[] = {
		{load->names, &m->name_count, sizeof(*load->names), compare_named, drop_named},
		{load->device_names, &load->device_name_count, sizeof(*load->device_names),
		 compare_named, drop_named},
		{m->threads, &m->thread_count, sizeof(*m->threads), compare_threads, drop_thread},
		{m->shapes, &m->shape_count, sizeof(*m->shapes), compare_shapes, drop_nothing},
		{m->contexts, &m->context_count, sizeof(*m->contexts), compare_contexts,
		 drop_nothing},
		{m->devices, &m->device_count, sizeof(*m->devices), compare_devices, drop_nothing},
		{m->streams, &m->stream_count, sizeof(*m->streams), compare_streams, drop_nothing},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (sort_and_keep_last(kinds[i].array, kinds[i].count, kinds[i].element_bytes,
				       kinds[i].compare, kinds[i].drop) != 0)
			return -ENOMEM;
	return 0;
}

/* Index of the element with that id, GP_NONE if there is none. Ids mostly follow each
 * other without gaps. */
static uint32_t find_id(const void *array, uint32_t count, size_t element_bytes, size_t id_offset,
			uint32_t id)
{
	uint32_t low = 0, high = count, first, value;
	const char *at;

	if (count == 0)
		return GP_NONE;
	at = (const char *)array + id_offset;
	memcpy(&first, at, sizeof(first));
	if (id >= first && id - first < count) {
		memcpy(&value, at + (id - first) * element_bytes, sizeof(value));
		if (value == id)
			return id - first;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		memcpy(&value, at + middle * element_bytes, sizeof(value));
		if (value == id)
			return middle;
		if (value < id)
			low = middle + 1;
		else
			high = middle;
	}
	return GP_NONE;
}

static uint32_t find_name(const struct gp_load *load, uint32_t id)
{
	return find_id(load->names, load->model->name_count, sizeof(*load->names),
		       offsetof(struct gp_named, id), id);
}

static uint32_t find_shape(const struct gp_model *m, uint32_t id)
{
	return find_id(m->shapes, m->shape_count, sizeof(*m->shapes),
		       offsetof(struct gp_record_shape, id), id);
}

static void resolve_ids(struct gp_load *load)
{
	struct gp_model *m = load->model;

	for (uint32_t i = 0; i < m->op_count; i++) {
		struct gp_op *op = &m->ops[i];
		uint32_t name = op->name, shape = op->shape;

		if (op->kind != GP_OP_KERNEL)
			continue;
		op->name = find_name(load, name);
		op->shape = find_shape(m, shape);
		if ((op->name == GP_NONE && name != 0) || (op->shape == GP_NONE && shape != 0))
			m->losses.unknown_records++;
	}
}

static int move_names(struct gp_load *load)
{
	struct gp_model *m = load->model;

	m->names = calloc((size_t)m->name_count + 1, sizeof(*m->names));
	m->device_names = calloc((size_t)m->device_count + 1, sizeof(*m->device_names));
	if (!m->names || !m->device_names)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->name_count; i++) {
		m->names[i] = load->names[i].text;
		load->names[i].text = NULL;
	}
	for (uint32_t i = 0; i < m->device_count; i++) {
		uint32_t at = find_id(load->device_names, load->device_name_count,
				      sizeof(*load->device_names), offsetof(struct gp_named, id),
				      m->devices[i].device_id);

		m->device_names[i] = strdup(at == GP_NONE ? "" : load->device_names[at].text);
		if (!m->device_names[i])
			return -ENOMEM;
	}
	return 0;
}

/* ---- times ---- */

/* Without any anchor the two clocks are put together where each first occurs. */
static struct gp_record_anchor make_anchor(const struct gp_model *m)
{
	struct gp_record_anchor anchor = {.ticks = UINT64_MAX, .cupti_ns = UINT64_MAX};

	for (uint32_t i = 0; i < m->call_count; i++)
		if (m->calls[i].start_ns < anchor.ticks)
			anchor.ticks = m->calls[i].start_ns;
	for (uint32_t i = 0; i < m->op_count; i++)
		if (m->ops[i].start_ns != 0 && m->ops[i].start_ns < anchor.cupti_ns)
			anchor.cupti_ns = m->ops[i].start_ns;
	anchor.cupti_ticks = anchor.ticks;
	anchor.realtime_ns = anchor.cupti_ns == UINT64_MAX ? 0 : anchor.cupti_ns;
	return anchor;
}

static struct gp_timeline *make_timeline(const struct gp_load *load)
{
	const char *text = load->model->info[GP_INFO_TICKS_PER_SECOND];
	double ticks_per_second = text ? strtod(text, NULL) : 0;
	struct gp_record_anchor substitute;

	if (load->anchor_count > 0)
		return gp_timeline_new(load->anchors, load->anchor_count, ticks_per_second);
	substitute = make_anchor(load->model);
	return gp_timeline_new(&substitute, 1, ticks_per_second);
}

static int64_t time_calls(struct gp_model *m, struct gp_timeline *t, int64_t earliest)
{
	for (uint32_t i = 0; i < m->call_count; i++) {
		struct gp_call *call = &m->calls[i];
		int64_t start = gp_timeline_from_ticks(t, call->start_ns);
		int64_t end = gp_timeline_from_ticks(t, call->start_ns + call->duration_ns);

		call->start_ns = (uint64_t)start;
		call->duration_ns = end > start ? (uint64_t)(end - start) : 0;
		earliest = start < earliest ? start : earliest;
	}
	return earliest;
}

/* Convert a span of CUPTI's clock; true if its end came before its start. */
static bool time_span(struct gp_timeline *t, uint32_t anchors_before, uint64_t *start_ns,
		      uint64_t *end_ns)
{
	bool reversed = *end_ns < *start_ns;
	int64_t start = gp_timeline_from_cupti(t, *start_ns, anchors_before);
	int64_t end = reversed ? start : gp_timeline_from_cupti(t, *end_ns, anchors_before);

	if (end < start) /* the clock was set between them */
		end = start + (int64_t)((*end_ns - *start_ns) & INT32_MAX);
	*start_ns = (uint64_t)start;
	*end_ns = (uint64_t)end;
	return reversed;
}

static void leave_untimed(struct gp_model *m, struct gp_op *op)
{
	op->start_ns = op->end_ns = 0;
	op->untimed = 1;
	m->losses.ops_untimed++;
}

static int64_t time_ops(struct gp_model *m, struct gp_timeline *t, int64_t earliest)
{
	for (uint32_t i = 0; i < m->op_count; i++) {
		struct gp_op *op = &m->ops[i];
		uint32_t anchors_before = op->next_op;
		bool has_times = op->start_ns != 0 && op->end_ns != 0;

		op->next_op = GP_NONE;
		if (has_times && time_span(t, anchors_before, &op->start_ns, &op->end_ns))
			m->losses.ops_reversed++;
		if (!has_times || (int64_t)op->start_ns < EARLIEST_NS)
			leave_untimed(m, op);
		else if ((int64_t)op->start_ns < earliest)
			earliest = (int64_t)op->start_ns;
	}
	return earliest;
}

static int64_t time_overheads(struct gp_load *load, struct gp_timeline *t, int64_t earliest)
{
	struct gp_model *m = load->model;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->overhead_count; i++) {
		struct gp_overhead *o = &m->overheads[i];

		time_span(t, load->overhead_anchors[i], &o->start_ns, &o->end_ns);
		if ((int64_t)o->start_ns < EARLIEST_NS)
			continue;
		if ((int64_t)o->start_ns < earliest)
			earliest = (int64_t)o->start_ns;
		m->overheads[kept++] = *o;
	}
	m->losses.unknown_records += m->overhead_count - kept;
	m->overhead_count = kept;
	return earliest;
}

static int64_t time_usages(struct gp_model *m, struct gp_timeline *t, int64_t earliest)
{
	for (uint32_t i = 0; i < m->usage_count; i++) {
		int64_t time = gp_timeline_from_ticks(t, m->usages[i].time_ns);

		m->usages[i].time_ns = (uint64_t)time;
		earliest = time < earliest ? time : earliest;
	}
	return earliest;
}

static int64_t time_context_ends(struct gp_load *load, struct gp_timeline *t, int64_t earliest)
{
	for (uint32_t i = 0; i < load->context_end_count; i++) {
		int64_t time = gp_timeline_from_ticks(t, load->context_ends[i].time_ns);

		load->context_ends[i].time_ns = (uint64_t)time;
		earliest = time < earliest ? time : earliest;
	}
	return earliest;
}

/* Nothing may lie before 0: let the base begin as early as the earliest. */
static void shift_base(struct gp_load *load, uint64_t shift)
{
	struct gp_model *m = load->model;

	if (shift == 0)
		return;
	for (uint32_t i = 0; i < m->call_count; i++)
		m->calls[i].start_ns += shift;
	for (uint32_t i = 0; i < m->op_count; i++) {
		m->ops[i].start_ns += shift;
		m->ops[i].end_ns += shift;
	}
	for (uint32_t i = 0; i < m->overhead_count; i++) {
		m->overheads[i].start_ns += shift;
		m->overheads[i].end_ns += shift;
	}
	for (uint32_t i = 0; i < m->usage_count; i++)
		m->usages[i].time_ns += shift;
	for (uint32_t i = 0; i < load->context_end_count; i++)
		load->context_ends[i].time_ns += shift;
	m->base_unix_ns -= shift < m->base_unix_ns ? shift : m->base_unix_ns;
	m->base_monotonic_ns -= shift < m->base_monotonic_ns ? shift : m->base_monotonic_ns;
}

static uint64_t time_of(struct gp_timeline *t, uint64_t ticks, uint64_t shift)
{
	int64_t time = gp_timeline_from_ticks(t, ticks) + (int64_t)shift;

	return ticks != 0 && time > 0 ? (uint64_t)time : 0;
}

static int resolve_times(struct gp_load *load)
{
	struct gp_timeline *t = make_timeline(load);
	struct gp_model *m = load->model;
	int64_t earliest;
	uint64_t shift;

	if (!t)
		return -ENOMEM;
	m->base_unix_ns = gp_timeline_base_unix_ns(t);
	m->base_monotonic_ns = load->anchor_count > 0 ? load->anchors[0].monotonic_ns : 0;
	m->ns_per_tick = gp_timeline_ns_per_tick(t);
	earliest = time_calls(m, t, 0);
	earliest = time_ops(m, t, earliest);
	earliest = time_overheads(load, t, earliest);
	earliest = time_usages(m, t, earliest);
	earliest = time_context_ends(load, t, earliest);
	shift = (uint64_t)-earliest;
	shift_base(load, shift);
	m->end_ns = time_of(t, load->end_ticks, shift);
	m->last_delivery_ns = time_of(t, m->counters[GP_COUNTER_LAST_DELIVERY_TICKS], shift);
	gp_timeline_free(t);
	return 0;
}

/* ---- calls in their order, and what hangs on that ---- */

static int compare_calls(const void *a, const void *b, const void *context)
{
	const struct gp_call *left = a, *right = b;

	(void)context;
	if (left->thread_id != right->thread_id)
		return left->thread_id < right->thread_id ? -1 : 1;
	return compare_ids(left->start_ns, right->start_ns);
}

/* Every thread that made a call is in the list, under its name if it has one. Calls are sorted by
 * thread. */
static int complete_threads(struct gp_load *load)
{
	struct gp_model *m = load->model;
	uint32_t named = m->thread_count;

	for (uint32_t i = 0; i < m->call_count; i++) {
		struct gp_thread thread = {m->calls[i].thread_id, NULL};

		if (i > 0 && m->calls[i - 1].thread_id == thread.id)
			continue;
		if (find_id(m->threads, named, sizeof(thread), offsetof(struct gp_thread, id),
			    thread.id) != GP_NONE)
			continue;
		thread.name = strdup("");
		if (!thread.name || gp_array_grow(&m->threads, &load->capacity.threads,
						  m->thread_count, sizeof(thread)) != 0) {
			free((char *)thread.name);
			return -ENOMEM;
		}
		m->threads[m->thread_count++] = thread;
	}
	return sort_and_keep_last(m->threads, &m->thread_count, sizeof(*m->threads),
				  compare_threads, drop_thread);
}

static int order_calls(struct gp_model *m)
{
	if (gp_array_sort(m->calls, m->call_count, sizeof(*m->calls), compare_calls, NULL) != 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->call_count; i++)
		if (m->calls[i].memory != GP_NONE)
			m->memory[m->calls[i].memory].call = i;
	return 0;
}

int gp_resolve(struct gp_load *load)
{
	if (settle_definitions(load) != 0)
		return -ENOMEM;
	resolve_ids(load);
	if (move_names(load) != 0 || resolve_times(load) != 0 || order_calls(load->model) != 0)
		return -ENOMEM;
	return complete_threads(load);
}
