/*
 * NCCL operations by their kernels: collective and type from the name, channels from the grid.  The
 * name says no more: NCCL has one kernel for all reductions and protocols ("Sum", "LL") of a
 * collective and type, and a group of operations runs in one kernel.  The stream identifies the
 * communicator if each has its own stream, as in PyTorch.
 */
#include "report/tables/breakdown.h"

#include <string.h>

#include "gpuprof/count.h"
#include "report/model/model.h"

static const struct gp_table_column columns[] = {
	GP_SHARE_COLUMNS,
	{"Count", GP_UNIT_COUNT},
	{"Untimed", GP_UNIT_COUNT},
	GP_HISTOGRAM_COLUMNS(GP_UNIT_NS),
	{"Channels", GP_UNIT_NUMBER},
	{"PID", GP_UNIT_NUMBER},
	{"Device", GP_UNIT_NUMBER},
	{"Stream", GP_UNIT_NUMBER},
	{"Collective", GP_UNIT_TEXT},
	{"Type", GP_UNIT_TEXT},
};

/* A name that is a prefix of another comes after it. */
static const char *const collectives[] = {"AllReduce", "AllGather", "ReduceScatter", "Reduce",
					  "Broadcast", "AllToAll",  "SendRecv",      "Generic"};

static const char *const types[] = {
	"bf16",    "f16",    "f32",      "f64",     "f8e4m3",   "f8e5m2", "u8",    "u32",
	"u64",     "i8",     "i32",      "i64",     "bfloat16", "half",   "float", "double",
	"uint8_t", "int8_t", "uint32_t", "int32_t", "uint64_t", "int64_t"};

/* The name from the collective on; NULL: not a kernel of NCCL. */
static const char *find_collective(const char *name, size_t *number)
{
	name = strstr(name, "nccl");
	for (*number = 0; name && *number < COUNT(collectives); ++*number) {
		const char *found = strstr(name, collectives[*number]);

		if (found)
			return found;
	}
	return NULL;
}

/* The first word after a "_" that is a type. */
static const char *find_type(const char *name)
{
	for (; (name = strchr(name, '_')) != NULL; name++)
		for (size_t i = 0; i < COUNT(types); i++) {
			size_t length = strlen(types[i]);

			if (strncmp(name + 1, types[i], length) == 0 &&
			    strchr("_(P2 ", name[1 + length]))
				return types[i];
		}
	return "";
}

enum { NAME, PROCESS, DEVICE, STREAM, CHANNELS };

static void take(struct gp_tally *tally, const struct gp_scope_op *at)
{
	const struct gp_op *op = at->op;
	size_t number;

	if (op->kind != GP_OP_KERNEL ||
	    !find_collective(gp_model_kernel_name(at->model, op), &number))
		return;
	const uint64_t key[GP_TALLY_KEYS] = {
		[NAME] = at->name,
		[PROCESS] = at->process,
		[DEVICE] = gp_scope_device(at->scope, at->model, op->device_id),
		[STREAM] = op->stream_id,
		[CHANNELS] = op->shape < at->model->shape_count
				     ? at->model->shapes[op->shape].grid[0]
				     : 0,
	};
	gp_scope_count_op(tally, gp_tally_find(tally, key), op);
}

static void put(struct gp_scope *scope, struct gp_table *table, const struct gp_tally_row *row,
		double total)
{
	size_t number = 0;
	const char *name = find_collective(gp_scope_text_of(scope, row->key[NAME]), &number);

	gp_scope_put_share(table, row, total);
	gp_table_put_whole(table, row->count);
	gp_table_put_whole(table, row->sums[GP_SCOPE_UNTIMED]);
	gp_scope_put_spread(table, &row->series[0]);
	gp_table_put_whole(table, row->key[CHANNELS]);
	gp_scope_put_process(scope, table, scope->models[row->key[PROCESS]]);
	gp_table_put_whole(table, row->key[DEVICE]);
	gp_table_put_whole(table, row->key[STREAM]);
	gp_table_put_text(table, name ? collectives[number] : "");
	gp_table_put_text(table, name ? find_type(name) : "");
}

static int fill(struct gp_scope *scope, struct gp_table *table)
{
	return gp_scope_table_of_ops(scope, table, take, put);
}

const struct gp_breakdown gp_breakdown_collective = {
	.help = "NCCL's operations, as told by the names and grids of their kernels",
	.nothing = "no kernel of NCCL's was recorded",
	.head = {"collective", "NCCL's operations", columns, COUNT(columns)},
	.sort_column = 1,
	.fill = fill,
};
