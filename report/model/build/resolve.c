#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/model/build/build.h"
#include "report/base/spill_memory.h"

/* ---- definitions: sorted by id, the last of each id kept ---- */

GP_COMPARE_BY(compare_named, struct gp_named, id)
GP_COMPARE_BY(compare_threads, struct gp_thread, id)
GP_COMPARE_BY(compare_frames, struct gp_frame, id)
GP_COMPARE_BY_TWO(compare_energies, struct gp_energy, device_id, time_ns)
GP_COMPARE_BY(compare_gates, struct gp_gate, time_ns)
GP_COMPARE_BY_TWO(compare_calls, struct gp_call, thread_id, start_ns)
GP_COMPARE_BY_TWO(compare_samples, struct gp_sample, thread_id, start_ns)
GP_COMPARE_BY(compare_refusals, struct gp_refusal, call)
#define GP_MODEL_DEFINITIONS(name, kind, first_key, second_key)                                    \
	GP_COMPARE_BY_TWO(compare_##name, struct gp_record_##name, first_key, second_key)
#define GP_MODEL_RECORDS(name, kind, key, start, end, anchors)                                     \
	GP_COMPARE_BY_TWO(compare_##name, struct gp_record_##name, key, start)
#include "report/model/array.def"

/* Names that the program gave come after others of the same thread. */
static int compare_thread_names(const void *a, const void *b, const void *context)
{
	const struct gp_thread *left = a, *right = b;

	if (left->id == right->id)
		return left->is_given - right->is_given;
	return compare_threads(a, b, context);
}

static void drop_named(void *element)
{
	free(((struct gp_named *)element)->text);
}

static void drop_thread(void *element)
{
	free((char *)((struct gp_thread *)element)->name);
}

static void drop_text(void *element)
{
	free(((struct gp_text *)element)->bytes);
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

		if (compare(last, next, NULL) != 0)
			last = at + ++kept * element_bytes;
		else if (drop)
			drop(last);
		if (last != next)
			memcpy(last, next, element_bytes);
	}
	*count = kept + 1;
	return 0;
}

static int settle_definitions(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;
	struct {
		void *array;
		uint32_t *count;
		size_t element_bytes;
		gp_array_compare *compare;
		void (*drop)(void *element);
	} kinds[] = {
#define KIND(array, count, compare, drop) {array, &(count), sizeof(*(array)), compare, drop}
		KIND(b->names, m->name_count, compare_named, drop_named),
		KIND(b->device_names, b->device_name_count, compare_named, drop_named),
		KIND(m->threads, m->thread_count, compare_thread_names, drop_thread),
		KIND(m->threads, m->thread_count, compare_threads, drop_thread),
		KIND(m->frames, m->frame_count, compare_frames, NULL),
		KIND(m->texts, m->text_count, gp_text_compare, drop_text),
#define GP_MODEL_DEFINITIONS(name, ...) KIND(m->name##s, m->name##_count, compare_##name, NULL),
#include "report/model/array.def"
	};

	for (size_t i = 0; i < COUNT(kinds); i++)
		if (sort_and_keep_last(kinds[i].array, kinds[i].count, kinds[i].element_bytes,
				       kinds[i].compare, kinds[i].drop) != 0)
			return -ENOMEM;
	return 0;
}

static bool is_lower_id(const void *element, const void *id)
{
	return *(const uint32_t *)element < *(const uint32_t *)id;
}

/* Index of the element with that id, GP_NONE if there is none. Ids mostly follow each
 * other without gaps. */
static uint32_t find_id(const void *array, uint32_t count, size_t element_bytes, size_t id_offset,
			uint32_t id)
{
	uint32_t first, value, found;
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
	found = gp_array_lower_bound(at, count, element_bytes, is_lower_id, &id);
	return found < count && memcmp(at + found * element_bytes, &id, sizeof(id)) == 0 ? found
											 : GP_NONE;
}

static uint32_t find_name(const struct gp_model_builder *b, uint32_t id)
{
	return find_id(b->names, b->model->name_count, sizeof(*b->names),
		       offsetof(struct gp_named, id), id);
}

static uint32_t find_shape(const struct gp_model *m, uint32_t id)
{
	return find_id(m->shapes, m->shape_count, sizeof(*m->shapes),
		       offsetof(struct gp_record_shape, id), id);
}

void gp_resolve_op(const struct gp_model_builder *b, struct gp_op *op)
{
	struct gp_model *m = b->model;
	uint32_t name = op->name, shape = op->shape;

	if (op->kind != GP_OP_KERNEL)
		return;
	op->name = find_name(b, name);
	op->shape = find_shape(m, shape);
	if ((op->name == GP_NONE && name != 0) || (op->shape == GP_NONE && shape != 0))
		m->losses.unknown_records++;
}

/* "NVIDIA H200", or "NVIDIA H200 (the program's name for it)". */
static char *name_device(const struct gp_model_builder *b, uint16_t device_id)
{
	const struct gp_text *given = gp_model_text(b->model, GP_STRING_DEVICE, 0, device_id);
	uint32_t at = find_id(b->device_names, b->device_name_count, sizeof(*b->device_names),
			      offsetof(struct gp_named, id), device_id);
	const char *name = at == GP_NONE ? "" : b->device_names[at].text;
	char *both;

	if (!given || given->length == 0)
		return strdup(name);
	return asprintf(&both, "%s%s(%s)", name, *name ? " " : "", given->bytes) < 0 ? NULL : both;
}

static int move_names(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;

	m->names = gp_spill_take_zeroed((size_t)m->name_count + 1, sizeof(*m->names));
	m->device_names =
		gp_spill_take_zeroed((size_t)m->device_count + 1, sizeof(*m->device_names));
	if (!m->names || !m->device_names)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->name_count; i++) {
		m->names[i] = b->names[i].text;
		b->names[i].text = NULL;
	}
	for (uint32_t i = 0; i < m->device_count; i++) {
		m->device_names[i] = name_device(b, m->devices[i].device_id);
		if (!m->device_names[i])
			return -ENOMEM;
	}
	return 0;
}

/* ---- calls in their order, and indices of calls ---- */

/* A thread that made a call and is not among those with a name, which come first. */
static int add_thread(struct gp_model_builder *b, uint32_t named, uint32_t id)
{
	struct gp_model *m = b->model;
	struct gp_thread thread = {.id = id};

	if (find_id(m->threads, named, sizeof(thread), offsetof(struct gp_thread, id), id) !=
	    GP_NONE)
		return 0;
	thread.name = strdup("");
	if (!thread.name || gp_array_grow_spill(&m->threads, &b->capacity.threads, m->thread_count,
						sizeof(thread)) != 0) {
		free((char *)thread.name);
		return -ENOMEM;
	}
	m->threads[m->thread_count++] = thread;
	return 0;
}

GP_COMPARE_BY_AND_DOWN(compare_overheads, struct gp_overhead, start_ns, end_ns)

int gp_order_overheads(struct gp_model *m)
{
	return gp_array_sort(m->overheads, m->overhead_count, sizeof(*m->overheads),
			     compare_overheads, NULL);
}

/* Records that only need their order. */
static int order_records(struct gp_model *m)
{
	const struct {
		void *array;
		uint32_t count;
		size_t record_bytes;
		gp_array_compare *compare;
	} kinds[] = {
		{m->energies, m->energy_count, sizeof(*m->energies), compare_energies},
		{m->gates, m->gate_count, sizeof(*m->gates), compare_gates},
		{m->samples, m->sample_count, sizeof(*m->samples), compare_samples},
#define GP_MODEL_RECORDS(name, ...)                                                                \
	{m->name##s, m->name##_count, sizeof(*m->name##s), compare_##name},
#include "report/model/array.def"
	};
	int result = gp_order_overheads(m);

	for (size_t i = 0; result == 0 && i < COUNT(kinds); i++)
		result = gp_array_sort(kinds[i].array, kinds[i].count, kinds[i].record_bytes,
				       kinds[i].compare, NULL);
	return result;
}

/*
 * If only the last part of the trace is kept, it begins with the last record that says so, unless
 * recording had paused then.
 */
static void drop_old_kept(struct gp_model *m)
{
	uint32_t last = GP_NONE, kept = 0;

	for (uint32_t i = 0; i < m->gate_count; i++)
		if (m->gates[i].reason == GP_GATE_KEPT)
			last = i;
	for (uint32_t i = 0; i < m->gate_count; i++) {
		bool is_right =
			i == last && kept == 0 && (i + 1 == m->gate_count || !m->gates[i + 1].on);

		if (m->gates[i].reason != GP_GATE_KEPT || is_right)
			m->gates[kept++] = m->gates[i];
	}
	m->gate_count = kept;
}

/*
 * A gate that was open opens no more, nor does one that was from the start: keep those that change
 * something.
 */
static void settle_gates(struct gp_model *m)
{
	uint32_t kept = 0;

	drop_old_kept(m);
	for (uint32_t i = 0; i < m->gate_count; i++) {
		const struct gp_gate *gate = &m->gates[i];
		bool changes = kept > 0 ? gate->on != m->gates[kept - 1].on
					: !gate->on || gate->reason != GP_GATE_START;

		if (changes)
			m->gates[kept++] = *gate;
	}
	m->gate_count = kept;
}

/* The recorder fetches hardware samples later, so some of them may be of a pause. */
static void drop_paused_samples(struct gp_model *m)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->hw_sample_count; i++)
		if (gp_model_records_at(m, m->hw_samples[i].start_ns) ||
		    gp_model_records_at(m, m->hw_samples[i].end_ns))
			m->hw_samples[kept++] = m->hw_samples[i];
	m->hw_sample_count = kept;
}

/* And every thread that made a call is in the list, under its name if it has one. */
static int order_calls(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;
	uint32_t named = m->thread_count;
	int result = gp_array_sort(m->calls, m->call_count, sizeof(*m->calls), compare_calls, NULL);

	for (uint32_t i = 0; i < m->call_count && result == 0; i++) {
		struct gp_call *call = &m->calls[i];

		if (i == 0 || call[-1].thread_id != call->thread_id)
			result = add_thread(b, named, call->thread_id);
		if (call->memory != GP_NONE)
			m->memory[call->memory].call = i;
		if (call->first_op != GP_NONE && call->status != 0)
			m->refusals[call->first_op].call = i;
		else if (call->first_op != GP_NONE)
			m->mappings[call->first_op].call = i;
		call->first_op = GP_NONE;
	}
	if (result == 0)
		result = gp_array_sort(m->refusals, m->refusal_count, sizeof(*m->refusals),
				       compare_refusals, NULL);
	return result == 0 ? sort_and_keep_last(m->threads, &m->thread_count, sizeof(*m->threads),
						compare_threads, drop_thread)
			   : result;
}

static void name_in_flight(struct gp_model_builder *b)
{
	struct gp_model *m = b->model;

	for (uint32_t i = 0; i < m->in_flight_count; i++)
		m->in_flight[i].name = find_name(b, m->in_flight[i].name);
}

int gp_resolve(struct gp_model_builder *b)
{
	if (settle_definitions(b) != 0)
		return -ENOMEM;
	if (gp_resolve_stacks(b->model) != 0)
		return -ENOMEM;
	if (move_names(b) != 0 || gp_resolve_times(b) != 0 || order_calls(b) != 0 ||
	    gp_note_hw_windows(b) != 0 || order_records(b->model) != 0)
		return -ENOMEM;
	settle_gates(b->model);
	drop_paused_samples(b->model);
	name_in_flight(b);
	return 0;
}
