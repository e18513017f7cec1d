#include "inject/api_table.h"

#include <assert.h>

#include "gpuprof/record.h"

enum { DOMAIN_RUNTIME = 0, DOMAIN_DRIVER = GP_API_DRIVER };
enum { GP_MEMORY_NONE = 0 };

/*
 * Concatenated names, with an offset for each: pointers would need relocations at the start of
 * every program.
 */
static const struct names {
#define GP_API(DOMAIN, cbid, name, CLASS, SHAPE, MEMORY) char DOMAIN##_##cbid[sizeof(#name)];
#include "inject/api.def"
#undef GP_API
} names = {
#define GP_API(DOMAIN, cbid, name, CLASS, SHAPE, MEMORY) #name,
#include "inject/api.def"
#undef GP_API
};

static_assert(sizeof(names) <= UINT16_MAX, "the offset of a name fits 16 bits");

#define STREAM_AT(shape, domain)                                                                   \
	((shape) != GP_SHAPE_LAUNCHED && (shape) != GP_SHAPE_COOPERATIVE ? 0                       \
	 : (domain) == DOMAIN_DRIVER                                     ? GP_DRIVER_LAUNCH_STREAM \
									 : GP_RUNTIME_LAUNCH_STREAM)

const struct gp_api_entry gp_api_entries[] = {
#define GP_API(DOMAIN, cbid, name, CLASS, SHAPE, MEMORY)                                           \
	{DOMAIN_##DOMAIN | (cbid),                                                                 \
	 GP_API_##CLASS,                                                                           \
	 GP_SHAPE_##SHAPE,                                                                         \
	 GP_MEMORY_##MEMORY,                                                                       \
	 STREAM_AT(GP_SHAPE_##SHAPE, DOMAIN_##DOMAIN),                                             \
	 offsetof(struct names, DOMAIN##_##cbid)},
#include "inject/api.def"
#undef GP_API
};

#define ENTRIES (sizeof(gp_api_entries) / sizeof(gp_api_entries[0]))

uint16_t gp_api_positions[2][GP_API_CBID_LIMIT];

#define GP_API(DOMAIN, cbid, name, CLASS, SHAPE, MEMORY)                                           \
	static_assert((cbid) < GP_API_CBID_LIMIT, #name);
#include "inject/api.def"
#undef GP_API

void gp_api_table_init(void)
{
	for (uint16_t i = 0; i < ENTRIES; i++) {
		uint16_t api = gp_api_entries[i].api;

		gp_api_positions[GP_API_IS_DRIVER(api)][GP_API_CBID(api)] = (uint16_t)(i + 1);
	}
}

const char *gp_api_cupti_name(const struct gp_api_entry *entry)
{
	return (const char *)&names + entry->name;
}

const struct gp_api_entry *gp_api_table(uint32_t *count)
{
	*count = ENTRIES;
	return gp_api_entries;
}
