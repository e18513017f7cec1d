#include "inject/api_table.h"

#include <assert.h>

#include "gpuprof/record.h"

enum { DOMAIN_RUNTIME = 0, DOMAIN_DRIVER = GP_API_DRIVER };
enum { GP_MEMORY_NONE = 0 };

static const struct gp_api_entry entries[] = {
#define GP_API(DOMAIN, cbid, name, CLASS, SHAPE, MEMORY)                                           \
	{DOMAIN_##DOMAIN | (cbid), GP_API_##CLASS, GP_SHAPE_##SHAPE, GP_MEMORY_##MEMORY, #name},
#include "inject/api.def"
#undef GP_API
};

#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

/* Position in entries plus one, by domain and cbid; 0 = not in the table. */
static uint16_t position_of[2][GP_API_CBID_LIMIT];

#define GP_API(DOMAIN, cbid, name, CLASS, SHAPE, MEMORY)                                           \
	static_assert((cbid) < GP_API_CBID_LIMIT, #name);
#include "inject/api.def"
#undef GP_API

void gp_api_table_init(void)
{
	for (uint16_t i = 0; i < ENTRIES; i++)
		position_of[GP_API_IS_DRIVER(entries[i].api)][GP_API_CBID(entries[i].api)] =
			(uint16_t)(i + 1);
}

const struct gp_api_entry *gp_api_table_find(bool driver, uint32_t cbid)
{
	uint16_t position = cbid < GP_API_CBID_LIMIT ? position_of[driver][cbid] : 0;

	return position != 0 ? &entries[position - 1] : NULL;
}

const struct gp_api_entry *gp_api_table(uint32_t *count)
{
	*count = ENTRIES;
	return entries;
}
