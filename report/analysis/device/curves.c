#include "report/analysis/device/curves.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "report/analysis/idle/queue.h"
#include "report/base/array.h"
#include "report/trace/cuda_names.h"
#include "report/base/spill_memory.h"
#include "report/base/tally.h"

void gp_curve_add(struct gp_curve *curve, struct gp_curve_point point)
{
	gp_array_grow_spill(&curve->points, &curve->capacity, curve->count, sizeof(*curve->points));
	curve->points[curve->count++] = point;
}

GP_COMPARE_BY(compare_times, struct gp_curve_point, time_ns)

static int sort(struct gp_curve *curve)
{
	gp_array_sort(curve->points, curve->count, sizeof(*curve->points), compare_times, NULL);
	return 0;
}

/*
 * In the order in which they began, curves hold no earlier points: none is written over before it
 * is read.
 */
int gp_curve_begin_at(struct gp_curve *curve, uint64_t first_ns)
{
	struct gp_tally held = {0};
	uint32_t before = 0;

	for (; before < curve->count && curve->points[before].time_ns < first_ns; before++) {
		const uint64_t key[GP_TALLY_KEYS] = {curve->points[before].index};

		gp_tally_find(&held, key)->sums[0] = before;
	}
	for (uint32_t i = 0; i < held.count; i++) {
		curve->points[i] = curve->points[held.rows[i].sums[0]];
		curve->points[i].time_ns = first_ns;
	}
	if (before > held.count) {
		memmove(curve->points + held.count, curve->points + before,
			(curve->count - before) * sizeof(*curve->points));
		curve->count -= before - held.count;
	}
	gp_tally_free(&held);
	return 0;
}

void gp_curve_free(struct gp_curve *curve)
{
	gp_spill_free(curve->points);
	*curve = (struct gp_curve){0};
}

/* ---- queues ---- */

struct gathering {
	struct gp_curve *curve;
	uint32_t op; /* the stream's first one */
};

static void take_length(void *context, uint64_t time_ns, uint64_t length)
{
	struct gathering *gathering = context;

	gp_curve_add(gathering->curve, (struct gp_curve_point){time_ns, length, gathering->op, 0});
}

int gp_curve_queues(struct gp_curve *curve, const struct gp_model *model)
{
	struct gathering gathering = {.curve = curve};
	struct gp_queue queue;

	*curve = (struct gp_curve){0};
	for (uint32_t end; gathering.op < model->op_count; gathering.op = end) {
		end = gp_model_stream_end(model, gathering.op);
		gp_queue_of(&queue, model, gathering.op, end, take_length, &gathering);
	}
	return sort(curve);
}

/* ---- bandwidth ---- */

const char *gp_curve_direction(const struct gp_op *op)
{
	return op->kind == GP_OP_COPY ? gp_copy_kind_name(op->copy_kind) : "memset";
}

/* The running copies and memsets of one device and direction, in bytes a second. */
struct rates {
	struct rate {
		uint16_t device_id;
		const char *direction;
		uint32_t op; /* the first one */
		uint64_t bytes_per_s;
	} * rows;
	uint32_t count, capacity;
};

static struct rate *find_rate(struct rates *rates, const struct gp_model *model, uint32_t index)
{
	const struct gp_op *op = &model->ops[index];
	const char *direction = gp_curve_direction(op);

	for (uint32_t i = 0; i < rates->count; i++)
		if (rates->rows[i].device_id == op->device_id &&
		    rates->rows[i].direction == direction)
			return &rates->rows[i];
	gp_array_grow_spill(&rates->rows, &rates->capacity, rates->count, sizeof(*rates->rows));
	rates->rows[rates->count] = (struct rate){op->device_id, direction, index, 0};
	return &rates->rows[rates->count++];
}

static bool has_rate(const struct gp_op *op)
{
	return (op->kind == GP_OP_COPY || op->kind == GP_OP_SET) && !op->untimed &&
	       !gp_op_is_on_host(op) && op->end_ns > op->start_ns && op->bytes > 0;
}

/* A bound for absurd times of a damaged file, so that sums stay numbers. */
#define MOST_BYTES_PER_S (UINT64_C(1) << 56)

static uint64_t rate_of(const struct gp_op *op)
{
	double rate = (double)op->bytes * 1e9 / (double)(op->end_ns - op->start_ns);

	return rate < (double)MOST_BYTES_PER_S ? (uint64_t)rate : MOST_BYTES_PER_S;
}

enum { BEGINS, ENDS };

/* Ends before starts: where they are at one moment the sort leaves them so. */
static void add_points(struct gp_curve *curve, const struct gp_model *model, uint8_t kind)
{
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (has_rate(op))
			gp_curve_add(curve,
				     (struct gp_curve_point){
					     kind == ENDS ? op->end_ns : op->start_ns, 0, i, kind});
	}
}

/* From starts and ends to sums at each moment. */
static int add_up(struct gp_curve *curve, const struct gp_model *model)
{
	struct rates rates = {0};

	for (uint32_t i = 0; i < curve->count; i++) {
		struct gp_curve_point *point = &curve->points[i];
		const struct gp_op *op = &model->ops[point->index];
		struct rate *rate = find_rate(&rates, model, point->index);

		rate->bytes_per_s += point->kind == BEGINS ? rate_of(op) : -rate_of(op);
		point->value = rate->bytes_per_s;
		point->index = rate->op;
		point->kind = 0;
	}
	gp_spill_free(rates.rows);
	return 0;
}

int gp_curve_bandwidth(struct gp_curve *curve, const struct gp_model *model)
{
	*curve = (struct gp_curve){0};
	add_points(curve, model, ENDS);
	add_points(curve, model, BEGINS);
	sort(curve);
	return add_up(curve, model);
}
