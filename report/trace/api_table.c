#include "report/trace/api_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct gp_api_entry gp_api_table_find(const struct gp_api_table *table, uint16_t id)
{
	const struct gp_api_entry *page = table->pages[id / GP_API_TABLE_PAGE];

	return page ? page[id % GP_API_TABLE_PAGE] : (struct gp_api_entry){NULL, 0};
}

bool gp_api_table_has(const struct gp_api_table *table, const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(table->pages) / sizeof(table->pages[0]); i++)
		for (size_t j = 0; table->pages[i] && j < GP_API_TABLE_PAGE; j++) {
			const char *known = table->pages[i][j].name;

			if (known && strncmp(known, name, length) == 0 && known[length] == '\0')
				return true;
		}
	return false;
}

int gp_api_table_set(struct gp_api_table *table, uint16_t id, char *name, uint8_t class)
{
	struct gp_api_entry **page = &table->pages[id / GP_API_TABLE_PAGE], *entry;

	if (!*page)
		*page = calloc(GP_API_TABLE_PAGE, sizeof(**page));
	if (!*page || !name) {
		free(name);
		return -ENOMEM;
	}
	entry = &(*page)[id % GP_API_TABLE_PAGE];
	free((char *)entry->name);
	*entry = (struct gp_api_entry){name, class};
	return 0;
}

void gp_api_table_clear(struct gp_api_table *table)
{
	for (size_t i = 0; i < sizeof(table->pages) / sizeof(table->pages[0]); i++) {
		for (size_t j = 0; table->pages[i] && j < GP_API_TABLE_PAGE; j++)
			free((char *)table->pages[i][j].name);
		free(table->pages[i]);
		table->pages[i] = NULL;
	}
}
