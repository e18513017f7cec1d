#include <errno.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/model/handles.h"
#include "report/model/build/build.h"
#include "report/base/spill_memory.h"

/*
 * Physical memory lives as long as an ownership of its handle or a mapping of it.  So that the rest
 * sees one free for each allocation, a release that leaves any is taken for a call like others, and
 * an unmapping that leaves none becomes the free.
 */

/* An event of the model or a point, in order of time. */
struct step {
	uint64_t time_ns;
	uint32_t index;
	bool is_point;
};

struct following {
	struct gp_model_builder *builder;
	struct gp_handles handles;
};

GP_COMPARE_BY(compare_steps, struct step, time_ns)

/* The memory of the handle is gone by an unmapping. */
static int end_memory(struct following *f, uint64_t handle, const struct gp_mapping *point)
{
	struct gp_model_builder *b = f->builder;
	struct gp_model *m = b->model;

	if (GP_MODEL_GROW(b, m->memory, m->memory_count, memory) != 0)
		return -ENOMEM;
	m->calls[point->call].memory = m->memory_count;
	m->memory[m->memory_count++] = (struct gp_memory_event){
		.time_ns = point->time_ns,
		.address = handle,
		.call = point->call,
		.other = GP_NONE,
		.op = GP_MEMORY_FREE,
		.memory_kind = GP_MEMORY_PHYSICAL,
	};
	return 0;
}

static int unmap(struct following *f, const struct gp_mapping *point)
{
	uint64_t handle;
	int result = 0;

	while (result == 0 && gp_handles_unmap(&f->handles, point->address, point->bytes, &handle))
		result = end_memory(f, handle, point);
	return result;
}

/* A release that does not end the memory: op 0 marks it, to be dropped. */
static void give_up(struct following *f, struct gp_memory_event *event)
{
	if (gp_handles_release(&f->handles, event->address))
		return;
	event->op = 0;
	f->builder->model->calls[event->call].memory = GP_NONE;
}

static int follow_point(struct following *f, const struct gp_mapping *point)
{
	if (point->op == GP_MEMORY_MAP)
		return gp_handles_map(&f->handles, point->address, point->handle);
	if (point->op == GP_MEMORY_UNMAP)
		return unmap(f, point);
	gp_handles_retain(&f->handles, point->address);
	return 0;
}

static int follow(struct following *f, const struct step *step)
{
	struct gp_memory_event *event;

	if (step->is_point)
		return follow_point(f, &f->builder->model->mappings[step->index]);
	event = &f->builder->model->memory[step->index];
	if (event->op == GP_MEMORY_ALLOC)
		return gp_handles_create(&f->handles, event->address);
	if (event->op == GP_MEMORY_FREE)
		give_up(f, event);
	return 0;
}

/* Steps of events and points; points get their times. */
static uint32_t collect(struct gp_model_builder *b, struct step *steps)
{
	struct gp_model *m = b->model;
	uint32_t count = 0;

	for (uint32_t i = 0; i < m->memory_count; i++)
		if (m->memory[i].memory_kind == GP_MEMORY_PHYSICAL)
			steps[count++] = (struct step){m->memory[i].time_ns, i, false};
	for (uint32_t i = 0; i < b->model->mapping_count; i++) {
		struct gp_mapping *point = &b->model->mappings[i];

		point->time_ns = m->calls[point->call].start_ns;
		if (point->op != GP_MEMORY_UNMAP)
			point->time_ns += m->calls[point->call].duration_ns;
		steps[count++] = (struct step){point->time_ns, i, true};
	}
	return count;
}

/* Calls and events name each other by index. */
static void drop_marked(struct gp_model *m)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < m->memory_count; i++) {
		if (m->memory[i].op == 0 && m->memory[i].memory_kind == GP_MEMORY_PHYSICAL)
			continue;
		if (m->memory[i].call != GP_NONE)
			m->calls[m->memory[i].call].memory = kept;
		m->memory[kept++] = m->memory[i];
	}
	m->memory_count = kept;
}

GP_COMPARE_BY(compare_calls, struct gp_mapping, call)

int gp_join_physical(struct gp_model_builder *b)
{
	struct following f = {.builder = b};
	struct step *steps;
	uint32_t count;
	int result;

	if (b->model->mapping_count == 0)
		return 0;
	steps = gp_spill_take(((size_t)b->model->memory_count + b->model->mapping_count) *
			      sizeof(*steps));
	if (!steps)
		return -ENOMEM;
	count = collect(b, steps);
	result = gp_array_sort(steps, count, sizeof(*steps), compare_steps, NULL);
	for (uint32_t i = 0; result == 0 && i < count; i++)
		result = follow(&f, &steps[i]);
	if (result == 0)
		drop_marked(b->model);
	if (result == 0)
		result = gp_array_sort(b->model->mappings, b->model->mapping_count,
				       sizeof(*b->model->mappings), compare_calls, NULL);
	gp_handles_free(&f.handles);
	gp_spill_free(steps);
	return result;
}
