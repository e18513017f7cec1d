/*
 * text_table: ids for texts that repeat (messages of ranges, domains, ...), on the program's own
 * threads.
 *
 * Neither finding nor adding a text takes a lock.  A text stays for the life of the process, also
 * in its forked children, and is defined again in each recording that uses it: it may be added
 * before there is any.  Memory is bounded and mapped at the first use; a full table gives a new id,
 * and a definition, each time.
 *
 * Any thread, also signal handlers.
 */
#ifndef COLLECTOR_TEXT_TABLE_H
#define COLLECTOR_TEXT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/record.h"

#define GP_TEXT_TABLE_MAX_BYTES (16u << 20) /* a good choice for wanted_bytes, and its maximum */

struct gp_text_key {
	enum gp_string_space space;
	uint32_t value; /* of the definition */
	const char *bytes;
	uint32_t length_bytes; /* a text of more than GP_STRING_MAX_BYTES is cut, and counted */
};

/* A text in the table.  All members but `recording` are constant. */
struct gp_known_text {
	uint64_t next; /* address of the next text of its chain */
	uint64_t hash;
	uint64_t seal; /* proves that there is a text at this address */
	uint32_t id;
	uint32_t recording; /* atomic; the last recording in which it was defined */
	uint32_t value;
	uint16_t space;
	uint16_t length_bytes;
	char bytes[]; /* NUL-terminated */
};

/*
 * The owner sets wanted_bytes, a constant power of two; all other members are initially zero, and
 * atomic.  With --max-memory a table may be smaller (collector/memory_budget.h); the memory itself
 * holds its size, so that both appear atomically.
 */
struct gp_text_table {
	uint32_t wanted_bytes;
	uint32_t last_id;
	uint64_t memory;     /* address, 0 = not mapped yet, 1 = out of memory */
	uint64_t used_bytes; /* of the part behind the heads of the chains */
};

/* The text in the table, added if needed.  NULL: the table is full. */
struct gp_known_text *gp_text_table_add(struct gp_text_table *table, const struct gp_text_key *key);

/*
 * The text at an address that the program passed as a handle; NULL if there is none: a program may
 * pass any value.
 */
struct gp_known_text *gp_text_table_at(const struct gp_text_table *table, uint64_t address);

/*
 * The id of a text, defined in the live recording.  0: no recording, or the definition was dropped.
 */
uint32_t gp_text_table_define(struct gp_known_text *text);

/* Add and define; also works for a text that does not fit. */
uint32_t gp_text_table_id(struct gp_text_table *table, const struct gp_text_key *key);

#endif
