/* api_table: names and classes of API calls by their 16-bit ids. */
#ifndef REPORT_TRACE_API_TABLE_H
#define REPORT_TRACE_API_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_API_TABLE_PAGE 256u

struct gp_api_entry {
	const char *name; /* NULL = not set */
	uint8_t class;    /* enum gp_api_class */
};

/* Zeroed = empty. Programs use a few hundred ids that lie close together. */
struct gp_api_table {
	struct gp_api_entry *pages[65536u / GP_API_TABLE_PAGE];
};

struct gp_api_entry gp_api_table_find(const struct gp_api_table *table, uint16_t id);

/* The entry's enum gp_api_class; 0 if it is not set. */
static inline uint8_t gp_api_table_class(const struct gp_api_table *table, uint16_t id)
{
	const struct gp_api_entry *page = table->pages[id / GP_API_TABLE_PAGE];

	return page ? page[id % GP_API_TABLE_PAGE].class : 0;
}

/* Whether an entry has that name. */
bool gp_api_table_has(const struct gp_api_table *table, const char *name, size_t length);

/*
 * Sets or replaces an entry. Takes ownership of name (from malloc()), also on failure. Returns 0 or
 * -ENOMEM.
 */
int gp_api_table_set(struct gp_api_table *table, uint16_t id, char *name, uint8_t class);

/* Frees the table's contents. */
void gp_api_table_clear(struct gp_api_table *table);

#endif
