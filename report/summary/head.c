/* The head of the page: which programs ran, where and when, and how busy the GPUs were. */
#include "report/summary/part.h"

#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/text/format.h"
#include "report/base/text/text.h"
#include "report/model/peak_bandwidth.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"
#include "report/model/sums/counts.h"
#include "report/tables/by/job.h"

#define PROCESSES_ON_A_SCREEN  8
#define INCOMPLETE_ON_A_SCREEN 1

static const struct gp_table_column process_columns[] = {
	{"PID", GP_UNIT_NUMBER},      {"Started", GP_UNIT_OFFSET}, {"Span", GP_UNIT_NS},
	{"API calls", GP_UNIT_COUNT}, {"Launches", GP_UNIT_COUNT}, {"GPU ops", GP_UNIT_COUNT},
	{"GPU time", GP_UNIT_NS},     {"Busy %", GP_UNIT_PERCENT}, {"Peak memory", GP_UNIT_BYTES},
	{"GPU", GP_UNIT_TEXT},        {"Ended", GP_UNIT_TEXT},     {"Program", GP_UNIT_TEXT},
};

static const struct gp_table_head process_head = {"process", NULL, process_columns,
						  COUNT(process_columns)};

static const char *info_of(const struct gp_model *model, enum gp_info info)
{
	return model->info[info] ? model->info[info] : "";
}

const char *gp_summary_program_of(const struct gp_model *model)
{
	const char *program = info_of(model, GP_INFO_PROGRAM);

	return *program ? program : "(unknown program)";
}

static unsigned long version_of(const struct gp_model *model, enum gp_info info)
{
	return strtoul(info_of(model, info), NULL, 10);
}

static void print_software(FILE *out, const struct gp_model *model, const char *owner)
{
	const char *gpuprof = info_of(model, GP_INFO_VERSION);

	fputs("  software  ", out);
	if (!model->recorder || *info_of(model, GP_INFO_CUPTI_VERSION))
		fprintf(out, "driver for CUDA %s, CUPTI %s%s",
			gp_format_cuda_version(version_of(model, GP_INFO_DRIVER_VERSION)).text,
			gp_format_cupti_version(version_of(model, GP_INFO_CUPTI_VERSION)).text,
			model->recorder ? ", " : "");
	if (*gpuprof) {
		fputs(", gpuprof ", out);
		gp_text_print(out, gpuprof);
	}
	if (model->recorder)
		fprintf(out, "recorded by %s", model->recorder);
	if (*owner)
		fprintf(out, " (%s)", owner);
	fputs("\n", out);
}

static bool is_same_software(const struct gp_model *a, const struct gp_model *b)
{
	return a->recorder == b->recorder &&
	       strcmp(info_of(a, GP_INFO_DRIVER_VERSION), info_of(b, GP_INFO_DRIVER_VERSION)) ==
		       0 &&
	       strcmp(info_of(a, GP_INFO_CUPTI_VERSION), info_of(b, GP_INFO_CUPTI_VERSION)) == 0 &&
	       strcmp(info_of(a, GP_INFO_VERSION), info_of(b, GP_INFO_VERSION)) == 0;
}

/* The first process, and a line for each one that differs from it. */
static void print_all_software(const struct gp_summary *summary)
{
	print_software(summary->out, summary->models[0], "");
	for (size_t i = 1; i < summary->model_count; i++)
		if (!is_same_software(summary->models[i], summary->models[0]))
			print_software(summary->out, summary->models[i],
				       gp_process_name(summary->models[i]).text);
}

/* Whether two devices have consecutive numbers and the same description. */
static bool is_described_alike(const struct gp_device_entry *a, const struct gp_device_entry *b)
{
	if (!a->record || !b->record || b->number != a->number + 1)
		return false;
	return strcmp(a->name, b->name) == 0 &&
	       a->record->memory_bytes == b->record->memory_bytes &&
	       a->record->multiprocessors == b->record->multiprocessors &&
	       gp_link_peak(a->pcie) == gp_link_peak(b->pcie);
}

static void print_device(FILE *out, const struct gp_device_entry *device)
{
	const struct gp_record_device *record = device->record;

	gp_text_print(out, *device->name ? device->name : "(unknown device)");
	if (record && record->multiprocessors > 0)
		fprintf(out, ", %u SMs", record->multiprocessors);
	if (record && record->memory_bytes > 0)
		fprintf(out, ", %s", gp_format_bytes(record->memory_bytes).text);
	if (record && record->compute_major > 0)
		fprintf(out, ", compute capability %u.%u", record->compute_major,
			record->compute_minor);
	if (device->pcie)
		fprintf(out, ", PCIe %u.0 x%u", device->pcie->generation, device->pcie->lanes);
}

static void print_which(FILE *out, const struct gp_device_entry *device)
{
	char which[GP_GPU_WHICH_BYTES];

	gp_gpu_which(&device->gpu, which);
	fputs(*which ? ", " : "", out);
	gp_text_print(out, which);
}

/* One line for neighbors that are alike: "GPU 0-7". */
static void print_devices(const struct gp_summary *summary)
{
	const struct gp_device_list *devices = &summary->devices;
	bool tell_which =
		gp_device_list_is_renumbered(devices) && !gp_summary_joins_devices(summary);
	size_t lines = 0;
	char label[24];

	for (size_t first = 0, last; first < devices->count; first = last + 1) {
		const struct gp_device_entry *device = &devices->entries[first];

		if (summary->options->brief && lines++ == GP_SUMMARY_DEVICES) {
			fprintf(summary->out, "  ...       %zu more GPUs\n",
				devices->count - first);
			break;
		}

		for (last = first; last + 1 < devices->count; last++)
			if (tell_which || !is_described_alike(&devices->entries[last],
							      &devices->entries[last + 1]))
				break;
		if (last == first)
			snprintf(label, sizeof(label), "GPU %u", device->number);
		else
			snprintf(label, sizeof(label), "GPU %u-%u", device->number,
				 devices->entries[last].number);
		fprintf(summary->out, "  %-8s  ", label);
		print_device(summary->out, device);
		if (tell_which)
			print_which(summary->out, device);
		if (last == first && gp_gpu_has_uuid(&device->gpu) &&
		    *gp_summary_rank_of(summary, first).text)
			fprintf(summary->out, ", %s", gp_summary_rank_of(summary, first).text);
		fputs("\n", summary->out);
	}
}

static void print_host(FILE *out, const struct gp_model *model)
{
	const char *host = info_of(model, GP_INFO_HOST);

	if (*host) {
		fputs(" on ", out);
		gp_text_print_fit(out, host, 64);
	}
}

/* Whether its last known activity ends the time of all processes. */
static bool is_last_sign(const struct gp_summary *summary, struct gp_model *model)
{
	return gp_busy_is_open(model) &&
	       gp_busy_window(&model, 1).end_unix_ns == summary->window.end_unix_ns;
}

enum gp_span_end gp_summary_span_end(const struct gp_summary *summary)
{
	bool has_calls = false, ends_with_call = false;

	for (size_t i = 0; i < summary->model_count; i++) {
		struct gp_model *model = summary->models[i];

		if (is_last_sign(summary, model))
			return GP_SPAN_ENDS_WITH_SIGN;
		has_calls |= model->call_count > 0;
		ends_with_call |=
			model->base_unix_ns + model->last_call_ns >= summary->window.end_unix_ns;
	}
	return has_calls && !ends_with_call ? GP_SPAN_ENDS_WITH_OPERATION : GP_SPAN_ENDS_WITH_CALL;
}

static const char *span_words(const struct gp_summary *summary)
{
	static const char *const words[] = {
		[GP_SPAN_ENDS_WITH_CALL] = "to last recorded CUDA call",
		[GP_SPAN_ENDS_WITH_OPERATION] = "recorded CUDA call to last operation",
		[GP_SPAN_ENDS_WITH_SIGN] = "CUDA call to last known activity",
	};

	return words[gp_summary_span_end(summary)];
}

static void print_span(const struct gp_summary *summary)
{
	uint64_t span_ns = summary->window.end_unix_ns - summary->window.start_unix_ns, lives_ns;

	fprintf(summary->out, "%s, first %s (%s)\n", gp_format_ns(span_ns).text,
		span_words(summary), gp_format_clock(summary->window.start_unix_ns).text);
	gp_busy_lives_ns(&lives_ns, summary->models, summary->model_count);
	if (lives_ns < span_ns)
		fprintf(summary->out,
			"  not all processes overlap: the %s in which none ran are not counted\n",
			gp_format_ns(span_ns - lives_ns).text);
}

static void print_head_of_one(const struct gp_summary *summary)
{
	const struct gp_model *model = summary->models[0];
	const char *command = info_of(model, GP_INFO_COMMAND);

	fputs("gpuprof: ", summary->out);
	gp_text_print_fit(summary->out, gp_summary_program_of(model), 64);
	fprintf(summary->out, ", %s", gp_process_name(model).text);
	if (gp_model_rank(model) != GP_NONE && gp_model_world_size(model) > 0)
		fprintf(summary->out, " of %s", gp_format_count(gp_model_world_size(model)).text);
	print_host(summary->out, model);
	fputs(": ", summary->out);
	print_span(summary);
	if (*command) {
		fputs("  command   ", summary->out);
		gp_text_print_fit(summary->out, command, gp_summary_columns(summary) - 12);
		fputs("\n", summary->out);
	}
}

static bool are_on_one_host(const struct gp_summary *summary)
{
	const char *host = info_of(summary->models[0], GP_INFO_HOST);

	for (size_t i = 1; i < summary->model_count; i++)
		if (strcmp(info_of(summary->models[i], GP_INFO_HOST), host) != 0)
			return false;
	return true;
}

static void print_head_of_many(const struct gp_summary *summary)
{
	fprintf(summary->out, "gpuprof: %zu processes used the GPU", summary->model_count);
	if (are_on_one_host(summary))
		print_host(summary->out, summary->models[0]);
	fputs(": ", summary->out);
	print_span(summary);
}

/* The totals of one process, for its row in the table. */
struct totals {
	struct gp_counts counts;
	uint64_t busy_ns, possible_ns, peak_bytes;
	/* GPUs that ran its operations (its launches if none is known), by index in the list */
	bool uses[GP_DEVICE_LIMIT];
};

static void note_use(const struct gp_summary *summary, struct totals *totals,
		     const struct gp_model *model, uint16_t device_id)
{
	size_t device = gp_device_list_known(&summary->devices, model, device_id);

	if (device < GP_DEVICE_LIMIT)
		totals->uses[device] = true;
}

/* The devices that it launched on, for a process without recorded operations (one that hangs). */
static void note_launches(const struct gp_summary *summary, struct totals *totals,
			  const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[i];

		if (call->status == 0 && call->context_id != 0 &&
		    gp_model_api_class(model, call->api) == GP_API_LAUNCH)
			note_use(summary, totals, model,
				 gp_model_context_device(model, call->context_id));
	}
}

static void take_totals(const struct gp_summary *summary, struct totals *totals,
			struct gp_model *const *model, struct gp_window window)
{
	struct gp_device_list devices = {0};
	struct gp_memory_stats memory = {0};
	struct gp_busy *busy = gp_busy_of(model, 1, window, &devices);

	for (size_t i = 0; i < devices.count; i++) {
		totals->busy_ns += busy[i].inside_ns;
		totals->possible_ns += busy[i].possible_ns;
		if (busy[i].operations > 0 || busy[i].inside_ns > 0)
			note_use(summary, totals, *model, devices.entries[i].device_id);
	}
	totals->counts = gp_counts_of(*model);
	if (totals->counts.operations == 0)
		note_launches(summary, totals, *model);
	gp_memory_stats_of(model, 1, &devices, &memory);
	totals->peak_bytes = gp_memory_stats_peak_bytes(&memory);
	gp_memory_stats_free(&memory);
	gp_device_list_free(&devices);
	free(busy);
}

/* "0", "0-3,6", "-" */
static void put_devices(const struct gp_summary *summary, struct gp_table *table,
			const struct totals *totals)
{
	const struct gp_device_list *devices = &summary->devices;
	char text[GP_DEVICE_LIMIT * 8] = "-";
	size_t used = 0;

	for (size_t first = 0, last; first < devices->count && first < GP_DEVICE_LIMIT;
	     first = last + 1) {
		last = first;
		if (!totals->uses[first])
			continue;
		while (last + 1 < devices->count && last + 1 < GP_DEVICE_LIMIT &&
		       totals->uses[last + 1] &&
		       devices->entries[last + 1].number == devices->entries[last].number + 1)
			last++;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u",
					 used > 0 ? "," : "", devices->entries[first].number);
		if (last > first)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "-%u",
						 devices->entries[last].number);
	}
	gp_table_put_text(table, text);
}

/*
 * A lower bound (">=") if operations, or the time of one, are missing; nothing if that bound is
 * tiny.
 */
static void put_busy(struct gp_table *table, const struct gp_model *model,
		     const struct totals *totals)
{
	double busy_ns = (double)totals->busy_ns, possible_ns = (double)totals->possible_ns;
	struct gp_figure busy = gp_format_percent(busy_ns, possible_ns);

	if (gp_recorded_has_all_operations(model) && model->contradiction_count == 0)
		gp_table_cell(table, gp_value_percent(busy_ns, possible_ns));
	else if (totals->busy_ns > 0 && *busy.text != '<')
		gp_table_put_words(table, ">=%s", busy.text);
	else
		gp_table_cell(table, gp_value_none());
}

static bool has_any_rank(const struct gp_summary *summary)
{
	size_t i = 0;

	while (i < summary->model_count && gp_model_rank(summary->models[i]) == GP_NONE)
		i++;
	return i < summary->model_count;
}

static int put_process(const struct gp_summary *summary, struct gp_table *table,
		       struct gp_model *const *model)
{
	struct gp_window window = gp_busy_window(model, 1);
	struct totals totals = {0};

	take_totals(summary, &totals, model, window);
	if (has_any_rank(summary))
		gp_table_put_text(table, gp_process_name(*model).text);
	else
		gp_table_put_whole(table, (*model)->pid);
	gp_table_cell(table, gp_value_moment((int64_t)(window.start_unix_ns -
						       summary->window.start_unix_ns)));
	gp_table_put_whole(table, window.end_unix_ns - window.start_unix_ns);
	gp_table_put_whole(table, totals.counts.calls);
	gp_table_put_whole(table, totals.counts.launches);
	gp_table_put_whole(table, totals.counts.operations);
	gp_table_put_whole(table, totals.counts.gpu_ns);
	put_busy(table, *model, &totals);
	gp_table_cell(table, gp_recorded_knows_memory(*model) ? gp_value_whole(totals.peak_bytes)
							      : gp_value_none());
	put_devices(summary, table, &totals);
	gp_table_put_text(table, gp_recorded_how_ended(*model).text);
	gp_table_put_text(table, gp_summary_program_of(*model));
	return 0;
}

int gp_summary_print_processes(const struct gp_summary *summary)
{
	static const struct gp_table_column named = {"Process", GP_UNIT_TEXT};
	size_t shown = summary->model_count;
	struct gp_table table;
	int result = 0;

	if (summary->options->brief && shown > PROCESSES_ON_A_SCREEN + 1)
		shown = PROCESSES_ON_A_SCREEN;
	fputs("\nProcesses\n", summary->out);
	gp_table_open(&table, &process_head);
	if (has_any_rank(summary))
		result = gp_table_set_column(&table, 0, &named);
	for (size_t i = 0; result == 0 && i < shown; i++)
		result = put_process(summary, &table, &summary->models[i]);
	if (result == 0)
		result = gp_table_print(&table, summary->out, gp_summary_columns(summary));
	if (shown < summary->model_count)
		fprintf(summary->out, "  ... %s more\n",
			gp_format_count(summary->model_count - shown).text);
	gp_table_close(&table);
	return result;
}

/* One screen describes the first incomplete trace, and counts the others. */
static void print_incomplete(const struct gp_summary *summary)
{
	uint32_t more = 0, told = 0;

	for (size_t i = 0; i < summary->model_count; i++) {
		bool is_whole = gp_recorded_is_whole(summary->models[i]);

		if (is_whole || !summary->options->brief || told < INCOMPLETE_ON_A_SCREEN)
			gp_summary_print_partial(summary->out, summary->models[i]);
		else
			more++;
		told += !is_whole;
	}
	if (more > 0)
		fprintf(summary->out,
			"INCOMPLETE: %s more trace%s; to list them: gpuprof summary --by missing\n",
			gp_format_count(more).text, more > 1 ? "s" : "");
}

static void print_sampled(const struct gp_summary *summary)
{
	char text[GP_SUMMARY_SAMPLED_BYTES];

	if (!gp_recorded_any_sampled(summary->models, summary->model_count))
		return;
	gp_summary_say_sampled(summary, text, sizeof(text));
	fprintf(summary->out, "%s\n", text);
}

int gp_summary_print_head(const struct gp_summary *summary)
{
	if (summary->job) {
		fputs("The section Ranks is about all ranks, the rest about ", summary->out);
		gp_job_print_shown(summary->job, summary->out);
		fputs("\n", summary->out);
	}
	print_incomplete(summary);
	print_sampled(summary);
	if (summary->model_count == 1)
		print_head_of_one(summary);
	else
		print_head_of_many(summary);
	print_devices(summary);
	if (!summary->options->brief || summary->models[0]->recorder)
		print_all_software(summary);
	return 0;
}
