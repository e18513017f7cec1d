/*
 * ranks: writes the traces of a synthetic training job of many ranks, with known faults.
 *
 *	ranks RANKS STEPS FOLDER
 *
 * RANKS is a multiple of 32: the eight ranks of a host share their layers (TP), four hosts are the
 * stages of a pipeline (PP), and other groups of 32 ranks have other data (DP).  A step has LAYERS
 * kernels, each with an AllReduce of the TP group; a SendRecv of the PP group; an AllReduce of the DP
 * group; and an AllReduce of 4 bytes of all ranks of a model (the norm of the gradients).  NCCL's
 * ranges name the communicators and sizes.  The files are FOLDER/nodeNNNN/NNNNN.gpuprof.
 *
 * Rank 5 begins each step HOST_LATE_NS late; the kernels of rank 3/4 RANKS take longer by GPU_LATE_NS;
 * rank 17 is killed in the middle of the steps; rank 40, if there is one, has no trace; the clock
 * of node1 is ahead by SKEW_NS, and drifts by DRIFT_PPM.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/report/trace_builder.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

#define HOST_RANKS   8u
#define STAGES       4u
#define LAYERS       4u
#define HOST_LATE_NS (5 * MS)
#define GPU_LATE_NS  (1 * MS)
#define SKEW_NS      (250 * MS)
#define DRIFT_PPM    20u
#define LATE_HOST    5u
#define KILLED       17u
#define WITHOUT      40u
#define LAUNCH_NS    (5 * US)
#define BETWEEN_NS   (100 * US) /* from the end of a step to the next one */
#define CHUNK_STEPS  100u       /* in a chunk */

enum { TP, PP, DP, MP, AXES };
enum { LAYER, ALL_REDUCE, SEND_RECV, KERNELS };
enum { WRITER, CALLS, WORK }; /* rings */

static const char *const kernels[KERNELS] = {
	"_Z5layerPf", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "ncclDevKernel_SendRecv"};
static const char *const calls[AXES] = {"ncclAllReduce", "ncclSend", "ncclAllReduce",
					"ncclAllReduce"};
static const uint64_t sizes[AXES] = {8 << 20, 16 << 20, 256 << 20, 4};
static const uint64_t transfers_ns[AXES] = {60 * US, 80 * US, 1500 * US, 30 * US};

/* NCCL's schemas. */
static const char schema_of_init[] = "1\t24\tncclCommInitRank\n"
				     "0\t18\t0\t0\tNCCL communicator ID\n"
				     "0\t5\t8\t0\tNo. of ranks\n"
				     "0\t5\t12\t0\tRank\n";
static const char schema_of_call[] = "1\t16\tcollective\n"
				     "0\t18\t0\t0\tNCCL communicator ID\n"
				     "0\t22\t8\t0\tMessage size [bytes]\n";

struct job {
	uint32_t ranks, steps;
	const char *folder;
};

#define OPS (2 * LAYERS + 3) /* of a step */

struct op {
	uint64_t launch_ns, start_ns, end_ns;
};

/* ---- the job ---- */

static uint64_t chance = 1;

static uint64_t by_chance(uint64_t most)
{
	chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (chance >> 33) % most;
}

/* The distance of the members of a group of that axis, and the number of members. */
static uint32_t stride_of(uint32_t axis)
{
	return axis == PP ? HOST_RANKS : axis == DP ? HOST_RANKS * STAGES : 1;
}

static uint32_t members_of(const struct job *job, uint32_t axis)
{
	return axis == TP   ? HOST_RANKS
	       : axis == PP ? STAGES
	       : axis == MP ? HOST_RANKS * STAGES
			    : job->ranks / (HOST_RANKS * STAGES);
}

/* The lowest rank of the group. */
static uint32_t first_of(const struct job *job, uint32_t axis, uint32_t rank)
{
	uint32_t stride = stride_of(axis);

	return rank / (stride * members_of(job, axis)) * stride * members_of(job, axis) +
	       rank % stride;
}

static void compute(const struct job *job, struct op *ops, uint64_t *free_ns, uint32_t at)
{
	for (uint32_t rank = 0; rank < job->ranks; rank++) {
		struct op *op = &ops[(size_t)rank * OPS + at];

		/* the host waits for the GPU at the end of a step */
		op->launch_ns = at > 0 ? op[-1].launch_ns + 10 * US
				       : free_ns[rank] + BETWEEN_NS +
						 (rank == LATE_HOST ? HOST_LATE_NS : 0);
		op->start_ns = op->launch_ns + 8 * US;
		if (op->start_ns < free_ns[rank])
			op->start_ns = free_ns[rank];
		op->end_ns = op->start_ns + 2 * MS + by_chance(20 * US) +
			     (rank == job->ranks / 4 * 3 ? GPU_LATE_NS : 0);
		free_ns[rank] = op->end_ns + US;
	}
}

/* All members of a group leave when the last one has entered, and the data is there. */
static void communicate(const struct job *job, struct op *ops, uint64_t *free_ns, uint32_t at,
			uint32_t axis)
{
	uint64_t *last_ns = calloc(job->ranks, sizeof(*last_ns));

	if (!last_ns)
		abort();
	for (uint32_t rank = 0; rank < job->ranks; rank++) {
		uint32_t first = first_of(job, axis, rank);

		if (free_ns[rank] > last_ns[first])
			last_ns[first] = free_ns[rank];
	}
	for (uint32_t rank = 0; rank < job->ranks; rank++) {
		struct op *op = &ops[(size_t)rank * OPS + at];

		op->launch_ns = op[-1].launch_ns + 10 * US;
		op->start_ns = free_ns[rank];
		op->end_ns =
			last_ns[first_of(job, axis, rank)] + transfers_ns[axis] + by_chance(400);
		free_ns[rank] = op->end_ns + US;
	}
	free(last_ns);
}

static uint32_t axis_at(uint32_t at)
{
	return at < 2 * LAYERS ? TP : PP + (at - 2 * LAYERS);
}

/* Returns its end. */
static uint64_t plan(const struct job *job, struct op *ops, uint64_t *free_ns)
{
	uint64_t end_ns = 0;

	for (uint32_t at = 0; at < OPS; at++)
		if (at < 2 * LAYERS && at % 2 == 0)
			compute(job, ops, free_ns, at);
		else
			communicate(job, ops, free_ns, at, axis_at(at));
	for (uint32_t rank = 0; rank < job->ranks; rank++)
		end_ns = free_ns[rank] > end_ns ? free_ns[rank] : end_ns;
	return end_ns;
}

/* ---- a trace ---- */

/* A time of the job as the clock of the rank's host shows it. */
static uint64_t shown(uint32_t rank, uint64_t ns)
{
	return rank / HOST_RANKS == 1 ? ns + SKEW_NS + ns * DRIFT_PPM / 1000000 : ns;
}

static void add_info(struct gp_builder *b, enum gp_info info, const char *form, uint32_t number)
{
	char text[64];

	snprintf(text, sizeof(text), form, number);
	gp_builder_string(b, GP_STRING_INFO, info, 0, text);
}

static uint64_t communicator_of(const struct job *job, uint32_t axis, uint32_t rank)
{
	return ((uint64_t)(axis + 1) << 32 | first_of(job, axis, rank)) *
	       UINT64_C(0x9e3779b97f4a7c15);
}

static void define(struct gp_builder *b, const struct job *job, uint32_t rank)
{
	uint32_t host = rank / HOST_RANKS;

	gp_builder_start(b);
	gp_builder_anchor(b, shown(rank, 0));
	add_info(b, GP_INFO_PID, "%u", 1000 + rank % HOST_RANKS);
	add_info(b, GP_INFO_HOST, "node%u", host);
	add_info(b, GP_INFO_BOOT_ID, "%08u-0000-4000-8000-000000000000", host);
	add_info(b, GP_INFO_RANK, "%u", rank);
	add_info(b, GP_INFO_LOCAL_RANK, "%u", rank % HOST_RANKS);
	add_info(b, GP_INFO_WORLD_SIZE, "%u", job->ranks);
	gp_builder_add(b,
		       &(struct gp_record_device){.kind = GP_RECORD_DEVICE,
						  .compute_major = 9,
						  .multiprocessors = 132,
						  .warp_threads = 32,
						  .memory_bytes = UINT64_C(80) << 30,
						  .uuid = {1, (uint8_t)host, (uint8_t)(host >> 8),
							   (uint8_t)(rank % HOST_RANKS)}});
	gp_builder_string(b, GP_STRING_DEVICE, 0, 0, "GPU");
	for (uint32_t i = 0; i < KERNELS; i++)
		gp_builder_string(b, GP_STRING_KERNEL, 2 + i, 0, kernels[i]);
	gp_builder_string(b, GP_STRING_DOMAIN, 1, 0, "NCCL");
	gp_builder_bytes(b, GP_STRING_SCHEMA, 1, 0, schema_of_init, sizeof(schema_of_init) - 1);
	gp_builder_bytes(b, GP_STRING_SCHEMA, 2, 0, schema_of_call, sizeof(schema_of_call) - 1);
	gp_builder_string(b, GP_STRING_RANGE, 1, 0, "ncclCommInitRank");
	for (uint32_t axis = 0; axis < AXES; axis++) {
		uint64_t call[2] = {communicator_of(job, axis, rank), sizes[axis]};
		uint64_t init[3] = {
			call[0],
			members_of(job, axis) |
				(uint64_t)((rank - first_of(job, axis, rank)) / stride_of(axis))
					<< 32};

		gp_builder_string(b, GP_STRING_RANGE, 2 + axis, 0, calls[axis]);
		gp_builder_bytes(b, GP_STRING_PAYLOAD, 1 + axis, 2, call, sizeof(call));
		gp_builder_bytes(b, GP_STRING_PAYLOAD, 1 + AXES + axis, 1, init, sizeof(init));
	}
}

static void add_range(struct gp_builder *b, uint32_t text, uint32_t payload, uint64_t ns)
{
	gp_builder_add(b, &(struct gp_record_range){.kind = GP_RECORD_RANGE,
						    .op = text > 0 ? GP_RANGE_PUSH : GP_RANGE_POP,
						    .text_id = text,
						    .domain_id = 1,
						    .payload_id = payload,
						    .ticks = GP_TEST_AT_TICK(ns)});
}

static void add_calls(struct gp_builder *b, uint32_t rank, const struct op *ops, uint32_t first)
{
	for (uint32_t at = 0; at < OPS; at++) {
		bool talks = at >= 2 * LAYERS || at % 2 == 1;
		uint64_t ns = shown(rank, ops[at].launch_ns);

		if (talks)
			add_range(b, 2 + axis_at(at), 1 + axis_at(at), ns - US);
		gp_builder_call(b, GP_TEST_LAUNCH, first + at, ns, LAUNCH_NS);
		if (talks)
			add_range(b, 0, 0, ns + LAUNCH_NS + US);
	}
	gp_builder_call(b, GP_TEST_SYNC, 0, shown(rank, ops[OPS - 1].launch_ns) + 10 * US,
			ops[OPS - 1].end_ns - ops[OPS - 1].launch_ns);
}

static void add_work(struct gp_builder *b, uint32_t rank, const struct op *ops, uint32_t first)
{
	for (uint32_t at = 0; at < OPS; at++) {
		uint32_t kernel = at == 2 * LAYERS                 ? SEND_RECV
				  : at > 2 * LAYERS || at % 2 == 1 ? ALL_REDUCE
								   : LAYER;

		gp_builder_add(b, &(struct gp_record_kernel){
					  .kind = GP_RECORD_KERNEL,
					  .correlation_id = first + at,
					  .start_ns = GP_TEST_CUPTI(shown(rank, ops[at].start_ns)),
					  .end_ns = GP_TEST_CUPTI(shown(rank, ops[at].end_ns)),
					  .name_id = 2 + kernel,
					  .shape_id = 1,
					  .context_id = 1,
					  .stream_id = 7});
	}
}

static void add_steps(struct gp_builder *b, const struct job *job, uint32_t rank,
		      const struct op *ops, uint32_t steps)
{
	gp_builder_chunk(b, CALLS, 100);
	for (uint32_t axis = 0; axis < AXES; axis++) {
		add_range(b, 1, 1 + AXES + axis, shown(rank, (1 + axis) * 10 * US));
		add_range(b, 0, 0, shown(rank, (1 + axis) * 10 * US + US));
	}
	for (uint32_t i = 0; i < steps; i++) {
		if (i > 0 && i % CHUNK_STEPS == 0)
			gp_builder_chunk(b, CALLS, 100);
		add_calls(b, rank, &ops[((size_t)i * job->ranks + rank) * OPS], 1 + i * OPS);
	}
	for (uint32_t i = 0; i < steps; i++) {
		if (i % CHUNK_STEPS == 0)
			gp_builder_chunk(b, WORK, 300);
		add_work(b, rank, &ops[((size_t)i * job->ranks + rank) * OPS], 1 + i * OPS);
	}
}

static bool write_rank(const struct job *job, uint32_t rank, const struct op *ops, uint64_t end_ns)
{
	bool is_killed = rank == KILLED, is_written;
	struct gp_builder b;
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/node%04u", job->folder, rank / HOST_RANKS);
	mkdir(path, 0777);
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/%05u.gpuprof", rank);
	gp_builder_init(&b);
	define(&b, job, rank);
	add_steps(&b, job, rank, ops, is_killed ? job->steps / 2 : job->steps);
	gp_builder_chunk(&b, WRITER, 0);
	gp_builder_anchor(&b, shown(rank, end_ns));
	if (!is_killed)
		gp_builder_end(&b, shown(rank, end_ns));
	gp_builder_seal(&b);
	file = fopen(path, "w");
	is_written = file && fwrite(b.bytes, 1, b.length, file) == b.length;
	is_written = file && fclose(file) == 0 && is_written;
	gp_builder_free(&b);
	return is_written;
}

int main(int argc, char **argv)
{
	struct job job = {.ranks = argc == 4 ? (uint32_t)atol(argv[1]) : 0,
			  .steps = argc == 4 ? (uint32_t)atol(argv[2]) : 0,
			  .folder = argc == 4 ? argv[3] : NULL};
	uint64_t end_ns = 0, *free_ns = calloc(job.ranks + 1, sizeof(*free_ns));
	struct op *ops = calloc((size_t)job.ranks * job.steps * OPS + 1, sizeof(*ops));
	bool is_written = true;

	if (job.ranks == 0 || job.ranks % (HOST_RANKS * STAGES) != 0 || job.steps == 0 || !ops ||
	    !free_ns) {
		fprintf(stderr, "usage: ranks RANKS STEPS FOLDER   (RANKS: a multiple of %u)\n",
			HOST_RANKS * STAGES);
		free(ops);
		free(free_ns);
		return 64;
	}
	mkdir(job.folder, 0777);
	for (uint32_t rank = 0; rank < job.ranks; rank++)
		free_ns[rank] = 1 * MS;
	for (uint32_t i = 0; i < job.steps; i++)
		end_ns = plan(&job, &ops[(size_t)i * job.ranks * OPS], free_ns);
	for (uint32_t rank = 0; rank < job.ranks && is_written; rank++)
		is_written = rank == WITHOUT || write_rank(&job, rank, ops, end_ns + BETWEEN_NS);
	free(ops);
	free(free_ns);
	return is_written ? 0 : 1;
}
