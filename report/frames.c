#include <errno.h>
#include <stdlib.h>

#include "report/load.h"

/* Indices of frames by the lowest bits of their ids: the stacks of a loop come again and again. */
#define RECENT 4096u

static int compare_ids(const void *key, const void *element)
{
	uint32_t left = *(const uint32_t *)key, right = ((const struct gp_frame *)element)->id;

	return (left > right) - (left < right);
}

static uint32_t find_frame(const struct gp_model *m, uint32_t id, uint32_t recent[RECENT])
{
	uint32_t *at = &recent[id % RECENT];
	const struct gp_frame *frame;

	if (id == 0 || m->frame_count == 0)
		return GP_NONE;
	if (m->frames[*at].id == id)
		return *at;
	frame = bsearch(&id, m->frames, m->frame_count, sizeof(*m->frames), compare_ids);
	if (!frame)
		return GP_NONE;
	*at = (uint32_t)(frame - m->frames);
	return *at;
}

/* The last mapping of a module that begins at the address or before it, else the module's first one. */
static uint32_t find_module(const struct gp_model *m, uint32_t id, uint64_t address)
{
	uint32_t low = 0, high = m->module_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct gp_record_module *module = &m->modules[middle];

		if (module->id < id || (module->id == id && module->start_address <= address))
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && m->modules[low - 1].id == id)
		return low - 1;
	return low < m->module_count && m->modules[low].id == id ? low : GP_NONE;
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
 * A frame is told after its callers, under a higher id.  What claims otherwise is damage: a parent that is
 * not lower ends the stack, and so does a depth beyond all bounds.
 */
static void resolve_parent(struct gp_model *m, struct gp_frame *frame, uint16_t *depths,
			   uint32_t recent[RECENT])
{
	uint32_t index = (uint32_t)(frame - m->frames), id = frame->parent;

	frame->parent = id < frame->id ? find_frame(m, id, recent) : GP_NONE;
	if (frame->parent != GP_NONE && depths[frame->parent] + 1 >= GP_FRAME_DEPTH)
		frame->parent = GP_NONE;
	depths[index] = frame->parent == GP_NONE ? 0 : (uint16_t)(depths[frame->parent] + 1);
	frame->has_no_root = id != 0 && frame->parent == GP_NONE;
	m->losses.unknown_records += frame->has_no_root;
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
	return 0;
}
