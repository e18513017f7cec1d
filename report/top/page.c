#include "report/top/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "gpuprof/shell_word.h"
#include "report/base/array.h"
#include "report/trace/cuda_names.h"
#include "report/model/losses.h"
#include "report/base/text/format.h"
#include "report/base/text/paragraph.h"
#include "report/base/spill_memory.h"
#include "report/document/table_writer.h"
#include "report/base/text/text.h"

#define COLUMNS       100 /* of text where no terminal says how wide it is */
#define NS_PER_S      1e9
#define RANGE_THREADS 4 /* threads whose ranges are shown */
#define WAITING_CALLS 4 /* that are shown */

bool gp_page_is_over(const struct gp_page *page)
{
	return page->tail->closed || !page->tail->live;
}

/* ---- figures ---- */

static double interval_s(const struct gp_page *page)
{
	const struct gp_live_interval *interval = &page->live->interval;

	return (double)(interval->end_ns - interval->start_ns) / NS_PER_S;
}

static struct gp_figure per_second(const struct gp_page *page, uint64_t count)
{
	double seconds = interval_s(page), rate = seconds > 0 ? (double)count / seconds : 0;
	struct gp_figure figure = {"-"};

	if (seconds > 0 && rate < 9.95 && count > 0)
		snprintf(figure.text, sizeof(figure.text), "%.1f/s", rate);
	else if (seconds > 0) {
		figure = gp_format_count((uint64_t)(rate + 0.5));
		strcat(figure.text, "/s");
	}
	return figure;
}

static uint64_t since_ns(const struct gp_page *page, uint64_t then_ns)
{
	uint64_t end_ns = page->live->interval.end_ns;

	return end_ns > then_ns ? end_ns - then_ns : 0;
}

static struct gp_figure ago(const struct gp_page *page, uint64_t then_ns)
{
	struct gp_figure figure = {"at a time that is not known"}, length;

	if (then_ns == 0)
		return figure;
	length = gp_format_ns(since_ns(page, then_ns));
	snprintf(figure.text, sizeof(figure.text), "%.16s %s", length.text,
		 gp_page_is_over(page) ? "before the end" : "ago");
	return figure;
}

static void put_thread(FILE *out, const struct gp_page *page, uint32_t id)
{
	const char *name = gp_live_thread_name(page->live, id);

	gp_text_print(out, *name ? name : "thread");
	fprintf(out, " %u", id);
}

/* ---- title, ages, losses ---- */

/* A full trace is closed while the program runs on. */
const char *gp_page_state(const struct gp_page *page)
{
	const struct gp_live *l = page->live;

	if (page->tail->closed && l->is_paused && l->gate_reason == GP_GATE_FULL)
		return "its trace reached --max-file";
	if (page->tail->closed)
		return "ended";
	return page->tail->live ? "recorded" : "was killed or crashed";
}

/* How long it has been recorded. */
static void print_length(FILE *out, const struct gp_page *page)
{
	const struct gp_live *l = page->live;
	uint64_t start_ns = gp_live_start_ns(l);

	if (start_ns == 0 || l->interval.end_ns < start_ns)
		return;
	fprintf(out, "%s %s", gp_page_is_over(page) ? " after" : " for",
		gp_format_ns(l->interval.end_ns - start_ns).text);
	if (gp_page_is_over(page))
		fputs(l->has_paused ? ", recorded in part" : " of recording", out);
}

/* The time span of the rates. */
static void print_rated(FILE *out, const struct gp_page *page)
{
	if (!page->live->interval.is_first) {
		fprintf(out, "; rates over the last %s",
			gp_format_ns((uint64_t)(interval_s(page) * NS_PER_S)).text);
		return;
	}
	fprintf(out, "; rates %s%s",
		gp_page_is_over(page) ? "and Busy % of all of it" : "since the beginning",
		page->live->has_paused ? ", with the pauses" : "");
}

static void print_title(FILE *out, const struct gp_page *page)
{
	const char *program = page->live->info[GP_INFO_PROGRAM];

	fputs("gpuprof top: ", out);
	gp_text_print(out, program ? program : "a program");
	fprintf(out, ", pid %u, %s", page->tail->pid,
		!gp_page_is_over(page) && page->live->is_paused ? "recording is paused, running"
								: gp_page_state(page));
	print_length(out, page);
	print_rated(out, page);
	fputs("\n", out);
}

/*
 * Either may be later: the counter is written once a second, and ended operations are delivered
 * later.
 */
static uint64_t last_delivery_ns(const struct gp_page *page)
{
	const struct gp_live *l = page->live;
	uint64_t counted_ns =
		gp_live_from_ticks(l, page->tail->counters[GP_COUNTER_LAST_DELIVERY_TICKS]);
	uint64_t ended_ns = gp_live_from_cupti(l, l->newest_operation_ns);

	return counted_ns > ended_ns ? counted_ns : ended_ns;
}

static void print_ages(FILE *out, const struct gp_page *page)
{
	const struct gp_live *l = page->live;

	if (l->sums.last_ticks == 0)
		fputs("no CUDA call yet", out);
	else
		fprintf(out, "last call %s",
			ago(page, gp_live_from_ticks(l, l->sums.last_ticks)).text);
	if (l->newest_operation_ns == 0)
		fputs(", no GPU record yet", out);
	else
		fprintf(out, ", CUPTI delivered last %s", ago(page, last_delivery_ns(page)).text);
	fprintf(out, "; trace %s\n", gp_format_bytes(page->tail->file_bytes).text);
}

static void print_loss(FILE *out, uint64_t count, unsigned number)
{
	char text[256];

	gp_loss_text(text, sizeof(text), count, gp_loss_table[number].sentence);
	if (count > 0)
		fprintf(out, "lost: %s\n", text);
}

static bool is_loss(unsigned counter)
{
	enum gp_loss_kind kind = gp_loss_table[counter].kind;

	return kind == GP_LOSS_LOSS || kind == GP_LOSS_TEXT_LOSS;
}

static void print_losses(FILE *out, const struct gp_page *page)
{
	for (unsigned i = 0; i < GP_COUNTERS; i++)
		if (is_loss(i))
			print_loss(out, page->tail->counters[i], i);
	print_loss(out, page->tail->damaged_bytes, GP_LOST_DAMAGED_BYTES);
	print_loss(out, page->tail->unknown_records, GP_LOST_UNREADABLE_RECORDS);
}

/* Records that will not come. */
static uint64_t lost_records(const struct gp_page *page)
{
	uint64_t lost = page->tail->counters[GP_COUNTER_LEFT_OUT_KERNELS];

	for (unsigned i = 0; i < GP_COUNTERS; i++)
		if (gp_loss_table[i].kind == GP_LOSS_LOSS && i != GP_COUNTER_LEFT_OUT_OLD &&
		    strcmp(gp_loss_table[i].unit, "records") == 0)
			lost += page->tail->counters[i];
	return lost;
}

/*
 * Launches without a kernel record, if none has come for longer than the usual delay: the GPU runs
 * something long, or hangs. Launches of the last moment do not count.
 */
static uint64_t silent_launches(const struct gp_page *page)
{
	const struct gp_live *l = page->live;
	uint64_t delivery_ns = last_delivery_ns(page), start_ns = gp_live_start_ns(l);
	uint64_t silence_ns = since_ns(page, delivery_ns > start_ns ? delivery_ns : start_ns);
	bool is_over = gp_page_is_over(page);

	if (!is_over && silence_ns <= gp_live_delay_ns(l))
		return 0;
	return gp_live_in_flight(l, is_over || l->interval.is_first, lost_records(page));
}

/* ---- devices and memory ---- */

static const struct gp_table_column device_columns[] = {
	{"GPU", GP_UNIT_NUMBER}, {"Busy %", GP_UNIT_PERCENT}, {"Allocated", GP_UNIT_BYTES},
	{"Peak", GP_UNIT_BYTES}, {"Blocks", GP_UNIT_COUNT},   {"Memory", GP_UNIT_BYTES},
	{"Name", GP_UNIT_TEXT},
};

static const struct gp_table_head device_head = {"top-devices", NULL, device_columns,
						 COUNT(device_columns)};

/* With launches that have no record, the device may be busy or not. */
static struct gp_value busy_percent(const struct gp_page *page, const struct gp_live_device *device)
{
	const struct gp_live_interval *interval = &page->live->interval;
	uint64_t span_ns = interval->busy_end_ns - interval->busy_start_ns;
	bool is_known = device->busy_ns > 0, is_silent = silent_launches(page) > 0;

	if (span_ns > 0 && is_silent && !(is_known && gp_page_is_over(page)))
		return gp_value_text("?");
	return gp_value_percent((double)device->busy_ns, (double)span_ns);
}

static void put_device(struct gp_table *table, const struct gp_page *page,
		       const struct gp_live_device *device)
{
	const struct gp_memory_row *row =
		gp_memory_ledger_row(&page->live->memory.ledger, device->id, GP_MEMORY_OF_DEVICE);

	gp_table_put_whole(table, device->id);
	gp_table_cell(table, busy_percent(page, device));
	gp_table_put_whole(table, row ? row->now_bytes : 0);
	gp_table_put_whole(table, row ? row->peak_bytes : 0);
	gp_table_put_whole(table, row ? row->blocks : 0);
	gp_table_cell(table, device->memory_bytes ? gp_value_whole(device->memory_bytes)
						  : gp_value_none());
	gp_table_cell(table, gp_value_text(device->name ? device->name : ""));
}

static int print_devices(FILE *out, const struct gp_page *page)
{
	const struct gp_live *l = page->live;
	struct gp_table table;
	int result;

	if (l->device_count == 0)
		return 0;
	gp_table_open(&table, &device_head);
	for (unsigned id = 0; id < GP_DEVICE_LIMIT; id++)
		for (uint32_t i = 0; i < l->device_count; i++)
			if (l->devices[i].id == id)
				put_device(&table, page, &l->devices[i]);
	fputc('\n', out);
	result = gp_table_print(&table, out, page->columns);
	gp_table_close(&table);
	return result;
}

/* Memory that is no device's own. */
static void print_other_memory(FILE *out, const struct gp_page *page)
{
	const struct gp_memory_ledger *ledger = &page->live->memory.ledger;
	struct gp_paragraph paragraph = {.out = out,
					 .columns = page->columns ? page->columns : COLUMNS};
	char text[160], place[32];

	for (uint32_t i = 0; i < ledger->row_count; i++) {
		const struct gp_memory_row *row = &ledger->rows[i];

		if (row->kind == GP_MEMORY_OF_DEVICE || gp_memory_is_of_device(row->kind))
			continue;
		place[0] = '\0';
		if (row->device != GP_MEMORY_OF_HOST)
			snprintf(place, sizeof(place), " of GPU %zu", row->device);
		snprintf(text, sizeof(text), "%s%s: %s, peak %s", gp_allocation_name(row->kind),
			 place, gp_format_bytes(row->now_bytes).text,
			 gp_format_bytes(row->peak_bytes).text);
		gp_paragraph_add(&paragraph, text);
	}
	gp_paragraph_end(&paragraph);
}

/* ---- rates ---- */

/* In GB/s as everywhere, unless little would be left of the digits. */
static struct gp_figure byte_rate(double bytes_per_s)
{
	double unit = bytes_per_s < 1e6 ? 1e3 : bytes_per_s < 1e8 ? 1e6 : 1e9;
	struct gp_figure figure;

	snprintf(figure.text, sizeof(figure.text), "%.24s %s",
		 gp_format_rate(bytes_per_s / unit).text,
		 bytes_per_s < 1e6   ? "kB/s"
		 : bytes_per_s < 1e8 ? "MB/s"
				     : "GB/s");
	return figure;
}

static void add_piece(struct gp_paragraph *paragraph, const struct gp_page *page, const char *name,
		      uint64_t count, uint64_t bytes)
{
	double seconds = interval_s(page);
	char text[128];

	if (bytes > 0 && seconds > 0)
		snprintf(text, sizeof(text), "%s %s %s", name, per_second(page, count).text,
			 byte_rate((double)bytes / seconds).text);
	else
		snprintf(text, sizeof(text), "%s %s", name, per_second(page, count).text);
	gp_paragraph_add(paragraph, text);
}

static void add_flow(struct gp_paragraph *paragraph, const struct gp_page *page, const char *name,
		     enum gp_sum_kind kind, uint32_t which)
{
	struct gp_live_flow flow = gp_live_flow(page->live, kind, which);
	struct gp_sum_values gained = gp_live_gained(&flow);

	if (flow.now.count > 0)
		add_piece(paragraph, page, name, gained.count, gained.bytes);
}

static void print_rates(FILE *out, const struct gp_page *page)
{
	struct gp_paragraph paragraph = {.out = out,
					 .columns = page->columns ? page->columns : COLUMNS};
	const struct gp_live *l = page->live;
	struct gp_live_flow launches = gp_live_flow(l, GP_SUM_CALL, 1u << GP_API_LAUNCH);
	struct gp_live_flow graphs = gp_live_flow(l, GP_SUM_CALL, 1u << GP_API_GRAPH_LAUNCH);
	struct gp_live_flow kernels = gp_live_flow(l, GP_SUM_KERNEL, GP_LIVE_ALL);
	uint64_t silent = silent_launches(page);
	char text[64];

	add_piece(&paragraph, page, "launches", gp_live_gained(&launches).done, 0);
	if (graphs.now.done > 0)
		add_piece(&paragraph, page, "graph launches", gp_live_gained(&graphs).done, 0);
	add_piece(&paragraph, page, "kernels", gp_live_gained(&kernels).count, 0);
	for (uint8_t i = 0; i < GP_COPY_KINDS; i++) {
		snprintf(text, sizeof(text), "copies %s", gp_copy_kind_name(i));
		add_flow(&paragraph, page, text, GP_SUM_COPY, 1u << i);
	}
	add_flow(&paragraph, page, "memsets", GP_SUM_MEMSET, GP_LIVE_ALL);
	add_flow(&paragraph, page, "recorded calls", GP_SUM_CALL, GP_LIVE_ALL);
	if (silent > 0) {
		snprintf(text, sizeof(text), "%s %s without GPU record",
			 gp_format_count(silent).text, silent == 1 ? "launch" : "launches");
		gp_paragraph_add(&paragraph, text);
	}
	gp_paragraph_end(&paragraph);
}

/* ---- ranges ---- */

static void print_ranges_of(FILE *out, const struct gp_page *page, uint32_t thread_id)
{
	const struct gp_live_ranges *ranges = &page->live->ranges;
	const char *lead = ": ";

	fputs("ranges of ", out);
	put_thread(out, page, thread_id);
	for (uint32_t i = 0; i < ranges->open_count; i++) {
		const struct gp_live_range *range = &ranges->open[i];
		uint64_t start_ns = gp_live_from_ticks(page->live, range->ticks);

		if (range->thread_id != thread_id)
			continue;
		fputs(lead, out);
		gp_text_print(out, gp_live_ranges_text(ranges, range));
		fprintf(out, " (%s)", gp_format_ns(since_ns(page, start_ns)).text);
		lead = " > ";
	}
	fputc('\n', out);
}

static void print_ranges(FILE *out, const struct gp_page *page)
{
	const struct gp_live_ranges *ranges = &page->live->ranges;
	uint32_t shown = 0, threads[RANGE_THREADS];

	for (uint32_t i = 0; i < ranges->open_count; i++) {
		uint32_t at = 0;

		while (at < shown && threads[at] != ranges->open[i].thread_id)
			at++;
		if (at < shown)
			continue;
		if (shown == RANGE_THREADS) {
			fputs("ranges of more threads are open\n", out);
			return;
		}
		threads[shown++] = ranges->open[i].thread_id;
		print_ranges_of(out, page, ranges->open[i].thread_id);
	}
}

/* ---- launches without a record ---- */

/* Of several, which one has not ended is not known. */
static void print_open(FILE *out, const struct gp_page *page)
{
	const struct gp_live *l = page->live;
	const struct gp_record_in_flight *open = gp_live_open(l);
	const char *name = open ? gp_live_kernel_name(l, open->name_id) : NULL;
	uint64_t count = silent_launches(page), ended = gp_live_waited_for(l);

	if (!name || count <= ended)
		return;
	count -= ended;
	if (count == 1)
		fputs("no record of its end: ", out);
	else
		fprintf(out, "no record of their ends: %s launches, the first of ",
			gp_format_count(count).text);
	gp_text_print(out, gp_names_short(page->names, name));
	fputc('\n', out);
}

/* ---- calls that wait ---- */

GP_COMPARE_BY(compare_calls, struct gp_record_waiting, start_ticks)

static void print_call(FILE *out, const struct gp_page *page, const struct gp_record_waiting *call)
{
	const char *name = gp_live_api_name(page->live, call->api);
	uint64_t start_ns = gp_live_from_ticks(page->live, call->start_ticks);

	fputs("in ", out);
	gp_text_print(out, name ? name : "a call without a name");
	fprintf(out, " for %s: ", gp_format_ns(since_ns(page, start_ns)).text);
	put_thread(out, page, call->thread_id);
	fputc('\n', out);
}

/* Those that have lasted longest. */
static int print_calls(FILE *out, const struct gp_page *page)
{
	const struct gp_record_waiting *calls = page->tail->calls;
	uint32_t count = page->tail->call_count;
	uint32_t *order = gp_array_order(calls, count, sizeof(*calls), compare_calls, NULL);

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && i < WAITING_CALLS; i++)
		print_call(out, page, &calls[order[i]]);
	if (count > WAITING_CALLS)
		fprintf(out, "in calls that wait: %s threads more\n",
			gp_format_count(count - WAITING_CALLS).text);
	gp_spill_free(order);
	return 0;
}

int gp_page_print_head(FILE *out, const struct gp_page *page)
{
	int result;

	print_title(out, page);
	print_ages(out, page);
	print_losses(out, page);
	result = print_devices(out, page);
	print_other_memory(out, page);
	fputc('\n', out);
	print_rates(out, page);
	print_open(out, page);
	if (result == 0)
		result = print_calls(out, page);
	print_ranges(out, page);
	return result;
}

void gp_page_print_farewell(FILE *out, const struct gp_page *page)
{
	const char *program = page->live->info[GP_INFO_PROGRAM];
	char word[4352];

	fputs("gpuprof: ", out);
	gp_text_print(out, program ? program : "a program");
	fprintf(out, ", pid %u, %s; to see a summary, type: gpuprof summary ", page->tail->pid,
		gp_page_state(page));
	gp_text_print(out, gp_shell_word(page->path, word, sizeof(word)));
}
