#include "report/summary/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/analysis.h"
#include "report/base/parallel_jobs.h"
#include "report/model/peak_bandwidth.h"
#include "report/base/text/format.h"
#include "report/base/memstream.h"
#include "report/base/text/paragraph.h"
#include "report/model/sums/counts.h"
#include "report/model/sums/totals.h"
#include "report/summary/part.h"
#include "report/model/recorded.h"
#include "report/base/text/text.h"

#define KEPT_GAPS             16 /* one of them is printed */
#define PROCESSES_ON_A_SCREEN 8
#define LINES_OF_A_SCREEN     50

static const struct gp_table_column process_columns[] = {
	{"PID", GP_UNIT_NUMBER},      {"Started", GP_UNIT_OFFSET}, {"Span", GP_UNIT_NS},
	{"API calls", GP_UNIT_COUNT}, {"Launches", GP_UNIT_COUNT}, {"GPU ops", GP_UNIT_COUNT},
	{"GPU time", GP_UNIT_NS},     {"Busy %", GP_UNIT_PERCENT}, {"Peak memory", GP_UNIT_BYTES},
	{"GPU", GP_UNIT_TEXT},        {"Ended", GP_UNIT_TEXT},     {"Program", GP_UNIT_TEXT},
};

static const struct gp_table_head process_head = {"process", NULL, process_columns,
						  COUNT(process_columns)};

size_t gp_summary_columns(const struct gp_summary *summary)
{
	return summary->options->brief ? GP_SUMMARY_BRIEF_COLUMNS : GP_SUMMARY_COLUMNS;
}

struct gp_figure gp_summary_moment(const struct gp_summary *summary, uint64_t unix_ns)
{
	return gp_format_moment((int64_t)(unix_ns - summary->window.start_unix_ns));
}

static const char *info_of(const struct gp_model *model, enum gp_info info)
{
	return model->info[info] ? model->info[info] : "";
}

static void print_escaped(FILE *out, const char *text, size_t columns)
{
	char *escaped = gp_text_escape(text);
	char *fitted = escaped && columns > 0 ? gp_text_fit(escaped, columns) : NULL;

	fputs(fitted ? fitted : escaped ? escaped : "(no memory)", out);
	free(fitted);
	free(escaped);
}

static const char *program_of(const struct gp_model *model)
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
		print_escaped(out, gpuprof, 0);
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

/* Processes that differ from the first have a line each. */
static void print_all_software(const struct gp_summary *summary)
{
	char owner[24];

	print_software(summary->out, summary->models[0], "");
	for (size_t i = 1; i < summary->model_count; i++) {
		snprintf(owner, sizeof(owner), "pid %u", summary->models[i]->pid);
		if (!is_same_software(summary->models[i], summary->models[0]))
			print_software(summary->out, summary->models[i], owner);
	}
}

/* Whether two devices, which have numbers in sequence, are described by the same words. */
static bool looks_like(const struct gp_device_entry *a, const struct gp_device_entry *b)
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

	print_escaped(out, *device->name ? device->name : "(unknown device)", 0);
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
	print_escaped(out, which, 0);
}

/* One line for neighbors that are alike: "GPU 0-7". */
static void print_devices(const struct gp_summary *summary)
{
	const struct gp_device_list *devices = &summary->devices;
	bool tell_which = gp_device_list_is_renumbered(devices);
	char label[24];

	for (size_t first = 0, last; first < devices->count; first = last + 1) {
		const struct gp_device_entry *device = &devices->entries[first];

		for (last = first; last + 1 < devices->count; last++)
			if (tell_which ||
			    !looks_like(&devices->entries[last], &devices->entries[last + 1]))
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
		fputs("\n", summary->out);
	}
}

static void print_host(FILE *out, const struct gp_model *model)
{
	const char *host = info_of(model, GP_INFO_HOST);

	if (*host) {
		fputs(" on ", out);
		print_escaped(out, host, 64);
	}
}

/* Whether its last sign of life is the last of all. */
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
		[GP_SPAN_ENDS_WITH_SIGN] = "CUDA call to last sign of life",
	};

	return words[gp_summary_span_end(summary)];
}

static void print_span(const struct gp_summary *summary)
{
	uint64_t span_ns = summary->window.end_unix_ns - summary->window.start_unix_ns, lives_ns;

	fprintf(summary->out, "%s, first %s (%s)\n", gp_format_ns(span_ns).text,
		span_words(summary), gp_format_clock(summary->window.start_unix_ns).text);
	if (gp_busy_lives_ns(&lives_ns, summary->models, summary->model_count) == 0 &&
	    lives_ns < span_ns)
		fprintf(summary->out,
			"  they did not all run at the same time: none did for %s, which count nowhere\n",
			gp_format_ns(span_ns - lives_ns).text);
}

static void print_head_of_one(const struct gp_summary *summary)
{
	const struct gp_model *model = summary->models[0];
	const char *command = info_of(model, GP_INFO_COMMAND);

	fputs("gpuprof: ", summary->out);
	print_escaped(summary->out, program_of(model), 64);
	fprintf(summary->out, ", pid %u", model->pid);
	print_host(summary->out, model);
	fputs(": ", summary->out);
	print_span(summary);
	if (*command) {
		fputs("  command   ", summary->out);
		print_escaped(summary->out, command, gp_summary_columns(summary) - 12);
		fputs("\n", summary->out);
	}
}

static void print_head_of_many(const struct gp_summary *summary)
{
	fprintf(summary->out, "gpuprof: %zu processes used the GPU", summary->model_count);
	print_host(summary->out, summary->models[0]);
	fputs(": ", summary->out);
	print_span(summary);
}

/* What one process did, for its line in the table. */
struct totals {
	struct gp_counts counts;
	uint64_t busy_ns, possible_ns, peak_bytes;
	/*
	 * GPUs that had its operations, or its launches if none is known, in the order of the
	 * summary's list
	 */
	bool uses[GP_DEVICE_LIMIT];
};

/* The largest peak of a device: peaks of several need not be at the same time. */
static void count_memory(struct totals *totals, const struct gp_memory_stats *memory)
{
	for (size_t i = 0; i < memory->row_count; i++)
		if (memory->rows[i].kind == GP_MEMORY_OF_DEVICE &&
		    memory->rows[i].peak_bytes > totals->peak_bytes)
			totals->peak_bytes = memory->rows[i].peak_bytes;
}

static void note_use(const struct gp_summary *summary, struct totals *totals,
		     const struct gp_model *model, uint16_t device_id)
{
	size_t device = gp_device_list_known(&summary->devices, model, device_id);

	if (device < GP_DEVICE_LIMIT)
		totals->uses[device] = true;
}

/* Of a process none of whose operations came, as of one that hangs, those that it launched on. */
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

static int take_totals(const struct gp_summary *summary, struct totals *totals,
		       struct gp_model *const *model, struct gp_window window)
{
	struct gp_device_list devices = {0};
	struct gp_memory_stats memory = {0};
	struct gp_busy *busy = gp_busy_of(model, 1, window, &devices);
	int result = busy ? 0 : -ENOMEM;

	for (size_t i = 0; busy && i < devices.count; i++) {
		totals->busy_ns += busy[i].inside_ns;
		totals->possible_ns += busy[i].possible_ns;
		if (busy[i].operations > 0 || busy[i].inside_ns > 0)
			note_use(summary, totals, *model, devices.entries[i].device_id);
	}
	totals->counts = gp_counts_of(*model);
	if (totals->counts.operations == 0)
		note_launches(summary, totals, *model);
	if (result == 0)
		result = gp_memory_stats_of(model, 1, &devices, &memory);
	if (result == 0)
		count_memory(totals, &memory);
	gp_memory_stats_free(&memory);
	gp_device_list_free(&devices);
	free(busy);
	return result;
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
 * Where operations, or the time of one, are missing: at least; and not known where what is there is
 * nearly nothing.
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

static int put_process(const struct gp_summary *summary, struct gp_table *table,
		       struct gp_model *const *model)
{
	struct gp_window window = gp_busy_window(model, 1);
	struct totals totals = {0};
	int result = take_totals(summary, &totals, model, window);

	gp_table_put_whole(table, (*model)->pid);
	gp_table_cell(table, gp_value_moment((int64_t)(window.start_unix_ns -
						       summary->window.start_unix_ns)));
	gp_table_put_whole(table, window.end_unix_ns - window.start_unix_ns);
	gp_table_put_whole(table, totals.counts.calls);
	gp_table_put_whole(table, totals.counts.launches + totals.counts.graph_launches);
	gp_table_put_whole(table, totals.counts.operations);
	gp_table_put_whole(table, totals.counts.gpu_ns);
	put_busy(table, *model, &totals);
	gp_table_cell(table, gp_recorded_kind(*model, "memory") ? gp_value_whole(totals.peak_bytes)
								: gp_value_none());
	put_devices(summary, table, &totals);
	gp_table_put_text(table, gp_recorded_how_ended(*model).text);
	gp_table_put_text(table, program_of(*model));
	return result;
}

static int print_processes(const struct gp_summary *summary)
{
	size_t shown = summary->model_count;
	struct gp_table table;
	int result = 0;

	if (summary->options->brief && shown > PROCESSES_ON_A_SCREEN + 1)
		shown = PROCESSES_ON_A_SCREEN;
	fputs("\nProcesses\n", summary->out);
	gp_table_open(&table, &process_head);
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

/* Who ran, where and when, and how busy the GPUs were. */
static int print_head(const struct gp_summary *summary)
{
	for (size_t i = 0; i < summary->model_count; i++)
		gp_summary_print_partial(summary->out, summary->models[i]);
	if (summary->model_count == 1)
		print_head_of_one(summary);
	else
		print_head_of_many(summary);
	print_devices(summary);
	if (!summary->options->brief || summary->models[0]->recorder)
		print_all_software(summary);
	return gp_summary_print_busy(summary);
}

/* The text of a section, to be freed; where it fails, there is none. */
static int text_of(const struct gp_summary *summary, int (*print)(const struct gp_summary *),
		   char **text)
{
	struct gp_summary section = *summary;
	size_t bytes;
	int result, closed;

	*text = NULL;
	section.out = open_memstream(text, &bytes);
	if (!section.out)
		return -ENOMEM;
	result = print(&section);
	closed = gp_memory_stream_close(section.out, text);
	result = result < 0 ? result : closed;
	if (result == 0)
		return 0;
	free(*text);
	*text = NULL;
	return result;
}

/* A section that is made of sentences: no line of it is wider than the page. */
static int print_folded(const struct gp_summary *summary, int (*print)(const struct gp_summary *))
{
	char *text;
	int result = text_of(summary, print, &text);

	if (result == 0)
		gp_paragraph_fold(summary->out, text, gp_summary_columns(summary));
	free(text);
	return result;
}

/* For report/base/parallel_jobs.h, as the next ones. */
static int gather_activity(void *context)
{
	struct gp_summary *s = context;

	return gp_activity_gather(&s->activity, s->models, s->model_count);
}

static int gather_busy(void *context)
{
	struct gp_summary *s = context;

	s->busy = gp_busy_of(s->models, s->model_count, s->window, &s->devices);
	return s->busy ? 0 : -ENOMEM;
}

/* Of totals there is none. */
static int gather_basis(void *context)
{
	struct gp_summary *s = context;

	if (gp_totals_any(s->models, s->model_count))
		return 0;
	s->basis = calloc(1, sizeof(*s->basis));
	return s->basis ? gp_analysis_of(s->basis, s->models, s->model_count, &s->devices, s->kinds,
					 KEPT_GAPS)
			: -ENOMEM;
}

int gp_summary_gather(struct gp_summary *summary)
{
	struct gp_task tasks[] = {
		{gather_activity, summary, 0},
		{gather_busy, summary, 0},
		{gather_basis, summary, 0},
	};
	struct gp_model *const *models = summary->models;
	size_t count = summary->model_count;
	int result = gp_device_list_all(&summary->devices, models, count);

	summary->window = gp_busy_window(models, count);
	if (result == 0) /* first: it may come upon another device */
		result = gp_memory_stats_of(models, count, &summary->devices, &summary->memory);
	if (result == 0)
		result = gp_run_parallel(tasks, COUNT(tasks));
	for (size_t i = 0; result == 0 && summary->basis && i < count; i++)
		if (gp_tuning_has_any(models[i], &summary->basis->tunings[i]))
			result = gp_activity_set_apart(&summary->activity, models[i],
						       summary->basis->tunings[i].of);
	return result;
}

void gp_summary_release(struct gp_summary *summary)
{
	gp_activity_free(&summary->activity);
	gp_memory_stats_free(&summary->memory);
	gp_summary_free_ranges(summary->ranges);
	gp_device_list_free(&summary->devices);
	if (summary->basis)
		gp_analysis_free(summary->basis);
	free(summary->basis);
	free(summary->busy);
}

/* ---- one screen ---- */

static int print_head_folded(const struct gp_summary *summary)
{
	int result = print_folded(summary, print_head);

	return result == 0 && summary->model_count > 1 ? print_processes(summary) : result;
}

static int print_left_folded(const struct gp_summary *summary)
{
	return print_folded(summary, gp_summary_print_left);
}

static int print_windows(const struct gp_summary *summary)
{
	gp_summary_print_windows(summary);
	return 0;
}

static int print_records_folded(const struct gp_summary *summary)
{
	return print_folded(summary, gp_summary_print_records);
}

static int print_hint(const struct gp_summary *summary)
{
	fputs("More: gpuprof summary --full FILE; every row: --top 0; a table of each thing: --by help\n",
	      summary->out);
	return 0;
}

/* What to do comes before what it is concluded from. */
static const struct section {
	int (*print)(const struct gp_summary *);
	bool has_rows;  /* which may be fewer */
	bool is_spaced; /* from what is before it, also where there is no room */
} sections[] = {
	{print_head_folded, false, true},        {gp_summary_print_advice, false, true},
	{gp_summary_print_activity, true, true}, {gp_summary_print_more, false, false},
	{gp_summary_print_ranges, true, false},  {gp_summary_print_memory_in_brief, true, false},
	{print_left_folded, false, false},       {print_windows, false, false},
	{print_records_folded, false, false},    {print_hint, false, false},
};

/* From what has room to what has none; a screen that is longer still has much to say. */
static const struct gp_summary_rows screens[] = {
	{.operations = 5, .calls = 5, .ranges = 3},
	{.operations = 5, .calls = 5, .ranges = 2, .memory = 8},
	{.operations = 5, .calls = 4, .ranges = 1, .memory = 6},
	{.operations = 5, .calls = 3, .ranges = 1, .memory = 4},
	{.operations = 4, .calls = 3, .ranges_in_a_line = true, .memory = 4},
	{.operations = 4, .calls = 2, .ranges_in_a_line = true, .memory = 3},
	{.operations = 4, .calls = 1, .ranges_in_a_line = true, .memory = 2},
	{.operations = 3, .calls = 1, .ranges_in_a_line = true, .memory = 2},
};

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

/*
 * Take so many empty lines out of a text, but for one before it; returns how many are to be taken
 * elsewhere.
 */
static size_t close_up(char *text, bool is_spaced, size_t lines)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (*from == '\n' && lines > 0 && (to > text ? to[-1] == '\n' : !is_spaced))
			lines--;
		else
			*to++ = *from;
	*to = '\0';
	return lines;
}

/* The last ones first. */
static void close_all_up(char *texts[COUNT(sections)], size_t lines)
{
	for (size_t i = COUNT(sections); i-- > 0;)
		lines = close_up(texts[i], sections[i].is_spaced, lines);
}

/* A section of the screen that is made beside others. */
struct making {
	const struct gp_summary *summary;
	const struct section *section;
	char **text;
};

static int make_section(void *context)
{
	const struct making *making = context;

	return text_of(making->summary, making->section->print, making->text);
}

/* Those that are not there yet, or depend on the rows. */
static int make_sections(const struct gp_summary *summary, char *texts[COUNT(sections)])
{
	struct making makings[COUNT(sections)];
	struct gp_task tasks[COUNT(sections)];
	size_t count = 0;

	for (size_t i = 0; i < COUNT(sections); i++) {
		if (texts[i] && !sections[i].has_rows)
			continue;
		free(texts[i]);
		makings[count] = (struct making){summary, &sections[i], &texts[i]};
		tasks[count] = (struct gp_task){make_section, &makings[count], 0};
		count++;
	}
	return gp_run_parallel(tasks, count);
}

static int make_screen(struct gp_summary *summary, char *texts[COUNT(sections)])
{
	size_t lines, screen = 0;
	int result = 0;

	do {
		summary->rows = screens[screen];
		lines = 0;
		result = make_sections(summary, texts);
		for (size_t i = 0; i < COUNT(sections); i++)
			lines += texts[i] ? count_lines(texts[i]) : 0;
	} while (result == 0 && lines > LINES_OF_A_SCREEN && ++screen < COUNT(screens));
	if (result == 0 && lines > LINES_OF_A_SCREEN)
		close_all_up(texts, lines - LINES_OF_A_SCREEN);
	return result;
}

static int print_screen(const struct gp_summary *summary)
{
	struct gp_summary page = *summary;
	char *texts[COUNT(sections)] = {NULL};
	int result = make_screen(&page, texts);

	for (size_t i = 0; i < COUNT(sections); i++) {
		if (result == 0)
			fputs(texts[i], summary->out);
		free(texts[i]);
	}
	return result;
}

/* ---- the other pages ---- */

static int print_whole_page(const struct gp_summary *summary)
{
	int result = gp_summary_print_activity(summary);

	if (result == 0)
		result = gp_summary_print_more(summary);
	if (result == 0)
		result = gp_summary_print_ranges(summary);
	if (result == 0)
		result = gp_summary_print_memory(summary);
	if (result == 0)
		result = gp_summary_print_left(summary);
	gp_summary_print_windows(summary);
	if (result == 0)
		result = print_folded(summary, gp_summary_print_records);
	return result < 0 ? result : gp_summary_print_advice(summary);
}

/* Of totals. */
static int print_totals(const struct gp_summary *summary)
{
	int result = print_folded(summary, gp_summary_print_signs);

	if (result == 0)
		result = gp_summary_print_activity(summary);
	if (result == 0)
		result = gp_summary_print_memory_in_brief(summary);
	gp_summary_print_windows(summary);
	if (result == 0)
		result = print_folded(summary, gp_summary_print_records);
	return result == 0 ? print_folded(summary, gp_summary_print_one_pass) : result;
}

static void limit_rows(struct gp_summary *summary)
{
	size_t limit = summary->options->row_limit;

	summary->rows = summary->options->brief ? screens[0]
						: (struct gp_summary_rows){.operations = limit,
									   .calls = limit,
									   .ranges = limit};
}

static int print_sections(struct gp_summary *summary)
{
	int result;

	limit_rows(summary);
	result = summary->basis ? gp_summary_gather_ranges(summary) : 0;
	if (result < 0)
		return result;
	if (summary->basis && summary->options->brief)
		return print_screen(summary);
	result = print_head_folded(summary);
	if (result < 0)
		return result;
	return summary->basis ? print_whole_page(summary) : print_totals(summary);
}

/* A process that never used the GPU: one line, and what went wrong if anything did. */
static void print_unused(FILE *out, const struct gp_model *model)
{
	if (model->losses.cut || model->losses.damaged_bytes > 0)
		gp_summary_print_partial(out, model);
	fputs("gpuprof: ", out);
	print_escaped(out, program_of(model), 64);
	fprintf(out,
		model->losses.cut ? " (pid %u): no CUDA call is in its file, which is incomplete"
				  : " (pid %u) made no CUDA call that was recorded",
		model->pid);
	if (model->range_count > 0)
		fprintf(out, "; ranges and marks: %s", gp_format_count(model->range_count).text);
	fputc('\n', out);
	gp_summary_print_never(out, model);
	gp_summary_print_troubles(out, model);
}

static int print_used(FILE *out, struct gp_model *const *models, size_t count,
		      const struct gp_summary_options *options)
{
	char message[64];
	struct gp_kinds *built_in =
		options->kinds ? NULL : gp_kinds_new(NULL, message, sizeof(message));
	struct gp_summary summary = {.out = out,
				     .options = options,
				     .models = models,
				     .model_count = count,
				     .kinds = options->kinds ? options->kinds : built_in};
	int result = summary.kinds ? gp_summary_gather(&summary) : -ENOMEM;

	if (result == 0)
		result = print_sections(&summary);
	gp_summary_release(&summary);
	gp_kinds_free(built_in);
	return result;
}

/* Of processes that have nothing else. */
static int print_ranges_alone(FILE *out, struct gp_model *const *models, size_t count,
			      const struct gp_summary_options *options)
{
	struct gp_summary summary = {
		.out = out, .options = options, .models = models, .model_count = count};
	int result = gp_summary_gather_ranges(&summary);

	if (result == 0)
		result = gp_summary_print_ranges(&summary);
	gp_summary_free_ranges(summary.ranges);
	return result;
}

int gp_summary_print(FILE *out, struct gp_model *const *models, size_t model_count,
		     const struct gp_summary_options *options)
{
	struct gp_model **used = calloc(model_count + 1, sizeof(*used));
	struct gp_summary_options page = *options;
	size_t count = 0;
	int result;

	if (!used)
		return -ENOMEM;
	if (page.brief)
		page.row_limit = screens[0].calls;
	for (size_t i = 0; i < model_count; i++)
		if (gp_counts_any(models[i]))
			used[count++] = models[i];
		else
			print_unused(out, models[i]);
	result = count > 0 ? print_used(out, used, count, &page)
			   : print_ranges_alone(out, models, model_count, &page);
	free(used);
	if (fflush(out) != 0 || ferror(out))
		return -EIO;
	return result;
}
