/* nsys_reading: what the parts of the importer of nsys's files share. */
#ifndef REPORT_IMPORT_NSYS_READING_H
#define REPORT_IMPORT_NSYS_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/codec/sqlite_reader.h"
#include "report/import/importing.h"

/* The columns that are read, of whatever table. */
enum gp_nsys_column {
#define GP_NSYS_COLUMN(name) GP_NSYS_##name,
#include "report/import/nsys_column.def"
#undef GP_NSYS_COLUMN
	GP_NSYS_COLUMNS
};

/* A text of StringIds. */
struct gp_nsys_string {
	int64_t id;
	size_t offset; /* in bytes[] */
	size_t length;
};

/* Memory came or went, during a call. */
struct gp_nsys_memory {
	uint32_t correlation_id;
	uint32_t context_id;
	struct gp_import_memory memory;
};

/* A chain of callers; a kernel's name in both forms. */
struct gp_nsys_chain {
	int64_t id;
	uint32_t frame; /* of the innermost function */
};
struct gp_nsys_stub {
	int64_t shown, mangled; /* ids of StringIds: as chains have it, as the compiler made it */
};

/* What nsys_stacks.c makes; zeros are none. */
struct gp_nsys_stacks {
	struct gp_texts keys, modules, addresses, kernels;
	struct gp_nsys_place *places; /* by the numbers of keys less one */
	struct gp_nsys_stub *stubs;   /* sorted by shown */
	struct gp_nsys_link *links;
	struct gp_nsys_chain *chains; /* sorted by id */
	uint32_t place_count, place_capacity, stub_count, stub_capacity;
	uint32_t link_count, link_capacity, chain_count, chain_capacity;
};

struct gp_nsys_reading {
	struct gp_importing *im;
	struct gp_database *database;
	bool is_own;      /* gpuprof has written the file */
	uint32_t unknown; /* GP_UNKNOWN_ bits, by what kernels lack */
	int64_t process;  /* globalPid of the process that is read, without its thread */
	uint64_t unix_ns;

	struct gp_nsys_string *strings; /* sorted by id */
	char *bytes;
	size_t used, room;
	struct gp_nsys_memory *memory; /* sorted by correlation id */
	uint32_t string_count, string_capacity, memory_count, memory_capacity;
	struct gp_nsys_stacks stacks;
};

/* Whether the row is of the process that is read; a table without that column is. */
bool gp_nsys_is_of_process(const struct gp_nsys_reading *r, const struct gp_row *row);

/* A time, not negative. */
uint64_t gp_nsys_time(const struct gp_row *row, enum gp_nsys_column column);

/* The text that a column's number stands for; "" if there is none. */
const char *gp_nsys_text(const struct gp_nsys_reading *r, const struct gp_row *row,
			 enum gp_nsys_column column, size_t *bytes);

/* The text of that number, "" if there is none; it ends in a NUL. */
const char *gp_nsys_string(const struct gp_nsys_reading *r, int64_t id);

/* The frame of the chain that a call's row names; 0 = none. */
uint32_t gp_nsys_stack(const struct gp_nsys_reading *r, const struct gp_row *row);
void gp_nsys_free_stacks(struct gp_nsys_stacks *stacks);

/* The tables of one part, put into the model: each returns 0, -ENOMEM or -EOVERFLOW. */
int gp_nsys_take_operations(struct gp_nsys_reading *r); /* nsys_operations.c */
int gp_nsys_take_stacks(struct gp_nsys_reading *r);     /* nsys_stacks.c; before calls are read */
int gp_nsys_take_host(struct gp_nsys_reading *r);       /* nsys_host.c: calls, memory, ranges */
int gp_nsys_take_facts(
	struct gp_nsys_reading *r); /* nsys_facts.c: what there is: devices, contexts, ... */

#endif
