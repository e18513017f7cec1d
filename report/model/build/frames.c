#include <errno.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/model/build/build.h"
#include "report/base/spill_memory.h"
#include "report/model/build/unwind_copy.h"

/* Indices of frames by the lowest bits of their ids: the stacks of a loop come again and again. */
#define RECENT 4096u

GP_COMPARE_BY(compare_frames, struct gp_frame, id)

static uint32_t find_frame(const struct gp_model *m, uint32_t id, uint32_t recent[RECENT])
{
	uint32_t *at = &recent[id % RECENT];
	const struct gp_frame *frame;

	if (id == 0 || m->frame_count == 0)
		return GP_NONE;
	if (m->frames[*at].id == id)
		return *at;
	frame = gp_array_find(m->frames, m->frame_count, sizeof(*m->frames), compare_frames,
			      &(struct gp_frame){.id = id});
	if (!frame)
		return GP_NONE;
	*at = (uint32_t)(frame - m->frames);
	return *at;
}

/* Of a module before, or of the same one and not after an address. */
static bool begins_until(const void *element, const void *key)
{
	const struct gp_record_module *module = element, *wanted = key;

	return module->id < wanted->id ||
	       (module->id == wanted->id && module->start_address <= wanted->start_address);
}

/*
 * The last mapping of a module that begins at the address or before it, else the module's first
 * one.
 */
static uint32_t find_module(const struct gp_model *m, uint32_t id, uint64_t address)
{
	const struct gp_record_module key = {.id = id, .start_address = address};
	uint32_t after = gp_array_lower_bound(m->modules, m->module_count, sizeof(*m->modules),
					      begins_until, &key);

	if (after > 0 && m->modules[after - 1].id == id)
		return after - 1;
	return after < m->module_count && m->modules[after].id == id ? after : GP_NONE;
}

static uint32_t find_origin(const struct gp_model *m, const struct gp_frame *frame)
{
	const struct gp_text *code;

	if (frame->kind != GP_FRAME_PYTHON)
		return find_module(m, frame->origin, frame->address);
	code = gp_model_text(m, GP_STRING_CODE, 0, frame->origin);
	return code ? (uint32_t)(code - m->texts) : GP_NONE;
}

/*
 * A frame comes after its callers, with a higher id. Anything else is damage: a parent that is not
 * lower ends the stack, and so does a depth beyond GP_FRAME_DEPTH.
 */
static void resolve_parent(struct gp_model *m, struct gp_frame *frame, uint16_t *depths,
			   uint32_t recent[RECENT])
{
	uint32_t index = (uint32_t)(frame - m->frames), id = frame->parent;

	frame->parent = id < frame->id ? find_frame(m, id, recent) : GP_NONE;
	if (frame->parent != GP_NONE && depths[frame->parent] + 1 >= GP_FRAME_DEPTH)
		frame->parent = GP_NONE;
	depths[index] = 0;
	if (frame->parent != GP_NONE)
		depths[index] = (uint16_t)(depths[frame->parent] + 1);
	else if (frame->kind == GP_FRAME_COPY) /* may become as many */
		depths[index] = GP_UNWOUND_DEPTH;
	frame->has_no_root = id != 0 && frame->parent == GP_NONE;
	m->losses.unknown_records += frame->has_no_root;
}

/* ---- stacks that were copied, to be unwound here ---- */

/*
 * The model's frames, with those of the copies put in front of the frame that stands for the copy,
 * callers first.
 */
struct expansion {
	struct gp_frame *frames;
	uint32_t count, capacity;
	uint32_t *places; /* new indices, by the old ones */
	struct gp_unwinder *unwinder;
	struct gp_unwound unwound;
};

static int put_frame(struct expansion *e, const struct gp_frame *frame)
{
	int error = gp_array_grow_spill(&e->frames, &e->capacity, e->count, sizeof(*e->frames));

	if (error == 0)
		e->frames[e->count++] = *frame;
	return error;
}

/* The mapping around an address: of several, the one that was met last. */
static uint32_t find_mapping(const struct gp_model *m, uint64_t pc)
{
	uint32_t count = m->module_count;

	if (count > GP_UNWINDER_MODULES)
		count = GP_UNWINDER_MODULES;
	for (uint32_t i = count; i-- > 0;)
		if (pc > m->modules[i].start_address && pc <= m->modules[i].end_address)
			return i;
	return GP_NONE;
}

/* The unwound frames of a copy; the innermost one takes the place of the copy's frame. */
static int put_unwound(struct expansion *e, const struct gp_model *m, struct gp_frame frame)
{
	const struct gp_unwound *unwound = &e->unwound;
	int error = 0;

	if (!unwound->is_whole) {
		frame.kind = GP_FRAME_STUCK;
		frame.address = unwound->pcs[unwound->count - 1];
		frame.origin = find_mapping(m, frame.address);
		error = put_frame(e, &frame);
		frame.parent = e->count - 1;
	}
	frame.kind = GP_FRAME_NATIVE;
	for (uint32_t i = unwound->count; i > 0 && error == 0; i--) {
		frame.address = unwound->pcs[i - 1];
		frame.origin = find_mapping(m, frame.address);
		error = put_frame(e, &frame);
		frame.parent = e->count - 1;
	}
	return error;
}

static int expand_frame(struct expansion *e, const struct gp_model *m, uint32_t at)
{
	struct gp_frame frame = m->frames[at];
	const struct gp_text *copy = NULL;
	int error;

	if (frame.parent != GP_NONE)
		frame.parent = e->places[frame.parent];
	else if (frame.kind == GP_FRAME_COPY)
		copy = gp_model_text(m, GP_STRING_STACK_COPY, 0, frame.id);
	e->unwound.count = 0;
	if (copy)
		gp_unwind_copy(e->unwinder, copy->bytes, copy->length, &e->unwound);
	error = e->unwound.count > 0 ? put_unwound(e, m, frame) : put_frame(e, &frame);
	e->places[at] = e->count - 1;
	return error;
}

static void adopt_frames(struct gp_model *m, struct expansion *e)
{
	gp_spill_free(m->frames);
	m->frames = e->frames;
	m->frame_count = e->count;
	e->frames = NULL;
	for (uint32_t i = 0; i < m->call_count; i++)
		if (m->calls[i].stack != GP_NONE)
			m->calls[i].stack = e->places[m->calls[i].stack];
	for (uint32_t i = 0; i < m->sample_count; i++)
		if (m->samples[i].stack != GP_NONE)
			m->samples[i].stack = e->places[m->samples[i].stack];
}

static bool has_copies(const struct gp_model *m)
{
	for (uint32_t i = 0; i < m->frame_count; i++)
		if (m->frames[i].kind == GP_FRAME_COPY)
			return true;
	return false;
}

/* Copies stay as they are if no file of a module is there. */
static int unwind_copies(struct gp_model *m)
{
	struct expansion e = {.unwinder = has_copies(m) ? gp_unwinder_new(m) : NULL};
	int error = 0;

	if (!e.unwinder)
		return 0;
	e.places = malloc((size_t)m->frame_count * sizeof(*e.places));
	if (!e.places)
		error = -ENOMEM;
	for (uint32_t i = 0; i < m->frame_count && error == 0; i++)
		error = expand_frame(&e, m, i);
	if (error == 0)
		adopt_frames(m, &e);
	gp_unwinder_free(e.unwinder);
	free(e.places);
	gp_spill_free(e.frames);
	return error;
}

int gp_resolve_stacks(struct gp_model *m)
{
	uint32_t recent[RECENT] = {0};
	uint16_t *depths = calloc((size_t)m->frame_count + 1, sizeof(*depths));

	if (!depths)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->frame_count; i++) {
		struct gp_frame *frame = &m->frames[i];
		uint32_t origin = frame->origin;

		resolve_parent(m, frame, depths, recent);
		frame->origin = origin == 0 ? GP_NONE : find_origin(m, frame);
		m->losses.unknown_records += origin != 0 && frame->origin == GP_NONE;
	}
	free(depths);
	for (uint32_t i = 0; i < m->call_count; i++) {
		uint32_t id = m->calls[i].stack;

		m->calls[i].stack = find_frame(m, id, recent);
		m->losses.unknown_records += id != 0 && m->calls[i].stack == GP_NONE;
	}
	for (uint32_t i = 0; i < m->sample_count; i++) {
		uint32_t id = m->samples[i].stack;

		m->samples[i].stack = find_frame(m, id, recent);
		m->losses.unknown_records += m->samples[i].stack == GP_NONE;
	}
	return unwind_copies(m);
}
