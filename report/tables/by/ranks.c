#include "report/tables/by/ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/analysis.h"
#include "report/base/array.h"
#include "report/model/memory_stats.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"
#include "report/tables/breakdown.h"
#include "report/tables/by/collective_ranks.h"
#include "report/tables/by/job.h"

static const struct gp_table_column columns[] = {
	{"Rank", GP_UNIT_NUMBER},       {"Step", GP_UNIT_NS},    {"Computing", GP_UNIT_NS},
	{"Communicating", GP_UNIT_NS},  {"Waited", GP_UNIT_NS},  {"Held up", GP_UNIT_NS},
	{"Peak memory", GP_UNIT_BYTES}, {"Host", GP_UNIT_TEXT},  {"Ended", GP_UNIT_TEXT},
	{"Steps", GP_UNIT_COUNT},       {"PID", GP_UNIT_NUMBER},
};

/* Of one process. */
struct sums {
	uint64_t waited_ns, held_up_ns;
	uint64_t most_ns; /* that it held up in an operation, and who waited */
	uint16_t peers[GP_RANK_PEERS];
	uint32_t peer_count;
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

static void add_held_up(struct sums *sums, const struct gp_collective_part *parts, uint32_t gpus,
			uint32_t last)
{
	uint64_t ns = gp_collective_held_up_ns(parts, gpus);

	sums->held_up_ns += ns;
	if (ns <= sums->most_ns)
		return;
	sums->most_ns = ns;
	sums->peer_count = 0;
	for (uint32_t i = 0; i < gpus && sums->peer_count < GP_RANK_PEERS; i++)
		if (i != last)
			sums->peers[sums->peer_count++] = parts[i].process;
}

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
			add_held_up(&waits->sums[parts[i].process], parts, gpus, i);
	}
}

static int find_peak(struct gp_model *model, struct gp_value *peak)
{
	struct gp_device_list devices = {0};
	struct gp_memory_stats memory = {0};
	int result = gp_memory_stats_of(&model, 1, &devices, &memory);

	*peak = gp_recorded_knows_memory(model)
			? gp_value_whole(gp_memory_stats_peak_bytes(&memory))
			: gp_value_none();
	gp_memory_stats_free(&memory);
	gp_device_list_free(&devices);
	return result;
}

int gp_ranks_add(struct gp_ranks *ranks, const struct gp_kinds *kinds, struct gp_model *model,
		 size_t process, const struct gp_steps *steps)
{
	struct gp_rank_times times = {0};
	struct gp_rank_row *row;
	int result;

	if (gp_model_rank(model) == GP_NONE)
		return 0;
	gp_array_grow(&ranks->rows, &ranks->capacity, ranks->count, sizeof(*ranks->rows));
	result = gp_rank_times_add(&times, kinds, model);
	if (result != 0)
		return result;
	row = &ranks->rows[ranks->count++];
	*row = (struct gp_rank_row){
		.process = process, .rank = gp_model_rank(model), .steps = steps->count};
	for (size_t i = 0; i < GP_RANK_MEASURES; i++)
		row->values[i] = gp_value_none();
	if (steps->median_ns > 0)
		row->values[GP_RANK_STEP] = gp_value_whole(steps->median_ns);
	row->values[GP_RANK_COMPUTING] = gp_value_whole(times.computing_ns);
	row->values[GP_RANK_COMMUNICATING] = gp_value_whole(times.communicating_ns);
	return find_peak(model, &row->values[GP_RANK_PEAK]);
}

static void fill_waits(struct gp_rank_row *row, const struct sums *sums)
{
	row->values[GP_RANK_WAITED] = gp_value_whole(sums->waited_ns);
	row->values[GP_RANK_HELD_UP] = gp_value_whole(sums->held_up_ns);
	memcpy(row->peers, sums->peers, sizeof(row->peers));
	row->peer_count = sums->peer_count;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct gp_rank_row *left = a, *right = b;

	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	return left->process < right->process ? -1 : left->process > right->process;
}

int gp_ranks_end(struct gp_ranks *ranks, struct gp_collectives *collectives, size_t process_count)
{
	struct waits waits = {.sums = calloc(process_count + 1, sizeof(*waits.sums))};
	int result = waits.sums ? gp_collectives_each(collectives, add_waits, &waits) : -ENOMEM;

	ranks->has_collectives = waits.operations > 0;
	for (uint32_t i = 0; result == 0 && ranks->has_collectives && i < ranks->count; i++)
		fill_waits(&ranks->rows[i], &waits.sums[ranks->rows[i].process]);
	if (result == 0 && ranks->count > 0)
		qsort(ranks->rows, ranks->count, sizeof(*ranks->rows), compare_ranks);
	free(waits.sums);
	return result;
}

int gp_ranks_gather(struct gp_scope *scope, struct gp_ranks *ranks)
{
	const struct gp_analysis *analysis = gp_scope_analysis(scope);
	const struct gp_kinds *kinds = gp_scope_kinds(scope);
	struct gp_collectives collectives;
	int result = gp_collectives_of(scope, &collectives);

	*ranks = (struct gp_ranks){0};
	if (!analysis || !kinds)
		result = -ENOMEM;
	for (size_t i = 0; result == 0 && i < scope->model_count; i++)
		result = gp_ranks_add(ranks, kinds, scope->models[i], i, &analysis->steps[i]);
	if (result == 0)
		result = gp_ranks_end(ranks, &collectives, scope->model_count);
	gp_collectives_free(&collectives);
	return result;
}

void gp_ranks_free(struct gp_ranks *ranks)
{
	free(ranks->rows);
	*ranks = (struct gp_ranks){0};
}

struct gp_figure gp_rank_how_ended(const struct gp_model *model)
{
	struct gp_figure known = gp_recorded_how_ended(model);

	if (strcmp(known.text, "-") == 0 && !gp_recorded_is_whole(model))
		snprintf(known.text, sizeof(known.text), "incomplete");
	return known;
}

static void put_row(struct gp_scope *scope, const struct gp_model *model,
		    const struct gp_rank_row *row, struct gp_table *table)
{
	gp_table_put_whole(table, row->rank);
	for (size_t i = 0; i < GP_RANK_MEASURES; i++)
		gp_table_cell(table, row->values[i]);
	gp_table_put_text(table, model->info[GP_INFO_HOST]);
	gp_table_put_text(table, gp_rank_how_ended(model).text);
	gp_table_put_whole(table, row->steps);
	gp_scope_put_process(scope, table, model);
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	const struct gp_job *job = scope->job;
	struct gp_model *const *models = job ? job->models : scope->models;
	struct gp_ranks ranks = job ? job->ranks : (struct gp_ranks){0};
	int result = job ? 0 : gp_ranks_gather(scope, &ranks);

	for (uint32_t i = 0; result == 0 && i < ranks.count; i++)
		put_row(scope, models[ranks.rows[i].process], &ranks.rows[i], table);
	if (!job)
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
	.job = GP_BREAKDOWN_OF_JOB,
};
