#include "report/tables/by/range_calls.h"

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"

/* Ranges open at the same time; further ones are ignored. */
#define MOST_OPEN 64

struct open_range {
	uint32_t index; /* in model.ranges */
	struct gp_range_key key;
};

/*
 * A parallel walk over calls and ranges, both sorted by start: for each thread for push/pop ranges,
 * over all threads for start/end ranges.
 */
struct walk {
	struct gp_scope *scope;
	gp_range_take_call *take;
	void *context;
	const struct gp_model *model;
	uint8_t style;
	uint32_t *calls, *ranges; /* in the order of the walk */
	uint32_t next;            /* in ranges */
	struct open_range open[MOST_OPEN];
	size_t open_count;
};

static bool is_by_thread(const struct walk *walk)
{
	return walk->style == GP_STYLE_PUSH_POP;
}

/* Whether the range starts before the call, or with it, in the order of the walk. */
static bool comes_first(const struct walk *walk, const struct gp_range *range,
			const struct gp_call *call)
{
	if (is_by_thread(walk) && range->thread_id != call->thread_id)
		return range->thread_id < call->thread_id;
	return range->start_ns <= call->start_ns;
}

static bool is_open_at(const struct walk *walk, const struct gp_range *range,
		       const struct gp_call *call)
{
	return range->end_ns >= call->start_ns &&
	       (!is_by_thread(walk) || range->thread_id == call->thread_id);
}

static void close_ranges(struct walk *walk, const struct gp_call *call)
{
	size_t kept = 0;

	for (size_t i = 0; i < walk->open_count; i++)
		if (is_open_at(walk, &walk->model->ranges[walk->open[i].index], call))
			walk->open[kept++] = walk->open[i];
	walk->open_count = kept;
}

static void open_ranges(struct walk *walk, const struct gp_call *call)
{
	const struct gp_model *model = walk->model;

	for (; walk->next < model->range_count; walk->next++) {
		uint32_t index = walk->ranges[walk->next];
		const struct gp_range *range = &model->ranges[index];

		if (!comes_first(walk, range, call))
			return;
		if (range->style == walk->style && is_open_at(walk, range, call) &&
		    walk->open_count < MOST_OPEN)
			walk->open[walk->open_count++] = (struct open_range){
				index, gp_range_key_of(walk->scope, model, range)};
	}
}

/* The thread that opened it. */
static uint32_t thread_of(const struct walk *walk, const struct open_range *range)
{
	return walk->model->ranges[range->index].thread_id;
}

/* Whether an outer range has the same row: a kernel counts once there. */
static bool is_repeated(const struct walk *walk, size_t index)
{
	const struct open_range *range = &walk->open[index];

	for (size_t i = 0; i < index; i++)
		if (walk->open[i].key.text == range->key.text &&
		    walk->open[i].key.domain == range->key.domain &&
		    thread_of(walk, &walk->open[i]) == thread_of(walk, range))
			return true;
	return false;
}

static void take_call(struct walk *walk, uint32_t index)
{
	for (size_t i = 0; i < walk->open_count; i++)
		if (!is_repeated(walk, i))
			walk->take(walk->context,
				   &(struct gp_range_call){walk->model, index, walk->open[i].index,
							   walk->open[i].key});
}

GP_COMPARE_BY(compare_calls, struct gp_call, start_ns)

GP_COMPARE_BY(compare_ranges, struct gp_range, start_ns)

static int compare_nothing(const void *a, const void *b, const void *context)
{
	(void)a;
	(void)b;
	(void)context;
	return 0;
}

/* Sort both; the model's order is by thread and start. */
static void order(struct walk *walk)
{
	const struct gp_model *model = walk->model;
	bool by_thread = is_by_thread(walk);

	walk->calls = gp_array_order(model->calls, model->call_count, sizeof(*model->calls),
				     by_thread ? compare_nothing : compare_calls, NULL);
	walk->ranges = gp_array_order(model->ranges, model->range_count, sizeof(*model->ranges),
				      by_thread ? compare_nothing : compare_ranges, NULL);
}

static void walk_calls(struct walk *walk)
{
	const struct gp_model *model = walk->model;

	for (uint32_t i = 0; i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[walk->calls[i]];

		if (call->first_op == GP_NONE &&
		    gp_model_api_class(model, call->api) != GP_API_LAUNCH)
			continue;
		close_ranges(walk, call);
		open_ranges(walk, call);
		take_call(walk, walk->calls[i]);
	}
}

static void walk_style(struct walk walk)
{
	bool has_order;

	order(&walk);
	has_order = walk.calls && walk.ranges;
	if (has_order)
		walk_calls(&walk);
	gp_spill_free(walk.calls);
	gp_spill_free(walk.ranges);
}

int gp_range_calls(struct gp_scope *scope, const struct gp_model *model, gp_range_take_call *take,
		   void *context)
{
	static const uint8_t styles[] = {GP_STYLE_PUSH_POP, GP_STYLE_START_END};

	for (size_t i = 0; model->range_count > 0 && i < COUNT(styles); i++)
		walk_style((struct walk){.scope = scope,
					 .take = take,
					 .context = context,
					 .model = model,
					 .style = styles[i]});
	return 0;
}
