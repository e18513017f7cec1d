/*
 * The Perfetto format: a stream of TracePackets (protos/perfetto/trace/trace_packet.proto of
 * github.com/google/perfetto).
 *
 * Calls and ranges are track events on threads.  GPU operations are GpuRenderStageEvents: they may
 * overlap on a stream, have the arguments of the launch, and fill the GPU tabs of the viewer.  A
 * call names the operations that it launched.
 */
#include <errno.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/export/perfetto/perfetto_writer.h"
#include "report/symbols/unique_names.h"
#include "report/analysis/host/range_spans.h"

#define API_IDS 65536u

/* Pids for processes whose pid is in use; above all pids of Linux. */
#define FIRST_FREE_PID 4194305u

struct pids {
	uint32_t *used;
	uint32_t count, capacity;
};

/* Two machines, or a process before and after an exec, may have the same pid. */
static void choose_pid(struct gp_perfetto *p, struct pids *pids)
{
	p->pid = p->model->pid;
	for (uint32_t i = 0; i < pids->count; i++)
		if (pids->used[i] == p->pid)
			p->pid = FIRST_FREE_PID + pids->count;
	gp_array_grow(&pids->used, &pids->capacity, pids->count, sizeof(*pids->used));
	pids->used[pids->count++] = p->pid;
}

static void free_names(struct gp_perfetto *p)
{
	free(p->codes);
	free(p->apis);
	free(p->kernels);
	free(p->kernel_names);
	free(p->shown_sites);
	gp_call_sites_free(p->sites);
	gp_symbols_free(p->symbols);
	p->codes = p->apis = p->kernels = p->kernel_names = p->shown_sites = NULL;
	p->site_capacity = 0;
	p->sites = NULL;
	p->symbols = NULL;
}

static void allocate_names(struct gp_perfetto *p)
{
	const struct gp_model *model = p->model;

	p->codes = calloc((size_t)model->text_count + 1, sizeof(*p->codes));
	p->apis = calloc(API_IDS, sizeof(*p->apis));
	p->kernels = calloc((size_t)model->name_count + 1, sizeof(*p->kernels));
	p->kernel_names = calloc((size_t)model->name_count + 1, sizeof(*p->kernel_names));
	p->sites = gp_call_sites_new();
	p->symbols = gp_symbols_new();
}

static void walk(struct gp_perfetto *p)
{
	p->timeline = (struct gp_timeline){
		.model = p->model,
		.filter = gp_slice_filter_of(&p->options->choice, p->model),
		.is_later = p->is_later,
		.has_curves = p->options->counters,
		.has_path = p->options->critical_path,
		.started_apart = true,
		.host_depth = gp_host_spans_depth(p->model),
		.names = p->names,
		.deep_ranges = p->timeline.deep_ranges,
		.cut_ranges = p->timeline.cut_ranges,
		.sink = &gp_perfetto_sink,
		.context = p,
	};
	if (p->options->messages && !p->is_later)
		gp_host_depth_explain(&p->timeline.host_depth, p->options->messages);
	p->error = gp_timeline_walk(&p->timeline);
}

static void write_model(struct gp_perfetto *p)
{
	allocate_names(p);
	gp_perfetto_ops_open(p);
	if (!p->is_later)
		gp_perfetto_write_process(p);
	walk(p);
	if (p->options->messages && !p->is_later)
		gp_call_sites_explain(p->sites, p->options->messages);
	p->last_event += p->model->op_count;
	gp_perfetto_ops_close(p);
	free_names(p);
}

static void forget_process(struct gp_perfetto *p)
{
	gp_groups_free(&p->lasting);
	p->lasting_count = 0;
}

/* Packets have Unix times, so processes need no common base. */
static int write_models(struct gp_perfetto *p, const struct gp_export_source *source)
{
	struct pids pids = {0};
	size_t written = 0;

	for (size_t i = 0; i < source->count && p->error == 0 && !ferror(p->out); i++) {
		p->model = source->get(source->context, i);
		if (!p->model)
			continue;
		p->offset_ns = p->model->base_unix_ns;
		p->is_later = !gp_export_is_first(source, i);
		if (!p->is_later) {
			forget_process(p);
			gp_gpu_numbers_next(&p->gpus);
			choose_pid(p, &pids);
			p->error = gp_kernels_tell_apart(p->names, &p->model, 1);
		}
		if (written++ == 0)
			gp_perfetto_begin(p, p->model->base_unix_ns, p->model->base_monotonic_ns);
		write_model(p);
	}
	free(pids.used);
	gp_export_explain_cut(p->timeline.cut_ranges, p->options->messages);
	if (p->timeline.deep_ranges > 0 && p->options->messages)
		fprintf(p->options->messages,
			"gpuprof: %llu ranges are nested in %u or more others of their thread: the trace shows them on the thread, not on the GPU\n",
			(unsigned long long)p->timeline.deep_ranges, GP_RANGE_SPANS_OPEN);
	return written > 0 ? 0 : -ENODATA;
}

static int write_perfetto(const struct gp_export_source *source,
			  const struct gp_export_options *options, FILE *out)
{
	struct gp_perfetto p = {.out = out,
				.options = options,
				.is_merged = source->count > 1 && !source->are_parts,
				.are_parts = source->are_parts && source->count > 1,
				.names = gp_names_new()};
	int result = gp_json_open(&p.fields, NULL), ended;

	if (result == 0)
		result = write_models(&p, source);
	ended = gp_perfetto_end(&p);
	gp_json_close(&p.fields);

	gp_names_free(p.names);
	gp_gpu_numbers_free(&p.gpus);
	gp_lanes_free(&p.lanes);
	free(p.lane_tracks);
	gp_groups_free(&p.lasting);
	gp_groups_free(&p.event_names);
	gp_groups_free(&p.note_names);
	free(p.event_name_iids);
	free(p.lasting_numbers);
	return result < 0 ? result : ended;
}

const struct gp_exporter gp_exporter_perfetto = {
	.name = "perfetto",
	.suffix = ".pftrace",
	.help = "timeline in the Perfetto format: smaller, with Perfetto's GPU tabs",
	.readers = "https://ui.perfetto.dev, trace_processor",
	.heeds = GP_EXPORT_PART | GP_EXPORT_CURVES,
	.write = write_perfetto,
};
