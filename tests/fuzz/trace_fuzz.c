/*
 * trace_fuzz: any bytes as a trace file must load or be refused, and be printed and exported,
 * without a crash, a leak or a hang.
 *
 *	make fuzz FUZZ_SECONDS=30
 *
 * So that mutations reach the decoder, the input is not a file but what a file is made of: the
 * first byte says how many chunks the rest is split into, and each gets a header with a right
 * checksum; with its top bit set the rest is taken as a whole file as it is.  Three more of its
 * bits say what is printed: all of it at once would leave a few runs a second.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpuprof/crc32c.h"
#include "gpuprof/trace.h"
#include "report/load/load_model.h"
#include "report/tables/event_list.h"
#include "report/export/export.h"
#include "report/html/html.h"
#include "report/model/model.h"
#include "report/symbols/names.h"
#include "report/serve/spans.h"
#include "report/summary/summary.h"
#include "report/tables/summary_by.h"
#include "report/top/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ONE_PASS 7u /* in place of a printer */

static int file = -1;

static void append(const void *bytes, size_t length)
{
	if (write(file, bytes, length) != (ssize_t)length)
		abort();
}

/*
 * A chunk whose payload is as given; its first two bytes choose the ring, the form, the position,
 * the order and the number of records.
 */
static void append_chunk(const uint8_t *payload, size_t length, uint64_t sequence)
{
	uint8_t chunk[sizeof(struct gp_chunk_header) + GP_CHUNK_MAX_BYTES + 8] = {0};
	struct gp_chunk_header h = {.magic = GP_CHUNK_MAGIC, .sequence = sequence};
	size_t covered = offsetof(struct gp_chunk_header, records);

	if (length < 3 || length > GP_CHUNK_MAX_BYTES)
		return;
	h.ring = h.thread = payload[0] & 3;
	h.form = payload[0] >> 2 & 3;
	h.position = payload[0] >> 4 & 7;
	h.sequence ^= payload[0] >> 7;
	h.records = payload[1];
	h.payload_bytes = (uint32_t)length - 2;
	memcpy(chunk, &h, sizeof(h));
	memcpy(chunk + sizeof(h), payload + 2, h.payload_bytes);
	h.crc = gp_crc32c(chunk + covered, sizeof(h) - covered + h.payload_bytes);
	memcpy(chunk, &h, sizeof(h));
	append(chunk, sizeof(h) + gp_chunk_padded_bytes(h.payload_bytes));
}

static void write_trace(const uint8_t *data, size_t size)
{
	size_t chunks = size > 0 ? 1 + data[0] % 8 : 1, at = 1;

	if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0)
		abort();
	if (size > 0 && data[0] >= 0x80) {
		append(data + 1, size - 1);
		return;
	}
	append(size > 0 && data[0] & 0x40 ? GP_TRACE_MAGIC "\2" : GP_TRACE_MAGIC "\1", 8);
	for (size_t i = 0; i < chunks && at < size; i++) {
		size_t length = i + 1 < chunks ? (size - 1) / chunks : size - at;

		append_chunk(data + at, length, i);
		at += length;
	}
}

/* Follow every index, so that a wrong one is seen. */
static uint64_t walk(const struct gp_model *m)
{
	struct gp_names *names = gp_names_new();
	uint64_t sum = m->last_ns;

	for (uint32_t i = 0; i < m->call_count; i++) {
		sum += strlen(gp_model_api(m, m->calls[i].api).name);
		for (uint32_t op = m->calls[i].first_op; op != GP_NONE; op = m->ops[op].next_op)
			sum += m->ops[op].end_ns - m->ops[op].start_ns;
		if (m->calls[i].memory != GP_NONE)
			sum += m->memory[m->calls[i].memory].bytes;
	}
	for (uint32_t i = 0; i < m->op_count; i++) {
		sum += strlen(gp_names_short(names, gp_model_kernel_name(m, &m->ops[i])));
		if (m->ops[i].shape != GP_NONE)
			sum += m->shapes[m->ops[i].shape].grid[0];
		if (m->ops[i].call != GP_NONE)
			sum += m->calls[m->ops[i].call].start_ns;
		if (m->ops[i].end_ns < m->ops[i].start_ns)
			abort();
	}
	for (uint32_t i = 0; i < m->memory_count; i++)
		if (m->memory[i].other != GP_NONE && m->memory[m->memory[i].other].other != i)
			abort();
	gp_names_free(names);
	return sum;
}

/* ---- all that people and programs are shown ---- */

static void print_summary(FILE *out, struct gp_model *model)
{
	const struct gp_summary_options whole = {.row_limit = 12}, screen = {.brief = true};

	gp_summary_print(out, &model, 1, &whole);
	gp_summary_print(out, &model, 1, &screen);
}

static void print_tables(FILE *out, struct gp_model *model)
{
	const struct gp_summary_by by = {
		.words = "all", .format = gp_table_format_find("json"), .messages = out};

	gp_summary_by_print(out, &model, 1, &by);
}

static void print_exports(FILE *out, struct gp_model *model)
{
	const struct gp_export_options export = {.measure = GP_STACK_METRICS};

	for (const struct gp_exporter *const *exporter = gp_exporters; *exporter; exporter++)
		if ((*exporter)->write)
			gp_export_model(*exporter, model, &export, out);
}

static void print_html(FILE *out, struct gp_model *model)
{
	gp_html_write(&model, 1, &(struct gp_html_options){0}, out, NULL);
}

static void print_short_html(FILE *out, struct gp_model *model)
{
	gp_html_write(&model, 1, &(struct gp_html_options){.event_limit = 8}, out, NULL);
}

static void print_chronicles(FILE *out, struct gp_model *model)
{
	const struct gp_event_list_part all = {.to_ns = UINT64_MAX};
	struct gp_scope scope;

	if (gp_scope_open(&scope, &model, 1, false) != 0)
		abort();
	for (const struct gp_event_list *const *chronicle = gp_event_lists; *chronicle;
	     chronicle++) {
		struct gp_table_writer writer;
		uint64_t rows;

		gp_table_writer_open(&writer, gp_table_format_find("csv"), out, false);
		gp_event_list_write(*chronicle, &scope, &all, &writer, &rows);
		gp_table_writer_close(&writer);
	}
	gp_scope_close(&scope);
}

/* All of the timeline, and less than there is room for. */
static void print_spans(FILE *out, struct gp_model *model)
{
	static const struct gp_span_query queries[] = {
		{.from_ns = INT64_MIN, .to_ns = INT64_MAX, .limit = GP_SPANS_MOST},
		{.from_ns = -1000, .to_ns = 1000000, .least_ns = 10, .limit = 3}};
	struct gp_spans *spans;

	if (gp_spans_new(&model, 1, &spans) != 0)
		return;
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		gp_spans_write(spans, &queries[i], out);
	gp_spans_free(spans);
}

static void print(struct gp_model *model, unsigned which)
{
	static void (*const printers[])(FILE * out, struct gp_model * model) = {
		print_summary,    print_tables,     print_exports, print_html,
		print_short_html, print_chronicles, print_spans,
	};

	static_assert(sizeof(printers) / sizeof(printers[0]) == ONE_PASS, "one is left");
	FILE *out;

	if (which >= sizeof(printers) / sizeof(printers[0]))
		return;
	out = fopen("/dev/null", "w");
	if (!out)
		abort();
	printers[which](out, model);
	fclose(out);
}

/*
 * As the summary of a large trace does it: by several threads, and without a model of its events.
 */
static void sum_up(const char *path)
{
	const struct gp_load_options options = {.save_to = -1, .in_one_pass = true};
	struct gp_model *model;
	char message[256];
	FILE *out;

	if (gp_model_load_with(path, &options, &model, message, sizeof(message)) != 0)
		return;
	out = fopen("/dev/null", "w");
	if (!out)
		abort();
	print_summary(out, model);
	fclose(out);
	gp_model_free(model);
}

static void print_page(const struct gp_page *page)
{
	FILE *out = fopen("/dev/null", "w");

	if (!out || gp_page_print_head(out, page) != 0 || gp_page_print_kernels(out, page) != 0)
		abort();
	gp_page_print_farewell(out, page);
	fclose(out);
}

/* As `gpuprof top` does it; the process of a trace made here may be said to run. */
static void watch(const char *path, bool is_live)
{
	struct gp_live *live = gp_live_new(false);
	const struct gp_record_sink sink = {gp_live_take, live};
	struct gp_tail_state state;
	struct gp_page page = {
		.live = live, .tail = &state, .path = path, .columns = 80, .kernel_rows = 12};
	struct gp_tail *tail;
	char message[256];

	if (gp_tail_open(path, &tail, message, sizeof(message)) != 0) {
		gp_live_free(live);
		return;
	}
	page.names = gp_names_new();
	for (uint64_t i = 1; i <= 2; i++) {
		while (gp_tail_read(tail, &sink) > 0)
			;
		state = *gp_tail_state(tail);
		state.live |= is_live;
		if (gp_live_end_interval(live, i << 32, gp_page_is_over(&page)) != 0)
			abort();
		print_page(&page);
		gp_live_next_interval(live);
	}
	gp_names_free(page.names);
	gp_live_free(live);
	gp_tail_close(tail);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned which = size > 0 ? data[0] >> 3 & 7 : 0;
	struct gp_model *model;
	char path[64], message[256];

	if (file < 0)
		file = memfd_create("trace", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	write_trace(data, size);
	watch(path, size % 2 == 0);
	if (gp_model_load(path, &model, message, sizeof(message)) != 0)
		return 0;
	__asm__ volatile("" : : "r"(walk(model)));
	print(model, which);
	gp_model_free(model);
	if (which == ONE_PASS)
		sum_up(path);
	return 0;
}
