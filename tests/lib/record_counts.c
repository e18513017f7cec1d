/*
 * record_counts FILE: prints the record counts of a trace file as "name count" lines, for tests of
 * data that no output shows.  Counts of 0 are not printed.
 */
#include <stdio.h>

#include "report/load/load_model.h"
#include "report/model/model.h"

static void say(const char *name, uint64_t count)
{
	if (count > 0)
		printf("%s %llu\n", name, (unsigned long long)count);
}

static void say_calls(const struct gp_model *model)
{
	static const char *const names[GP_API_CLASSES] = {
		[GP_API_OTHER] = "calls.other",
		[GP_API_LAUNCH] = "calls.launch",
		[GP_API_GRAPH_LAUNCH] = "calls.graph_launch",
		[GP_API_COPY] = "calls.copy",
		[GP_API_MEMSET] = "calls.set",
		[GP_API_ALLOC] = "calls.alloc",
		[GP_API_FREE] = "calls.free",
		[GP_API_SYNC] = "calls.sync",
		[GP_API_CAPTURE_BEGIN] = "calls.capture_begin",
		[GP_API_CAPTURE_END] = "calls.capture_end",
		[GP_API_CONTROL] = "calls.control",
		[GP_API_EVENT] = "calls.event",
		[GP_API_MODULE] = "calls.module",
		[GP_API_HOST] = "calls.host",
	};
	uint64_t counts[GP_API_CLASSES] = {0}, cooperative = 0, overlapping = 0;

	for (uint32_t i = 0; i < model->call_count; i++) {
		counts[gp_model_api(model, model->calls[i].api).class]++;
		cooperative += model->calls[i].cooperative;
		overlapping += model->calls[i].overlapping;
	}
	for (int class = 0; class < GP_API_CLASSES; class ++)
		say(names[class], counts[class]);
	say("calls.cooperative", cooperative);
	say("calls.overlapping", overlapping);
}

/* The number of graph kernels whose node links to the captured call. */
static uint64_t count_traced_back(const struct gp_model *model)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op_detail *detail = gp_model_detail(model, &model->ops[i]);

		count += model->ops[i].kind == GP_OP_KERNEL && detail->graph_node_id != 0 &&
			 detail->capture_call != GP_NONE;
	}
	return count;
}

static void say_operations(const struct gp_model *model)
{
	uint64_t counts[GP_OP_GRAPH + 1] = {0};

	for (uint32_t i = 0; i < model->op_count; i++)
		counts[model->ops[i].kind]++;
	say("kernels", counts[GP_OP_KERNEL]);
	say("copies", counts[GP_OP_COPY]);
	say("sets", counts[GP_OP_SET]);
	say("graphs", counts[GP_OP_GRAPH]);
	say("kernels.traced_back", count_traced_back(model));
}

static void say_others(const struct gp_model *model)
{
	uint64_t synced = 0;

	for (uint32_t i = 0; i < model->sync_count; i++)
		synced += model->syncs[i].event_id != 0;
	say("syncs", model->sync_count);
	say("syncs.of_events", synced);
	say("events", model->event_count);
	say("nodes", model->node_count);
	say("jits", model->jit_count);
	say("pools", model->pool_count);
	say("unified", model->unified_count);
	say("overheads", model->overhead_count);
	say("ranges", model->range_count);
	say("unknown_to_decoder", model->counters[GP_COUNTER_UNKNOWN_RECORDS]);
}

int main(int argc, char **argv)
{
	struct gp_model *model;
	char message[4352];

	if (argc != 2 || gp_model_load(argv[1], &model, message, sizeof(message)) != 0) {
		fprintf(stderr, "record_counts: %s\n", argc == 2 ? message : "one trace file");
		return 1;
	}
	say_calls(model);
	say_operations(model);
	say_others(model);
	gp_model_free(model);
	return 0;
}
