/* Bus bandwidth of collectives. */
#include "report/tables/by/bus_bandwidth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/stats.h"
#include "report/model/peak_bandwidth.h"
#include "report/model/process_name.h"
#include "report/tables/breakdown.h"
#include "report/tables/by/job.h"

static const struct gp_table_column columns[] = {
	{"Count", GP_UNIT_COUNT},
	{"Size", GP_UNIT_BYTES},
	{"Ranks", GP_UNIT_COUNT},
	{"Med", GP_UNIT_NS},
	{"Min", GP_UNIT_NS},
	{"Waited", GP_UNIT_NS},
	{"Algorithm", GP_UNIT_GB_PER_S},
	{"Bus", GP_UNIT_GB_PER_S},
	{"Link peak", GP_UNIT_GB_PER_S},
	{"Of peak", GP_UNIT_PERCENT},
	{"Communicator", GP_UNIT_ADDRESS},
	{"Name", GP_UNIT_TEXT},
};

enum { NAME, COMMUNICATOR, BYTES, RANKS, KIND, PEAK }; /* PEAK: bytes per second */
enum { SHORTEST };
enum { WAITED_NS };

struct finding {
	struct gp_model *const *models;
	struct gp_tally tally;
	bool has_all_ranks;
};

/* ---- nccl-tests' definitions ---- */

static bool is_per_rank(uint64_t kind)
{
	return kind == GP_ALL_GATHER || kind == GP_REDUCE_SCATTER || kind == GP_ALL_TO_ALL;
}

/* NCCL's ranges have the size that the program passed: for some operations, that of one rank. */
static uint64_t size_of(uint64_t kind, uint64_t bytes, uint64_t ranks)
{
	return is_per_rank(kind) ? bytes * ranks : bytes;
}

static double factor_of(uint64_t kind, uint64_t ranks)
{
	double share = (double)(ranks - 1) / (double)ranks;

	if (kind == GP_ALL_REDUCE)
		return 2 * share;
	return is_per_rank(kind) ? share : 1;
}

/* ---- operations ---- */

/* The peak of the link to the other GPUs, else of the link to the host; 0 = unknown. */
static double peak_of(const struct gp_model *model, uint16_t device_id)
{
	double peak = gp_link_peak(gp_model_link(model, device_id, GP_LINK_NVLINK));

	return peak > 0 ? peak : gp_link_peak(gp_model_link(model, device_id, GP_LINK_PCIE));
}

/* The lowest peak of all members; 0 if they are on several hosts, with a network between them. */
static double lowest_peak(struct gp_model *const *models, const struct gp_collective_part *parts,
			  uint32_t gpus)
{
	const char *boot = models[parts->process]->info[GP_INFO_BOOT_ID];
	double lowest = peak_of(models[parts->process], parts->device_id);

	for (uint32_t i = 1; i < gpus; i++) {
		const struct gp_model *model = models[parts[i].process];
		double peak = peak_of(model, parts[i].device_id);

		if (!boot || !model->info[GP_INFO_BOOT_ID] ||
		    strcmp(boot, model->info[GP_INFO_BOOT_ID]) != 0)
			return 0;
		lowest = peak < lowest ? peak : lowest;
	}
	return lowest;
}

static uint32_t ranks_of(const struct finding *finding, const struct gp_collective_part *parts,
			 uint32_t gpus)
{
	if (parts->ranks > 0)
		return parts->ranks;
	return finding->has_all_ranks ? gpus : 0;
}

static void take_operation(void *context, const struct gp_collective_part *parts, uint32_t gpus)
{
	struct finding *finding = context;
	uint32_t ranks = ranks_of(finding, parts, gpus);
	uint64_t waited_ns = 0, shortest_ns = parts->duration_ns - parts->waited_ns;
	struct gp_tally_row *row;

	if (parts->communicator == 0 || parts->bytes == 0 || gpus == 0 || ranks < 2 ||
	    ranks < gpus || shortest_ns == 0 ||
	    (parts->kind == GP_SEND_RECV && (ranks != 2 || gpus != 2)))
		return;
	const uint64_t key[GP_TALLY_KEYS] = {
		[NAME] = parts->name,
		[COMMUNICATOR] = parts->communicator,
		[BYTES] = parts->bytes,
		[RANKS] = ranks,
		[KIND] = parts->kind,
		[PEAK] = ranks == gpus ? (uint64_t)lowest_peak(finding->models, parts, gpus) : 0,
	};
	row = gp_tally_find(&finding->tally, key);
	for (uint32_t i = 0; i < gpus; i++)
		waited_ns += parts[i].waited_ns;
	row->count++;
	row->sums[WAITED_NS] += waited_ns / gpus;
	gp_tally_value(&finding->tally, row, SHORTEST, shortest_ns);
}

/* ---- rows ---- */

static struct gp_bus_row row_of(const struct gp_tally_row *tally)
{
	const struct gp_tally_series *times = &tally->series[SHORTEST];
	struct gp_stats stats = gp_stats_of(times->values, times->count);
	uint64_t kind = tally->key[KIND], ranks = tally->key[RANKS];
	struct gp_bus_row row = {
		.name = tally->key[NAME],
		.communicator = tally->key[COMMUNICATOR],
		.kind = (enum gp_collective_kind)kind,
		.size_bytes = size_of(kind, tally->key[BYTES], ranks),
		.ranks = (uint32_t)ranks,
		.count = tally->count,
		.median_ns = (uint64_t)stats.median,
		.least_ns = stats.min,
		.total_ns = times->total,
		.waited_ns = tally->sums[WAITED_NS],
		.peak = gp_value_none(),
		.of_peak = gp_value_none(),
	};
	double algorithm = (double)row.size_bytes / stats.median;
	double bus = algorithm * factor_of(kind, ranks), peak = (double)tally->key[PEAK] / 1e9;

	row.algorithm = gp_value_real(algorithm);
	row.bus = gp_value_real(bus);
	if (peak > 0) {
		row.peak = gp_value_real(peak);
		row.of_peak = gp_value_percent(bus, peak);
	}
	return row;
}

/* If an operation is faster than the link, its communicator uses another link, which is unknown. */
static void forget_peaks(struct gp_bus_bandwidths *bandwidths, const struct gp_bus_row *faster)
{
	uint64_t communicator = faster->communicator;

	for (uint32_t i = 0; i < bandwidths->count; i++)
		if (bandwidths->rows[i].communicator == communicator)
			bandwidths->rows[i].peak = bandwidths->rows[i].of_peak = gp_value_none();
}

static int compare_rows(const void *a, const void *b)
{
	const struct gp_bus_row *left = a, *right = b;

	if (left->total_ns != right->total_ns)
		return left->total_ns > right->total_ns ? -1 : 1;
	return (left->size_bytes > right->size_bytes) - (left->size_bytes < right->size_bytes);
}

int gp_bus_bandwidths_of(struct gp_model *const *models, size_t count, struct gp_collectives *c,
			 struct gp_bus_bandwidths *bandwidths)
{
	struct finding finding = {.models = models,
				  .has_all_ranks = gp_models_have_all_ranks(models, count)};
	int result = gp_collectives_each(c, take_operation, &finding);

	*bandwidths = (struct gp_bus_bandwidths){0};
	result = result == 0 ? finding.tally.error : result;
	if (result == 0)
		bandwidths->rows =
			calloc((size_t)finding.tally.count + 1, sizeof(*bandwidths->rows));
	if (result == 0 && !bandwidths->rows)
		result = -ENOMEM;
	for (uint32_t i = 0; result == 0 && i < finding.tally.count; i++)
		bandwidths->rows[bandwidths->count++] = row_of(&finding.tally.rows[i]);
	for (uint32_t i = 0; i < bandwidths->count; i++)
		if (bandwidths->rows[i].peak.kind == GP_VALUE_REAL &&
		    bandwidths->rows[i].bus.real > bandwidths->rows[i].peak.real)
			forget_peaks(bandwidths, &bandwidths->rows[i]);
	if (result == 0)
		qsort(bandwidths->rows, bandwidths->count, sizeof(*bandwidths->rows), compare_rows);
	gp_tally_free(&finding.tally);
	return result;
}

void gp_bus_bandwidths_free(struct gp_bus_bandwidths *bandwidths)
{
	free(bandwidths->rows);
	*bandwidths = (struct gp_bus_bandwidths){0};
}

int gp_bus_bandwidths_find(struct gp_scope *scope, struct gp_bus_bandwidths *bandwidths)
{
	struct gp_collectives c;
	int result = gp_collectives_of(scope, &c);

	*bandwidths = (struct gp_bus_bandwidths){0};
	if (result == 0)
		result = gp_bus_bandwidths_of(scope->models, scope->model_count, &c, bandwidths);
	gp_collectives_free(&c);
	return result;
}

/* ---- the table ---- */

static void put_row(struct gp_scope *scope, struct gp_table *table, const char *name,
		    const struct gp_bus_row *row)
{
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->size_bytes);
	gp_table_put_whole(table, row->ranks);
	gp_table_put_whole(table, row->median_ns);
	gp_table_put_whole(table, row->least_ns);
	gp_table_put_whole(table, row->waited_ns);
	gp_table_cell(table, row->algorithm);
	gp_table_cell(table, row->bus);
	gp_table_cell(table, row->peak);
	gp_table_cell(table, row->of_peak);
	gp_table_put_whole(table, row->communicator);
	gp_table_put_text(table, gp_scope_kernel_of(scope, gp_scope_text(scope, name)));
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	const struct gp_job *job = scope->job;
	const struct gp_groups *names = job ? &job->fit.names : &scope->texts;
	struct gp_bus_bandwidths own = {0};
	const struct gp_bus_bandwidths *all = job ? &job->bandwidths : &own;
	int result = job ? 0 : gp_bus_bandwidths_find(scope, &own);

	for (uint32_t i = 0; i < all->count; i++)
		put_row(scope, table, names->rows[all->rows[i].name].key, &all->rows[i]);
	gp_bus_bandwidths_free(&own);
	return result;
}

const struct gp_breakdown gp_breakdown_bus_bandwidth = {
	.help = "bandwidth of NCCL's operations by size, as nccl-tests states it",
	.nothing =
		"no NCCL operation of two or more GPUs has a known size and number of ranks: these come from the NVTX ranges of NCCL 2.26 and later (--trace nvtx); name the traces of all ranks",
	.head = {"bus-bandwidth",
		 "Bandwidth of collective operations (times: of the rank that came last)", columns,
		 COUNT(columns)},
	.sort_column = GP_TABLE_AS_ADDED,
	.fill = fill,
	.is_in_order = true,
	.job = GP_BREAKDOWN_OF_JOB,
};
