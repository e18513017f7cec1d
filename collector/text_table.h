/*
 * texts: small numbers for texts that repeat (messages of ranges, domains, ...), on the program's own threads.
 *
 * Finding a text takes no lock; adding one takes none either.  What was added stays for the life of the process, also in
 * its forked children, and is defined again in each recording that uses it: a text may be added before there is any.
 * Memory is bounded and mapped at the first use; a table that is full gives a new number, and a definition, each time.
 *
 * Any thread, also signal handlers.
 */
#ifndef COLLECTOR_TEXTS_H
#define COLLECTOR_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/record.h"

#define GP_TEXT_TABLE_MAX_BYTES (16u << 20) /* a good choice for wanted_bytes, and the most */

struct gp_text_key {
	enum gp_string_space space;
	uint32_t value; /* of the definition */
	const char *bytes;
	uint32_t length_bytes; /* more than GP_STRING_MAX_BYTES are cut, and counted */
};

/* A text that was added.  All but `recording` is for reading. */
struct gp_known_text {
	uint64_t next; /* address of the next text of its chain */
	uint64_t hash;
	uint64_t seal; /* tells that there is a text at this address */
	uint32_t id;
	uint32_t recording; /* atomic; the last one in which it was defined */
	uint32_t value;
	uint16_t space;
	uint16_t length_bytes;
	char bytes[]; /* NUL-terminated */
};

/*
 * All but wanted_bytes, a power of two that the owner sets and nobody changes, is zero at first, and atomic.  With --max-memory a table
 * has less than it wants (collector/memory_budget.h); what it has stands in the memory itself, so that both are there at once.
 */
struct gp_text_table {
	uint32_t wanted_bytes;
	uint32_t last_id;
	uint64_t memory;     /* address, 0 = not mapped yet, 1 = cannot be had */
	uint64_t used_bytes; /* of what is behind the heads of the chains */
};

/* The text as it is in the table, added if need be.  NULL: the table is full. */
struct gp_known_text *gp_text_table_add(struct gp_text_table *table, const struct gp_text_key *key);

/*
 * The kept text at an address that the program gave back as a handle, or NULL where there is none: a program may hand
 * over anything.
 */
struct gp_known_text *gp_text_table_at(const struct gp_text_table *table, uint64_t address);

/* The number of a kept text, defined in the recording that is live.  0: there is none, or the definition was dropped. */
uint32_t gp_text_table_define(struct gp_known_text *text);

/* Both in one: also for a text that finds no room. */
uint32_t gp_text_table_id(struct gp_text_table *table, const struct gp_text_key *key);

#endif
