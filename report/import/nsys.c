#include "report/import/nsys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/codec/input.h"
#include "report/import/nsys_reading.h"

static const char *const columns[] = {
#define GP_NSYS_COLUMN(name) #name,
#include "report/import/nsys_column.def"
#undef GP_NSYS_COLUMN
};

/* ---- the process ---- */

#define THREAD_BITS INT64_C(0xffffff) /* of a globalTid; the higher bits are the globalPid */

static int64_t process_of(const struct gp_row *row)
{
	enum gp_nsys_column column =
		gp_row_has(row, GP_NSYS_globalPid) ? GP_NSYS_globalPid : GP_NSYS_globalTid;

	return gp_row_whole(row, column) & ~THREAD_BITS;
}

bool gp_nsys_is_of_process(const struct gp_nsys_reading *r, const struct gp_row *row)
{
	if (!gp_row_has(row, GP_NSYS_globalPid) && !gp_row_has(row, GP_NSYS_globalTid))
		return true;
	return process_of(row) == r->process;
}

uint64_t gp_nsys_time(const struct gp_row *row, enum gp_nsys_column column)
{
	return gp_row_has(row, column) ? gp_import_time(gp_row_whole(row, column)) : 0;
}

#define MOST_PROCESSES 256u /* per file; more are ignored */

/* The work of each process. */
struct census {
	struct process {
		int64_t id; /* globalPid */
		uint64_t operations, calls, ranges;
	} rows[MOST_PROCESSES];
	uint32_t count;
};

/* NULL: there are too many. */
static struct process *find_process(struct census *census, const struct gp_row *row)
{
	int64_t id = process_of(row);
	uint32_t i = 0;

	while (i < census->count && census->rows[i].id != id)
		i++;
	if (i == MOST_PROCESSES)
		return NULL;
	if (i == census->count)
		census->rows[census->count++].id = id;
	return &census->rows[i];
}

#define COUNT_ROWS(name, member)                                                                   \
	static int name(void *census, const struct gp_row *row)                                    \
	{                                                                                          \
		struct process *process = find_process(census, row);                               \
                                                                                                   \
		if (process)                                                                       \
			process->member++;                                                         \
		return 0;                                                                          \
	}
COUNT_ROWS(count_operation, operations)
COUNT_ROWS(count_call, calls)
COUNT_ROWS(count_range, ranges)

static int compare_work(const void *a, const void *b)
{
	const struct process *left = a, *right = b;

	if (left->operations != right->operations)
		return left->operations > right->operations ? -1 : 1;
	if (left->calls != right->calls)
		return left->calls > right->calls ? -1 : 1;
	if (left->ranges != right->ranges)
		return left->ranges > right->ranges ? -1 : 1;
	return (left->id > right->id) - (left->id < right->id);
}

/* In their order; *others: those that have ranges alone, although others use CUDA. */
static int take_census(struct gp_database *database, struct census *census, uint32_t *others)
{
	static const struct {
		const char *name;
		int (*take)(void *context, const struct gp_row *row);
	} tables[] = {
		{"CUPTI_ACTIVITY_KIND_KERNEL", count_operation},
		{"CUPTI_ACTIVITY_KIND_MEMCPY", count_operation},
		{"CUPTI_ACTIVITY_KIND_MEMSET", count_operation},
		{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", count_operation},
		{"CUPTI_ACTIVITY_KIND_RUNTIME", count_call},
		{"NVTX_EVENTS", count_range},
	};
	uint32_t users = 0;

	*census = (struct census){.count = 0};
	for (size_t i = 0; i < COUNT(tables); i++)
		if (gp_database_each(database, tables[i].name, tables[i].take, census) != 0)
			return -ENOMEM;
	qsort(census->rows, census->count, sizeof(*census->rows), compare_work);
	while (users < census->count &&
	       census->rows[users].operations + census->rows[users].calls > 0)
		users++;
	*others = users > 0 ? census->count - users : 0;
	census->count -= *others;
	return 0;
}

/* Returns -ENODATA if the file has no CUDA or NVTX events. */
static int choose_process(struct gp_nsys_reading *r)
{
	uint32_t wanted = r->im->builder->process, others;
	struct census census;
	int result = take_census(r->database, &census, &others);

	if (result != 0)
		return result;
	if (wanted >= census.count)
		return -ENODATA;
	r->process = census.rows[wanted].id;
	return gp_import_note_count(
		r->im, wanted == 0 ? others : 0,
		"processes of the file that were left out, because they have NVTX ranges alone");
}

uint32_t gp_nsys_count_processes(const char *path)
{
	struct gp_database *database;
	struct census census = {.count = 0};
	uint32_t others;

	if (gp_database_open(path, columns, GP_NSYS_COLUMNS, &database) == 0 &&
	    take_census(database, &census, &others) != 0)
		census.count = 0;
	gp_database_close(database);
	return census.count;
}

/* ---- strings ---- */

static int take_string(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	size_t length, room = r->room ? r->room : 65536;
	const char *text = gp_row_text(row, GP_NSYS_value, &length);
	char *bytes;

	while (room - r->used < length + 1)
		room *= 2;
	if (room != r->room) {
		bytes = realloc(r->bytes, room);
		if (!bytes)
			return -ENOMEM;
		r->bytes = bytes;
		r->room = room;
	}
	if (gp_array_grow(&r->strings, &r->string_capacity, r->string_count, sizeof(*r->strings)) !=
	    0)
		return -ENOMEM;
	memcpy(r->bytes + r->used, text, length);
	r->bytes[r->used + length] = '\0';
	r->strings[r->string_count++] =
		(struct gp_nsys_string){gp_row_whole(row, GP_NSYS_id), r->used, length};
	r->used += length + 1;
	return 0;
}

GP_COMPARE_BY(compare_strings, struct gp_nsys_string, id)

static int read_strings(struct gp_nsys_reading *r)
{
	int result = gp_database_each(r->database, "StringIds", take_string, r);

	return result == 0 ? gp_array_sort(r->strings, r->string_count, sizeof(*r->strings),
					   compare_strings, NULL)
			   : result;
}

static const struct gp_nsys_string *find_string(const struct gp_nsys_reading *r, int64_t id)
{
	uint32_t low = 0, high = r->string_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (r->strings[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->string_count && r->strings[low].id == id ? &r->strings[low] : NULL;
}

const char *gp_nsys_string(const struct gp_nsys_reading *r, int64_t id)
{
	const struct gp_nsys_string *string = find_string(r, id);

	return string ? r->bytes + string->offset : "";
}

const char *gp_nsys_text(const struct gp_nsys_reading *r, const struct gp_row *row,
			 enum gp_nsys_column column, size_t *bytes)
{
	const struct gp_nsys_string *string =
		gp_row_has(row, column) ? find_string(r, gp_row_whole(row, column)) : NULL;

	*bytes = string ? string->length : 0;
	return string ? r->bytes + string->offset : "";
}

/* ---- the file ---- */

/* The facts that nsys records only with an option. */
static const char *missing_note(bool has_memory, bool has_stacks)
{
	if (!has_memory && !has_stacks)
		return "nsys records allocations only with --cuda-memory-usage=true, and call stacks only with --cudabacktrace=all; this file has neither";
	if (!has_memory)
		return "nsys records allocations only with --cuda-memory-usage=true; this file has none";
	return has_stacks
		       ? NULL
		       : "nsys records call stacks only with --cudabacktrace=all; this file has none";
}

static int tell_recorder(struct gp_nsys_reading *r)
{
	bool has_memory = r->memory_count > 0;
	uint32_t unknown =
		r->unknown | GP_UNKNOWN_CONTEXTS | (has_memory ? 0 : GP_UNKNOWN_ALLOCATIONS);

	if (r->is_own && r->recorder)
		return gp_import_recorder(r->im, r->recorder, unknown,
					  "this is an export of gpuprof");
	if (r->is_own)
		return gp_import_recorder(
			r->im, "gpuprof, from an exported SQLite file", unknown,
			"this is an export: for a Python program, the original trace also has stack samples");
	return gp_import_recorder(r->im, GP_IMPORT_NSYS, unknown | GP_UNKNOWN_ORDER,
				  missing_note(has_memory, r->stacks.chain_count > 0));
}

static int read_all(struct gp_nsys_reading *r)
{
	static int (*const parts[])(struct gp_nsys_reading *) = {
		choose_process,      read_strings,      gp_nsys_take_facts, gp_nsys_take_operations,
		gp_nsys_take_stacks, gp_nsys_take_host, tell_recorder,
	};
	int result = 0;

	for (size_t i = 0; i < COUNT(parts) && result == 0; i++)
		result = parts[i](r);
	r->im->is_cut = gp_database_is_damaged(r->database);
	return result == 0 ? gp_importing_finish(r->im, r->unix_ns) : result;
}

static void explain(int error, bool is_damaged, const char *path, char *message,
		    size_t message_bytes)
{
	if (error == -ENODATA && gp_input_is_compressed(path))
		snprintf(message, message_bytes,
			 "%s is a compressed SQLite file: decompress it first", path);
	else if (error == -ENODATA && is_damaged)
		snprintf(message, message_bytes,
			 "%s is an SQLite file, but it is damaged and unreadable", path);
	else if (error == -ENODATA)
		snprintf(
			message, message_bytes,
			"%s is an SQLite file without the CUDA or NVTX tables of nsys export --type=sqlite",
			path);
	else
		gp_import_explain(error, path, message, message_bytes);
}

int gp_nsys_load(const char *path, struct gp_model_builder *b, char *message, size_t message_bytes)
{
	struct gp_importing im;
	struct gp_nsys_reading r = {.im = &im};
	bool is_damaged = false;
	int result;

	gp_importing_begin(&im, b);
	result = gp_database_open(path, columns, GP_NSYS_COLUMNS, &r.database);
	if (result == 0) {
		result = read_all(&r);
		is_damaged = gp_database_is_damaged(r.database);
	}
	if (result != 0)
		explain(result, is_damaged, path, message, message_bytes);
	gp_database_close(r.database);
	gp_importing_free(&im);
	free(r.strings);
	free(r.bytes);
	free(r.memory);
	gp_nsys_free_stacks(&r.stacks);
	return result;
}
