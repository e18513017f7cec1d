/* nsys_reading: the state that the parts of the nsys importer share. */
#ifndef REPORT_IMPORT_NSYS_READING_H
#define REPORT_IMPORT_NSYS_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/codec/sqlite_reader.h"
#include "report/import/importing.h"

/* The columns that are read, of all tables. */
enum gp_nsys_column {
#define GP_NSYS_COLUMN(name) GP_NSYS_##name,
#include "report/import/nsys_column.def"
#undef GP_NSYS_COLUMN
	GP_NSYS_COLUMNS
};

/* A string of StringIds. */
struct gp_nsys_string {
	int64_t id;
	size_t offset; /* in bytes[] */
	size_t length;
};

/* Memory that a call allocated or freed. */
struct gp_nsys_memory {
	uint32_t correlation_id;
	uint32_t context_id;
	struct gp_import_memory memory;
};

/* A call chain, and the two names of a kernel's launch stub. */
struct gp_nsys_chain {
	int64_t id;
	uint32_t frame; /* of the innermost function */
};
struct gp_nsys_stub {
	int64_t shown, mangled; /* StringIds: the name in chains, and the mangled name */
};

/* Filled by nsys_stacks.c; zeroed = empty. */
struct gp_nsys_stacks {
	struct gp_interner keys, modules, addresses, kernels;
	struct gp_nsys_place *places; /* places[key - 1] */
	struct gp_nsys_stub *stubs;   /* sorted by shown */
	struct gp_nsys_link *links;
	struct gp_nsys_chain *chains; /* sorted by id */
	uint32_t place_count, place_capacity, stub_count, stub_capacity;
	uint32_t link_count, link_capacity, chain_count, chain_capacity;
};

struct gp_nsys_reading {
	struct gp_importing *im;
	struct gp_database *database;
	bool is_own;          /* written by gpuprof */
	const char *recorder; /* of the exported trace, if not gpuprof */
	uint32_t unknown;     /* GP_UNKNOWN_ bits of facts that kernels lack */
	int64_t process;      /* globalPid of the imported process */
	uint64_t unix_ns;

	struct gp_nsys_string *strings; /* sorted by id */
	char *bytes;
	size_t used, room;
	struct gp_nsys_memory *memory; /* sorted by correlation id */
	uint32_t string_count, string_capacity, memory_count, memory_capacity;
	struct gp_nsys_stacks stacks;
};

/* Whether the row belongs to the imported process. True for tables without that column. */
bool gp_nsys_is_of_process(const struct gp_nsys_reading *r, const struct gp_row *row);

/* A time, as gp_import_time(); 0 = none. */
uint64_t gp_nsys_time(const struct gp_row *row, enum gp_nsys_column column);

/* The string that a column's number stands for; "" if there is none. */
const char *gp_nsys_text(const struct gp_nsys_reading *r, const struct gp_row *row,
			 enum gp_nsys_column column, size_t *bytes);

/* The string with that number, NUL-terminated; "" if there is none. */
const char *gp_nsys_string(const struct gp_nsys_reading *r, int64_t id);

/* The frame of a call's chain; 0 = none. */
uint32_t gp_nsys_stack(const struct gp_nsys_reading *r, const struct gp_row *row);
void gp_nsys_free_stacks(struct gp_nsys_stacks *stacks);

/* Each loads the tables of one part into the model. Returns 0, -ENOMEM or -EOVERFLOW. */
int gp_nsys_take_operations(struct gp_nsys_reading *r); /* nsys_operations.c */
/* nsys_stacks.c; call it before calls are read */
int gp_nsys_take_stacks(struct gp_nsys_reading *r);
int gp_nsys_take_host(struct gp_nsys_reading *r);  /* nsys_host.c: calls, memory, ranges */
int gp_nsys_take_facts(struct gp_nsys_reading *r); /* nsys_facts.c: devices, contexts, ... */

#endif
