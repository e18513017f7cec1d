/* Every range and mark of the program, with the GPU operations that it started. */
#include "report/tables/event_list.h"

#include <stdio.h>
#include <string.h>

#include "gpuprof/count.h"

static const struct gp_table_column columns[] = {
	{"Start", GP_UNIT_MOMENT},     {"End", GP_UNIT_MOMENT},    {"Duration", GP_UNIT_NS},
	{"DurChild", GP_UNIT_NS},      {"Self", GP_UNIT_NS},       {"Open", GP_UNIT_COUNT},
	{"GPU Start", GP_UNIT_MOMENT}, {"GPU Dur", GP_UNIT_NS},    {"GPU time", GP_UNIT_NS},
	{"GPU ops", GP_UNIT_COUNT},    {"Level", GP_UNIT_NUMBER},  {"Children", GP_UNIT_COUNT},
	{"Range", GP_UNIT_NUMBER},     {"Parent", GP_UNIT_NUMBER}, {"Stack", GP_UNIT_TEXT},
	{"PID", GP_UNIT_NUMBER},       {"TID", GP_UNIT_NUMBER},    {"Thread", GP_UNIT_TEXT},
	{"Style", GP_UNIT_TEXT},       {"Domain", GP_UNIT_TEXT},   {"Category", GP_UNIT_TEXT},
	{"Name", GP_UNIT_TEXT},        {"NameTree", GP_UNIT_TEXT},
};

/* The first column of each group: GPU work, nesting, place and texts. */
enum { GPU = 6, NESTING = 10, PLACE = 15, WORDS = 17 };

#define STACK_BYTES 256

#define LEVEL_COLUMNS 2 /* indentation of a level in the tree of names */
#define MOST_LEVELS   40
#define TREE_BYTES    512

static uint32_t count(const struct gp_model *model)
{
	return model->range_count;
}

static uint64_t start(const struct gp_model *model, uint32_t index)
{
	return model->ranges[index].start_ns;
}

/* A range that was never closed lasts at least to the end of the recording. */
static void put_times(struct gp_value *values, const struct gp_range *range, int64_t start_ns)
{
	uint64_t duration_ns = range->end_ns - range->start_ns;

	values[0] = gp_value_moment(start_ns);
	if (range->style == GP_STYLE_MARK)
		return;
	values[1] = gp_value_moment(start_ns + (int64_t)duration_ns);
	values[2] = gp_value_whole(duration_ns);
	values[5] = gp_value_whole(range->open);
	if (range->style != GP_STYLE_PUSH_POP)
		return;
	values[3] = gp_value_whole(range->children_ns);
	values[4] = gp_value_whole(
		duration_ns > range->children_ns ? duration_ns - range->children_ns : 0);
}

static void put_projection(struct gp_value *values, const struct gp_range *range, int64_t start_ns)
{
	values[3] = gp_value_whole(range->op_count);
	if (range->gpu_end_ns == 0)
		return;
	values[0] = gp_value_moment(start_ns + (int64_t)(range->gpu_start_ns - range->start_ns));
	values[1] = gp_value_whole(range->gpu_end_ns - range->gpu_start_ns);
	values[2] = gp_value_whole(range->gpu_busy_ns);
}

/* ":1:4:7", from the outermost range to this one; if too many, "..." and the innermost. */
static const char *stack_of(const struct gp_model *model, uint32_t index, char room[STACK_BYTES])
{
	char *at = room + STACK_BYTES - 1, number[16];

	*at = '\0';
	for (; index != GP_NONE; index = model->ranges[index].parent) {
		size_t length = (size_t)snprintf(number, sizeof(number), ":%u", index + 1);

		if ((size_t)(at - room) < length + strlen("..."))
			return memcpy(at - strlen("..."), "...", strlen("..."));
		at = memcpy(at - length, number, length);
	}
	return at;
}

/* Numbers count from 1, in the trace's order. */
static void put_nesting(struct gp_value *values, const struct gp_model *model, uint32_t index,
			char stack[STACK_BYTES])
{
	const struct gp_range *range = &model->ranges[index];

	values[2] = gp_value_whole((uint64_t)index + 1);
	if (range->style != GP_STYLE_PUSH_POP)
		return;
	values[0] = gp_value_whole(range->level);
	values[1] = gp_value_whole(range->children);
	if (range->parent != GP_NONE)
		values[3] = gp_value_whole((uint64_t)range->parent + 1);
	values[4] = gp_value_text(stack_of(model, index, stack));
}

/* The name, indented by its nesting level, up to a limit. */
static const char *name_in_tree(const struct gp_model *model, const struct gp_range *range,
				char room[TREE_BYTES])
{
	uint32_t level = range->style == GP_STYLE_PUSH_POP ? range->level : 0;
	int indent = (int)(level < MOST_LEVELS ? level : MOST_LEVELS) * LEVEL_COLUMNS;

	snprintf(room, TREE_BYTES, "%*s%s", indent, "", gp_model_range_text(model, range));
	return room;
}

static void write(struct gp_scope *scope, const struct gp_model *model, uint32_t index,
		  int64_t start_ns, struct gp_table_writer *writer)
{
	static const char *const styles[] = {[GP_STYLE_PUSH_POP] = "push/pop",
					     [GP_STYLE_START_END] = "start/end",
					     [GP_STYLE_MARK] = "mark"};
	const struct gp_range *range = &model->ranges[index];
	struct gp_value values[COUNT(columns)] = {{0}}, *words = values + WORDS;
	char stack[STACK_BYTES], tree[TREE_BYTES];

	(void)scope;
	put_times(values, range, start_ns);
	put_projection(values + GPU, range, start_ns);
	put_nesting(values + NESTING, model, index, stack);
	values[PLACE] = gp_scope_process(scope, model);
	values[PLACE + 1] = gp_value_whole(range->thread_id);
	words[0] = gp_value_text_or_none(gp_model_thread_name(model, range->thread_id));
	words[1] = gp_value_text(styles[range->style]);
	words[2] = gp_value_text_or_none(model->domains[range->domain]);
	words[3] = gp_value_text_or_none(gp_model_category(model, range->domain, range->category));
	words[4] = gp_value_text_or_none(gp_model_range_text(model, range));
	words[5] = gp_value_text_or_none(name_in_tree(model, range, tree));
	gp_table_writer_row(writer, values);
}

const struct gp_event_list gp_event_list_nvtx = {
	.word = "nvtx",
	.help = "NVTX ranges and marks",
	.things = "NVTX range or mark",
	.head = {"trace-nvtx", "NVTX ranges", columns, COUNT(columns)},
	.count = count,
	.start = start,
	.write = write,
};
