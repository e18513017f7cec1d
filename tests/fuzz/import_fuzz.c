/*
 * import_fuzz: any bytes as another profiler's trace must give a model that holds together, or a
 * message.
 *
 *	make fuzz FUZZ_SECONDS=30
 *
 * The first byte says how the others are meant: J, events of a Chrome trace, which are put into
 * brackets; else the file as it is.  tests/fuzz/import has some to begin with, and
 * tests/fuzz/database.py makes one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/load/load_model.h"
#include "report/model/model.h"
#include "report/summary/summary.h"
#include "report/tables/summary_by.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file = -1;

static void append(const void *bytes, size_t count)
{
	if (write(file, bytes, count) != (ssize_t)count)
		abort();
}

static void write_file(const uint8_t *data, size_t size)
{
	static const char begin[] = "{\"traceEvents\":[", end[] = "]}";
	int is_events = size > 0 && data[0] == 'J';

	if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0)
		abort();
	if (is_events)
		append(begin, sizeof(begin) - 1);
	if (size > 0)
		append(data + 1, size - 1);
	if (is_events)
		append(end, sizeof(end) - 1);
}

/* Follow every index, so that a wrong one is seen. */
static uint64_t walk(const struct gp_model *m)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->call_count; i++) {
		sum += strlen(gp_model_api(m, m->calls[i].api).name);
		for (uint32_t op = m->calls[i].first_op; op != GP_NONE; op = m->ops[op].next_op)
			sum += m->ops[op].end_ns - m->ops[op].start_ns;
		for (uint32_t at = m->calls[i].stack; at != GP_NONE; at = m->frames[at].parent)
			sum += m->frames[at].kind;
	}
	for (uint32_t i = 0; i < m->counted_count; i++)
		sum += strlen(m->counter_texts[m->counted[i].kernel]) +
		       strlen(m->counter_texts[m->counted[i].counter]);
	for (uint32_t i = 0; i < m->op_count; i++) {
		sum += strlen(gp_model_kernel_name(m, &m->ops[i]));
		if (m->ops[i].shape != GP_NONE)
			sum += m->shapes[m->ops[i].shape].grid[0];
		if (m->ops[i].end_ns < m->ops[i].start_ns || m->ops[i].device_id >= GP_DEVICE_LIMIT)
			abort();
	}
	for (uint32_t i = 0; i < m->range_count; i++) {
		sum += strlen(gp_model_range_text(m, &m->ranges[i]));
		if (m->ranges[i].end_ns < m->ranges[i].start_ns ||
		    (m->ranges[i].parent != GP_NONE && m->ranges[i].parent >= i))
			abort();
	}
	return sum;
}

static void print(struct gp_model *model)
{
	const struct gp_summary_options summary = {.row_limit = 12}, screen = {.brief = true};
	FILE *out = fopen("/dev/null", "w");
	const struct gp_summary_by by = {
		.words = "all", .format = gp_table_format_find("json"), .messages = out};

	if (!out)
		abort();
	gp_summary_print(out, &model, 1, &summary);
	gp_summary_print(out, &model, 1, &screen);
	gp_summary_by_print(out, &model, 1, &by);
	fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_model *model;
	char path[64], message[256];

	if (file < 0)
		file = memfd_create("import", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	write_file(data, size);
	if (gp_model_load(path, &model, message, sizeof(message)) != 0)
		return 0;
	__asm__ volatile("" : : "r"(walk(model)));
	print(model);
	gp_model_free(model);
	return 0;
}
