#include "report/model/nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int find(void *library, const struct gp_nvml_function *wanted)
{
	void *found = dlsym(library, wanted->name);

	memcpy(wanted->function, &found, sizeof(found));
	return found || wanted->is_optional ? 0 : -ENOSYS;
}

int gp_nvml_open(const struct gp_nvml_function *functions, size_t count)
{
	int (*init)(void) = NULL;
	const struct gp_nvml_function first = {&init, "nvmlInit_v2", false};
	void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
	int result = library ? find(library, &first) : -ENOENT;

	for (size_t i = 0; result == 0 && i < count; i++)
		result = find(library, &functions[i]);
	return result == 0 ? init() : result;
}

void gp_nvml_write_uuid(char text[GP_NVML_UUID_BYTES], const uint8_t uuid[16])
{
	int length = snprintf(text, GP_NVML_UUID_BYTES, "GPU-");

	for (int i = 0; i < 16; i++)
		length += snprintf(text + length, GP_NVML_UUID_BYTES - (size_t)length, "%s%02x",
				   i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}
