/* Late ranks of collectives. */
#include "report/tables/by/collective_ranks.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/device/communicators.h"
#include "report/base/array.h"
#include "report/model/recorded.h"
#include "report/tables/breakdown.h"
#include "report/tables/by/job.h"
#include "report/base/spill_memory.h"

static const struct gp_table_column columns[] = {
	{"Count", GP_UNIT_COUNT},   {"Last", GP_UNIT_COUNT}, {"Held up", GP_UNIT_NS},
	{"Waited", GP_UNIT_NS},     {"Total", GP_UNIT_NS},   {"PID", GP_UNIT_NUMBER},
	{"Device", GP_UNIT_NUMBER}, {"Rank", GP_UNIT_TEXT},  {"Communicator", GP_UNIT_ADDRESS},
	{"Name", GP_UNIT_TEXT},
};

enum { LAST, HELD_UP_NS, WAITED_NS, TOTAL_NS };
enum { PROCESS, DEVICE, NAME, COMMUNICATOR };

static void add(struct gp_collectives *c, struct gp_collective_part part)
{
	if (c->error == 0)
		c->error =
			gp_array_grow_spill(&c->parts, &c->capacity, c->count, sizeof(*c->parts));
	if (c->error == 0)
		c->parts[c->count++] = part;
}

/* Ignores case, and "_" in the text. */
static bool begins_with(const char *text, const char *word)
{
	for (; *word != '\0'; text++)
		if (*text != '_' &&
		    tolower((unsigned char)*text) != tolower((unsigned char)*word++))
			return false;
	return true;
}

/* A name that is a part of another comes after it. */
static const char *const kind_names[GP_COLLECTIVE_KINDS] = {
	[GP_ALL_REDUCE] = "AllReduce",         [GP_ALL_GATHER] = "AllGather",
	[GP_REDUCE_SCATTER] = "ReduceScatter", [GP_ALL_TO_ALL] = "AllToAll",
	[GP_BROADCAST] = "Broadcast",          [GP_REDUCE] = "Reduce",
	[GP_SEND_RECV] = "SendRecv",
};

const char *gp_collective_kind_name(enum gp_collective_kind kind)
{
	return kind < GP_COLLECTIVE_KINDS ? kind_names[kind] : "";
}

static enum gp_collective_kind kind_of(const char *kernel)
{
	for (; *kernel != '\0'; kernel++)
		for (size_t i = 0; i < COUNT(kind_names); i++)
			if (begins_with(kernel, kind_names[i]))
				return (enum gp_collective_kind)i;
	return GP_COLLECTIVE_KINDS;
}

/* The number of the kernel's name; numbers is a cache by the model's own. */
static uint32_t number_of(struct gp_collectives *c, const struct gp_model *model,
			  const struct gp_op *op, uint32_t *numbers)
{
	uint32_t *number = &numbers[op->name < model->name_count ? op->name : model->name_count];

	if (*number == GP_NONE)
		*number = gp_groups_find(c->names, gp_model_kernel_name(model, op));
	return *number;
}

static bool has_one_of_all(const struct gp_collectives *c, uint32_t from)
{
	while (from < c->count && !gp_collective_is_of_all(&c->parts[from]))
		from++;
	return from < c->count;
}

/* Stream by stream. */
static void gather(struct gp_collectives *c, const struct gp_model *model, uint16_t process,
		   const uint8_t *kinds, uint32_t *numbers, const struct gp_communicators *known)
{
	bool may_lack_last = !gp_recorded_is_whole(model) && !gp_recorded_is_last_part(model);
	uint32_t stream = 0;

	for (uint32_t first = 0, end; first < model->op_count; first = end) {
		uint32_t before = c->count;

		end = gp_model_stream_end(model, first);
		if (first > 0 && model->ops[first].device_id != model->ops[first - 1].device_id)
			stream = 0;
		for (uint32_t i = first; i < end; i++) {
			const struct gp_op *op = &model->ops[i];
			enum gp_collective_kind kind;
			struct gp_nccl_call call;

			if (op->untimed ||
			    gp_kinds_of_op(kinds, model, op) != GP_KIND_COMMUNICATION)
				continue;
			kind = kind_of(gp_model_kernel_name(model, op));
			if (kind == GP_COLLECTIVE_KINDS)
				continue;
			call = gp_nccl_call_of(model, op);
			add(c, (struct gp_collective_part){
				       .name = number_of(c, model, op, numbers),
				       .start_ns = op->start_ns,
				       .duration_ns = op->end_ns - op->start_ns,
				       .communicator = call.communicator,
				       .stream = call.communicator == 0 ? stream : 0,
				       .bytes = call.bytes,
				       .ranks = gp_communicators_ranks(known, call.communicator),
				       .kind = (uint8_t)kind,
				       .op = i,
				       .device_id = op->device_id,
				       .process = process,
				       .may_lack_last = may_lack_last});
		}
		stream += has_one_of_all(c, before);
	}
}

/* ---- the operation before ---- */

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The end of an operation on a GPU of the process. */
struct end {
	uint64_t end_ns;
	uint16_t device_id;
};

static int compare_ends(const void *a, const void *b, const void *context)
{
	const struct end *left = a, *right = b;

	(void)context;
	return left->device_id != right->device_id ? order(left->device_id, right->device_id)
						   : order(left->end_ns, right->end_ns);
}

static bool ends_until(const void *element, const void *key)
{
	const struct end *end = element;
	const struct gp_collective_part *part = key;

	return end->device_id != part->device_id ? end->device_id < part->device_id
						 : end->end_ns <= part->start_ns;
}

/* Of the parts of one process. */
static void find_since(struct gp_collective_part *parts, uint32_t count)
{
	struct end *ends = gp_spill_take(((size_t)count + 1) * sizeof(*ends));

	for (uint32_t i = 0; i < count; i++)
		ends[i] =
			(struct end){parts[i].start_ns + parts[i].duration_ns, parts[i].device_id};
	gp_array_sort(ends, count, sizeof(*ends), compare_ends, NULL);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at =
			gp_array_lower_bound(ends, count, sizeof(*ends), ends_until, &parts[i]);

		if (at > 0 && ends[at - 1].device_id == parts[i].device_id)
			parts[i].since_ns = ends[at - 1].end_ns;
	}
	gp_spill_free(ends);
}

int gp_collectives_add(struct gp_collectives *c, const struct gp_model *model, uint16_t process)
{
	uint32_t first = c->count;
	uint8_t *kinds = gp_kinds_of_names(c->kinds, model);
	uint32_t *numbers = malloc(((size_t)model->name_count + 1) * sizeof(*numbers));
	struct gp_communicators known = {0};

	for (uint32_t i = 0; numbers && i <= model->name_count; i++)
		numbers[i] = GP_NONE;
	if (kinds && numbers && gp_communicators_find(&known, model) == 0)
		gather(c, model, process, kinds, numbers, &known);
	else
		c->error = -ENOMEM;
	if (c->error == 0 && c->count > first)
		find_since(&c->parts[first], c->count - first);
	gp_communicators_free(&known);
	free(kinds);
	free(numbers);
	return c->error;
}

static bool are_of_one_gpu(const struct gp_collective_part *a, const struct gp_collective_part *b)
{
	return a->process == b->process && a->device_id == b->device_id;
}

static bool are_alike(const struct gp_collective_part *a, const struct gp_collective_part *b)
{
	return a->name == b->name && a->communicator == b->communicator && a->stream == b->stream;
}

static int compare(const void *a, const void *b, const void *context)
{
	const struct gp_collective_part *left = a, *right = b;

	(void)context;
	if (left->name != right->name)
		return order(left->name, right->name);
	if (left->communicator != right->communicator)
		return order(left->communicator, right->communicator);
	if (left->stream != right->stream)
		return order(left->stream, right->stream);
	if (!are_of_one_gpu(left, right))
		return left->process != right->process ? order(left->process, right->process)
						       : order(left->device_id, right->device_id);
	return order(left->start_ns, right->start_ns);
}

/* If several ran equally short, none is the last. */
static void find_last(struct gp_collective_part *parts, uint32_t gpus)
{
	uint64_t shortest_ns = parts[0].duration_ns;
	uint32_t as_short = 0;

	for (uint32_t i = 1; i < gpus; i++)
		if (parts[i].duration_ns < shortest_ns)
			shortest_ns = parts[i].duration_ns;
	for (uint32_t i = 0; i < gpus; i++) {
		as_short += parts[i].duration_ns == shortest_ns;
		parts[i].waited_ns = parts[i].duration_ns - shortest_ns;
	}
	for (uint32_t i = 0; i < gpus; i++)
		parts[i].is_last = as_short == 1 && parts[i].waited_ns == 0;
}

/* How much longer the own time of that rank is than the mean of the others'. */
static uint64_t longer_ns(const struct gp_collective_part *parts, uint32_t gpus, uint32_t last)
{
	uint64_t own_ns = gp_collective_own_ns(&parts[last]), others_ns = 0, others = 0;

	for (uint32_t i = 0; i < gpus; i++) {
		if (parts[i].since_ns == 0)
			return UINT64_MAX;
		if (i == last)
			continue;
		others_ns += gp_collective_own_ns(&parts[i]);
		others++;
	}
	others_ns = others > 0 ? others_ns / others : 0;
	return own_ns > others_ns ? own_ns - others_ns : 0;
}

uint64_t gp_collective_held_up_ns(const struct gp_collective_part *parts, uint32_t gpus)
{
	uint64_t sum_ns = 0, most_ns;
	uint32_t last = gpus;

	if (gpus < 2)
		return 0;
	for (uint32_t i = 0; i < gpus; i++) {
		sum_ns += parts[i].waited_ns;
		if (parts[i].is_last)
			last = i;
	}
	if (last == gpus)
		return 0;
	most_ns = longer_ns(parts, gpus, last);
	return sum_ns / (gpus - 1) < most_ns ? sum_ns / (gpus - 1) : most_ns;
}

/* The kernels of one GPU, in order. */
struct row {
	struct gp_collective_part *parts;
	uint32_t count;
};

static uint32_t find_rows(struct gp_collective_part *parts, uint32_t count, struct row *rows)
{
	uint32_t gpus = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (i == 0 || !are_of_one_gpu(&parts[i], &parts[i - 1]))
			rows[gpus++] = (struct row){&parts[i], 0};
		rows[gpus - 1].count++;
	}
	return gpus;
}

/*
 * Whether all GPUs have the same number of kernels. A rank that was killed may have fewer: its
 * trace lacks the last ones.
 */
static bool match(const struct row *rows, uint32_t gpus)
{
	uint32_t whole = 0, most = 0;

	for (uint32_t i = 0; i < gpus; i++) {
		most = rows[i].count > most ? rows[i].count : most;
		if (rows[i].parts->may_lack_last)
			continue;
		if (whole > 0 && rows[i].count != whole)
			return false;
		whole = rows[i].count;
	}
	return whole == 0 || whole == most;
}

/* So that those who read the parts themselves have it, too. */
static void keep_waits(const struct row *rows, uint32_t gpus, uint32_t index,
		       const struct gp_collective_part *of_one)
{
	for (uint32_t k = 0; k < gpus; k++) {
		if (index >= rows[k].count)
			continue;
		rows[k].parts[index].waited_ns = of_one->waited_ns;
		rows[k].parts[index].is_matched = true;
		of_one++;
	}
}

/* Matching kernels, sorted by GPU: the n-th of each are one operation. */
static void take_alike(struct gp_collective_part *parts, uint32_t count, gp_collective_take *take,
		       void *context)
{
	struct row *rows = calloc(count, sizeof(*rows));
	struct gp_collective_part *of_one = calloc(count, sizeof(*of_one));
	uint32_t gpus = rows ? find_rows(parts, count, rows) : 0;
	uint32_t there = rows && of_one && match(rows, gpus) ? 2 : 0;

	for (uint32_t i = 0; there > 1; i++) {
		there = 0;
		for (uint32_t k = 0; k < gpus; k++) {
			const struct gp_collective_part *part = &rows[k].parts[i];

			if (i >= rows[k].count)
				continue;
			of_one[there] = *part;
			of_one[there++].before_ns =
				i > 0 ? part[-1].start_ns + part[-1].duration_ns : 0;
		}
		if (there < 2)
			break;
		find_last(of_one, there);
		keep_waits(rows, gpus, i, of_one);
		if (take)
			take(context, of_one, there);
	}
	free(rows);
	free(of_one);
}

void gp_collectives_sort(struct gp_collectives *c)
{
	gp_array_sort(c->parts, c->count, sizeof(*c->parts), compare, NULL);
}

bool gp_collectives_are_a_row(const struct gp_collective_part *a,
			      const struct gp_collective_part *b)
{
	return are_alike(a, b) && are_of_one_gpu(a, b);
}

int gp_collectives_each(struct gp_collectives *c, gp_collective_take *take, void *context)
{
	gp_collectives_sort(c);
	for (uint32_t first = 0, end; first < c->count; first = end) {
		for (end = first + 1;
		     end < c->count && are_alike(&c->parts[first], &c->parts[end]);)
			end++;
		take_alike(&c->parts[first], end - first, take, context);
	}
	return 0;
}

void gp_collectives_free(struct gp_collectives *c)
{
	gp_spill_free(c->parts);
	*c = (struct gp_collectives){0};
}

int gp_collectives_of(struct gp_scope *scope, struct gp_collectives *c)
{
	int result;

	*c = (struct gp_collectives){.names = &scope->texts, .kinds = gp_scope_kinds(scope)};
	result = c->kinds ? 0 : -ENOMEM;
	for (size_t i = 0; result == 0 && i < scope->model_count && i <= UINT16_MAX; i++)
		result = gp_collectives_add(c, scope->models[i], (uint16_t)i);
	return result;
}

/* ---- the table ---- */

static void count_operation(void *context, const struct gp_collective_part *parts, uint32_t gpus)
{
	for (uint32_t i = 0; i < gpus && gp_collective_is_of_all(parts); i++) {
		const struct gp_collective_part *part = &parts[i];
		const uint64_t key[GP_TALLY_KEYS] = {[PROCESS] = part->process,
						     [DEVICE] = part->device_id,
						     [NAME] = part->name,
						     [COMMUNICATOR] = part->communicator};
		struct gp_tally_row *row = gp_tally_find(context, key);

		row->count++;
		row->sums[LAST] += part->is_last;
		row->sums[HELD_UP_NS] += part->is_last ? gp_collective_held_up_ns(parts, gpus) : 0;
		row->sums[WAITED_NS] += part->waited_ns;
		row->sums[TOTAL_NS] += part->duration_ns;
	}
}

int gp_collective_ranks_of(struct gp_collectives *c, struct gp_tally *tally)
{
	int result = gp_collectives_each(c, count_operation, tally);

	return result == 0 ? tally->error : result;
}

/* Of a job, some scopes have only the devices of some ranks. */
static struct gp_value device_of(const struct gp_scope *scope, const struct gp_model *model,
				 uint16_t device_id)
{
	size_t at = gp_device_list_known(&scope->devices, model, device_id);

	return at == SIZE_MAX ? gp_value_none() : gp_value_whole(scope->devices.entries[at].number);
}

/* names: of kernels, by the numbers of the rows. */
static void put_row(struct gp_scope *scope, struct gp_table *table, const struct gp_groups *names,
		    const struct gp_tally_row *row)
{
	struct gp_model *const *models = scope->job ? scope->job->models : scope->models;
	const struct gp_model *model = models[row->key[PROCESS]];
	const char *rank = model->info[GP_INFO_RANK];
	const char *name = names->rows[row->key[NAME]].key;

	gp_table_put_whole(table, row->count);
	for (size_t i = 0; i <= TOTAL_NS; i++)
		gp_table_put_whole(table, row->sums[i]);
	gp_scope_put_process(scope, table, model);
	gp_table_cell(table, device_of(scope, model, (uint16_t)row->key[DEVICE]));
	gp_table_put_text(table, rank ? rank : "");
	gp_table_cell(table, row->key[COMMUNICATOR] > 0 ? gp_value_whole(row->key[COMMUNICATOR])
							: gp_value_none());
	gp_table_put_text(table, gp_scope_kernel_of(scope, gp_scope_text(scope, name)));
}

static void put_rows(struct gp_scope *scope, struct gp_table *table, const struct gp_groups *names,
		     const struct gp_tally *tally)
{
	for (uint32_t i = 0; i < tally->count; i++)
		put_row(scope, table, names, &tally->rows[i]);
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	const struct gp_job *job = scope->job;
	struct gp_collectives c = {0};
	struct gp_tally tally = {0};
	int result = job ? 0 : gp_collectives_of(scope, &c);

	if (result == 0 && !job)
		result = gp_collective_ranks_of(&c, &tally);
	if (result == 0)
		put_rows(scope, table, job ? &job->fit.names : &scope->texts,
			 job ? &job->collective_ranks : &tally);
	gp_tally_free(&tally);
	gp_collectives_free(&c);
	return result;
}

const struct gp_breakdown gp_breakdown_collective_rank = {
	.help = "late ranks of collectives, by communicator if NCCL's ranges name it",
	.nothing =
		"no two GPUs made the same number of operations of a collective (AllReduce, AllGather, ReduceScatter, AllToAll); name the traces of all ranks",
	.head = {"collective-rank",
		 "Ranks in communication (without a communicator: taken for one of all ranks)",
		 columns, COUNT(columns)},
	.sort_column = 2,
	.fill = fill,
	.job = GP_BREAKDOWN_OF_JOB,
};
