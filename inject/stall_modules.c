#include "inject/stall_modules.h"

#include <stdlib.h>

#include "collector/atomic.h"

#define MOST_BYTES ((size_t)GP_STALL_MODULES_MIB << 20)

struct module {
	struct module *next;
	uint64_t crc;
	struct gp_cubin_lines *lines;
};

/* both atomic */
static uint64_t newest; /* address of a struct module */
static uint64_t kept_bytes;

static struct module *first_module(void)
{
	return (struct module *)(uintptr_t)gp_load64_acquire(&newest);
}

struct gp_cubin_lines *gp_stall_modules_find(uint64_t crc)
{
	const struct module *module = first_module();

	while (module != NULL && module->crc != crc)
		module = module->next;
	return module != NULL ? module->lines : NULL;
}

/* Two threads may add the same module, which does no harm. */
static bool add(struct gp_cubin_lines *lines, uint64_t crc)
{
	struct module *module = malloc(sizeof(*module));

	if (module == NULL)
		return false;
	module->crc = crc;
	module->lines = lines;
	do
		module->next = first_module();
	while (!gp_replace64(&newest, (uintptr_t)module->next, (uintptr_t)module));
	return true;
}

bool gp_stall_modules_add(const void *cubin, size_t bytes, int (*crc)(struct gp_pc_crc *))
{
	struct gp_pc_crc parameters = {GP_PC_HEAD(struct gp_pc_crc, crc), bytes, cubin, 0};
	uint64_t used_bytes = gp_load64(&kept_bytes);
	size_t most_bytes = used_bytes < MOST_BYTES ? MOST_BYTES - used_bytes : 0, needed_bytes;
	struct gp_cubin_lines *lines = gp_cubin_lines_open(cubin, bytes, most_bytes, &needed_bytes);

	if (lines == NULL)
		return needed_bytes <= most_bytes;
	if (crc(&parameters) == 0 && gp_stall_modules_find(parameters.crc) == NULL &&
	    add(lines, parameters.crc))
		gp_add64(&kept_bytes, needed_bytes);
	else
		gp_cubin_lines_close(lines);
	return true;
}
