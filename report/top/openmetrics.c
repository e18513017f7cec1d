#include "report/top/openmetrics.h"

#include "gpuprof/count.h"
#include "report/analysis/idle/activity.h"
#include "report/document/openmetrics_text.h"
#include "report/model/losses.h"
#include "report/trace/cuda_names.h"

#define COUNTER GP_OPENMETRICS_COUNTER
#define GAUGE   GP_OPENMETRICS_GAUGE
#define NUMBER  GP_OPENMETRICS_COUNT
#define SECONDS GP_OPENMETRICS_SECONDS
#define BYTES   GP_OPENMETRICS_BYTES

enum {
	INFO,
	RECORDING,
	RECORDED,
	KERNELS,
	KERNEL_TIME,
	COPIES,
	COPY_TIME,
	COPY_BYTES,
	CALLS,
	CALL_TIME,
	FAILURES,
	BUSY,
	ALLOCATED,
	PEAK,
	STEP,
	MISSING,
	METRICS
};

static const struct gp_openmetrics_metric metrics[METRICS] = {
	[INFO] = {"gpuprof_info", "The process.", GAUGE, NUMBER},
	[RECORDING] = {"gpuprof_recording", "1: it is recorded now; 0: paused, or ended.", GAUGE,
		       NUMBER},
	[RECORDED] = {"gpuprof_recorded", "Time that was recorded, without pauses.", COUNTER,
		      SECONDS},
	[KERNELS] = {"gpuprof_kernels", "Kernel runs.", COUNTER, NUMBER},
	[KERNEL_TIME] = {"gpuprof_kernel", "Time in kernels.", COUNTER, SECONDS},
	[COPIES] = {"gpuprof_copies", "Memory copies and memsets.", COUNTER, NUMBER},
	[COPY_TIME] = {"gpuprof_copy", "Time in memory copies and memsets.", COUNTER, SECONDS},
	[COPY_BYTES] = {"gpuprof_copy", "Bytes of memory copies and memsets.", COUNTER, BYTES},
	[CALLS] = {"gpuprof_api_calls", "CUDA API calls.", COUNTER, NUMBER},
	[CALL_TIME] = {"gpuprof_api", "Time in CUDA API calls.", COUNTER, SECONDS},
	[FAILURES] = {"gpuprof_api_failures", "CUDA API calls that returned an error.", COUNTER,
		      NUMBER},
	[BUSY] = {"gpuprof_device_busy",
		  "Time with at least one operation of this process running on the GPU.", COUNTER,
		  SECONDS},
	[ALLOCATED] = {"gpuprof_memory_allocated", "Memory that is allocated now.", GAUGE, BYTES},
	[PEAK] = {"gpuprof_memory_peak", "Peak of allocated memory.", GAUGE, BYTES},
	[STEP] = {"gpuprof_step", "Median of the last steps of the main loop.", GAUGE, SECONDS},
	[MISSING] = {"gpuprof_missing", "Lost records and other missing data, by cause.", GAUGE,
		     NUMBER},
};

struct text {
	struct gp_openmetrics_samples samples[METRICS];
	const struct gp_page *page;
};

/* A sample with labels of its own: pairs of names and values up to a NULL. */
static void put(struct text *t, int metric, uint64_t value, const char *const labels[])
{
	const struct gp_live *l = t->page->live;
	struct gp_openmetrics_labels all;

	gp_openmetrics_begin(&all, t->page->tail->pid, l->info[GP_INFO_PROGRAM]);
	if (l->info[GP_INFO_RANK])
		gp_openmetrics_label(&all, "rank", l->info[GP_INFO_RANK]);
	for (; labels && *labels; labels += 2)
		gp_openmetrics_label(&all, labels[0], labels[1]);
	gp_openmetrics_end(&all, &metrics[metric], &t->samples[metric], value);
}

static void put_info(struct text *t)
{
	static const char *const names[] = {"host", "version", "cupti", "driver"};
	static const enum gp_info infos[] = {GP_INFO_HOST, GP_INFO_VERSION, GP_INFO_CUPTI_VERSION,
					     GP_INFO_DRIVER_VERSION};
	const char *labels[2 * COUNT(infos) + 1] = {0};
	size_t used = 0;

	for (size_t i = 0; i < COUNT(infos); i++) {
		if (!t->page->live->info[infos[i]])
			continue;
		labels[used++] = names[i];
		labels[used++] = t->page->live->info[infos[i]];
	}
	put(t, INFO, 1, labels);
}

/* ---- calls and operations ---- */

/* `first` and the metrics behind it are the number, the time and the bytes of a thing. */
static void put_values(struct text *t, int first, const char *label, const char *name,
		       struct gp_sum_values values)
{
	const char *const labels[] = {label, name, NULL};

	put(t, first, values.count, labels);
	put(t, first + 1, values.ns, labels);
	if (first == COPIES)
		put(t, COPY_BYTES, values.bytes, labels);
}

static void put_copy(struct text *t, const struct gp_sum *sum)
{
	const struct gp_op op = {
		.kind = GP_OP_COPY,
		.copy_kind = sum->first.copy.copy_kind,
		.source_kind = sum->first.copy.source_kind,
		.destination_kind = sum->first.copy.destination_kind,
	};
	char name[GP_ACTIVITY_LABEL_BYTES];

	gp_activity_label(name, &op);
	put_values(t, COPIES, "operation", name, gp_sum_values(sum));
}

static void put_memset(struct text *t, const struct gp_sum *sum)
{
	const struct gp_op op = {.kind = GP_OP_SET,
				 .destination_kind = sum->first.memset.memory_kind};
	char name[GP_ACTIVITY_LABEL_BYTES];

	gp_activity_label(name, &op);
	put_values(t, COPIES, "operation", name, gp_sum_values(sum));
}

static void put_call(struct text *t, const struct gp_sum *sum)
{
	const char *name = gp_live_api_name(t->page->live, sum->first.call.api);
	const char *const labels[] = {"function", name ? name : "(unknown function)", NULL};

	put_values(t, CALLS, labels[0], labels[1], gp_sum_values(sum));
	if (sum->failed > 0)
		put(t, FAILURES, sum->failed, labels);
}

static void put_sum(struct text *t, const struct gp_sum *sum)
{
	const struct gp_live *l = t->page->live;
	const char *name;

	switch (sum->kind) {
	case GP_SUM_KERNEL:
		name = gp_live_kernel_name(l, sum->first.kernel.name_id);
		put_values(t, KERNELS, "kernel",
			   name ? gp_names_short(t->page->names, name) : "(unknown kernel)",
			   gp_sum_values(sum));
		break;
	case GP_SUM_GRAPH:
		put_values(t, KERNELS, "kernel", "[graph]", gp_sum_values(sum));
		break;
	case GP_SUM_COPY:
		put_copy(t, sum);
		break;
	case GP_SUM_MEMSET:
		put_memset(t, sum);
		break;
	default:
		put_call(t, sum);
	}
}

/* What is beyond the limit of sums has no name of its own. */
static void put_sums(struct text *t)
{
	static const struct {
		int first;
		const char *label;
	} kinds[GP_SUM_KINDS] = {
		[GP_SUM_CALL] = {CALLS, "function"},   [GP_SUM_KERNEL] = {KERNELS, "kernel"},
		[GP_SUM_COPY] = {COPIES, "operation"}, [GP_SUM_MEMSET] = {COPIES, "operation"},
		[GP_SUM_GRAPH] = {KERNELS, "kernel"},
	};
	const struct gp_sums *sums = &t->page->live->sums;

	for (uint32_t i = 0; i < sums->count; i++)
		put_sum(t, sums->sums[i]);
	for (int kind = 0; kind < GP_SUM_KINDS; kind++)
		if (sums->others[kind])
			put_values(t, kinds[kind].first, kinds[kind].label, "(others)",
				   gp_sum_values(sums->others[kind]));
}

/* ---- devices, memory, steps, losses ---- */

static void put_devices(struct text *t)
{
	const struct gp_live *l = t->page->live;

	for (uint32_t i = 0; i < l->device_count; i++) {
		const struct gp_live_device *device = &l->devices[i];
		char number[16];
		const char *const labels[] = {"device", number, "name",
					      device->name ? device->name : "", NULL};

		snprintf(number, sizeof(number), "%u", device->id);
		put(t, BUSY, device->busy_before_ns, labels);
	}
}

static void put_memory(struct text *t)
{
	const struct gp_memory_ledger *ledger = &t->page->live->memory.ledger;

	for (uint32_t i = 0; i < ledger->row_count; i++) {
		const struct gp_memory_row *row = &ledger->rows[i];
		char number[24] = "host";
		const char *const labels[] = {"device", number, "memory",
					      row->kind == GP_MEMORY_OF_DEVICE
						      ? "all of the device's own"
						      : gp_allocation_name(row->kind),
					      NULL};

		if (row->device != GP_MEMORY_OF_HOST)
			snprintf(number, sizeof(number), "%zu", row->device);
		put(t, ALLOCATED, row->now_bytes, labels);
		put(t, PEAK, row->peak_bytes, labels);
	}
}

static void put_step(struct text *t)
{
	uint64_t step_ns = 0;

	if (gp_live_steps_find(&t->page->live->steps, &step_ns) == 0 && step_ns > 0)
		put(t, STEP, step_ns, NULL);
}

static void put_loss(struct text *t, unsigned number, uint64_t count)
{
	const char *const labels[] = {"what", gp_loss_table[number].sentence, NULL};

	if (count > 0)
		put(t, MISSING, count, labels);
}

static void put_losses(struct text *t)
{
	for (unsigned i = 0; i < GP_COUNTERS; i++)
		if (gp_loss_table[i].kind == GP_LOSS_LOSS ||
		    gp_loss_table[i].kind == GP_LOSS_TEXT_LOSS)
			put_loss(t, i, t->page->tail->counters[i]);
	put_loss(t, GP_LOST_DAMAGED_BYTES, t->page->tail->damaged_bytes);
	put_loss(t, GP_LOST_UNREADABLE_RECORDS, t->page->tail->unknown_records);
}

static void put_page(struct text *t, const struct gp_page *page)
{
	t->page = page;
	put_info(t);
	put(t, RECORDING, !gp_page_is_over(page) && !page->live->is_paused, NULL);
	put(t, RECORDED, gp_live_recorded_ns(page->live), NULL);
	put_sums(t);
	put_devices(t);
	put_memory(t);
	put_step(t);
	put_losses(t);
}

void gp_top_openmetrics_print(FILE *out, const struct gp_page *pages, size_t count)
{
	struct text text = {0};

	for (size_t i = 0; i < count; i++)
		put_page(&text, &pages[i]);
	for (int i = 0; i < METRICS; i++) {
		gp_openmetrics_write(out, &metrics[i], &text.samples[i]);
		gp_openmetrics_free(&text.samples[i]);
	}
	gp_openmetrics_write_end(out);
}
