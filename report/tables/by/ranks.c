#include "report/tables/by/ranks.h"

#include <errno.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/analysis.h"
#include "report/model/memory_stats.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"
#include "report/tables/breakdown.h"
#include "report/tables/by/collective_ranks.h"

static const struct gp_table_column columns[] = {
	{"Rank", GP_UNIT_NUMBER},       {"Step", GP_UNIT_NS},    {"Computing", GP_UNIT_NS},
	{"Communicating", GP_UNIT_NS},  {"Waited", GP_UNIT_NS},  {"Held up", GP_UNIT_NS},
	{"Peak memory", GP_UNIT_BYTES}, {"Host", GP_UNIT_TEXT},  {"Ended", GP_UNIT_TEXT},
	{"Steps", GP_UNIT_COUNT},       {"PID", GP_UNIT_NUMBER},
};

/* Times of one process. */
struct sums {
	struct gp_rank_times times;
	uint64_t waited_ns, held_up_ns;
};

int gp_rank_times_add(struct gp_rank_times *times, const struct gp_kinds *kinds,
		      const struct gp_model *model)
{
	uint8_t *names = kinds ? gp_kinds_of_names(kinds, model) : NULL;

	if (!names)
		return -ENOMEM;
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (gp_kinds_of_op(names, model, op) == GP_KIND_COMMUNICATION)
			times->communicating_ns += gp_op_gpu_ns(op);
		else
			times->computing_ns += gp_op_gpu_ns(op);
	}
	free(names);
	return 0;
}

struct waits {
	struct sums *sums; /* by process */
	uint64_t operations;
};

/* The first operation is left out: it waits until every rank has started. */
static void add_waits(void *context, const struct gp_collective_part *parts, uint32_t gpus)
{
	struct waits *waits = context;

	if (!gp_collective_is_of_all(parts))
		return;
	waits->operations++;
	if (parts->before_ns == 0)
		return;
	for (uint32_t i = 0; i < gpus; i++) {
		waits->sums[parts[i].process].waited_ns += parts[i].waited_ns;
		if (parts[i].is_last)
			waits->sums[parts[i].process].held_up_ns +=
				gp_collective_held_up_ns(parts, gpus);
	}
}

static int find_peak(struct gp_model *model, struct gp_value *peak)
{
	struct gp_device_list devices = {0};
	struct gp_memory_stats memory = {0};
	int result = gp_memory_stats_of(&model, 1, &devices, &memory);

	*peak = gp_recorded_kind(model, "memory")
			? gp_value_whole(gp_memory_stats_peak_bytes(&memory))
			: gp_value_none();
	gp_memory_stats_free(&memory);
	gp_device_list_free(&devices);
	return result;
}

static void fill_row(const struct gp_analysis *analysis, struct gp_rank_row *row,
		     const struct sums *sums, bool has_collectives)
{
	const struct gp_steps *steps = &analysis->steps[row->process];
	struct gp_value *values = row->values;

	row->steps = steps->count;
	if (steps->median_ns > 0)
		values[GP_RANK_STEP] = gp_value_whole(steps->median_ns);
	values[GP_RANK_COMPUTING] = gp_value_whole(sums->times.computing_ns);
	values[GP_RANK_COMMUNICATING] = gp_value_whole(sums->times.communicating_ns);
	if (!has_collectives)
		return;
	values[GP_RANK_WAITED] = gp_value_whole(sums->waited_ns);
	values[GP_RANK_HELD_UP] = gp_value_whole(sums->held_up_ns);
}

static int gather(struct gp_scope *scope, struct gp_ranks *ranks, struct waits *waits)
{
	const struct gp_analysis *analysis = gp_scope_analysis(scope);
	int result = analysis ? gp_collective_each(scope, add_waits, waits) : -ENOMEM;

	ranks->has_collectives = waits->operations > 0;
	for (size_t i = 0; result == 0 && i < scope->model_count; i++) {
		struct gp_model *model = scope->models[i];
		struct gp_rank_row *row = &ranks->rows[ranks->count];

		*row = (struct gp_rank_row){.process = i, .rank = gp_model_rank(model)};
		if (row->rank == GP_NONE)
			continue;
		for (size_t k = 0; k < GP_RANK_MEASURES; k++)
			row->values[k] = gp_value_none();
		result = gp_rank_times_add(&waits->sums[i].times, gp_scope_kinds(scope), model);
		if (result == 0)
			result = find_peak(model, &row->values[GP_RANK_PEAK]);
		fill_row(analysis, row, &waits->sums[i], ranks->has_collectives);
		ranks->count++;
	}
	return result;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct gp_rank_row *left = a, *right = b;

	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	return left->process < right->process ? -1 : left->process > right->process;
}

int gp_ranks_gather(struct gp_scope *scope, struct gp_ranks *ranks)
{
	struct waits waits = {.sums = calloc(scope->model_count + 1, sizeof(*waits.sums))};
	int result = -ENOMEM;

	*ranks = (struct gp_ranks){
		.rows = calloc(scope->model_count + 1, sizeof(*ranks->rows)),
	};
	if (ranks->rows && waits.sums)
		result = gather(scope, ranks, &waits);
	if (result == 0)
		qsort(ranks->rows, ranks->count, sizeof(*ranks->rows), compare_ranks);
	free(waits.sums);
	return result;
}

void gp_ranks_free(struct gp_ranks *ranks)
{
	free(ranks->rows);
	*ranks = (struct gp_ranks){0};
}

static void put_row(struct gp_scope *scope, const struct gp_rank_row *row, struct gp_table *table)
{
	const struct gp_model *model = scope->models[row->process];

	gp_table_put_whole(table, row->rank);
	for (size_t i = 0; i < GP_RANK_MEASURES; i++)
		gp_table_cell(table, row->values[i]);
	gp_table_put_text(table, model->info[GP_INFO_HOST]);
	gp_table_put_text(table, gp_recorded_how_ended(model).text);
	gp_table_put_whole(table, row->steps);
	gp_scope_put_pid(scope, table, row->process);
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	struct gp_ranks ranks;
	int result = gp_ranks_gather(scope, &ranks);

	for (uint32_t i = 0; result == 0 && i < ranks.count; i++)
		put_row(scope, &ranks.rows[i], table);
	gp_ranks_free(&ranks);
	return result;
}

const struct gp_breakdown gp_breakdown_rank = {
	.help = "ranks of a job: step, computing, communicating, waiting, memory",
	.nothing =
		"no process has a rank (RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID, ...); `--by process` lists all processes",
	.head = {"rank", "Ranks (step: the median; the other times: sums)", columns,
		 COUNT(columns)},
	.sort_column = GP_TABLE_AS_ADDED,
	.fill = fill,
	.is_in_order = true,
};
