/*
 * cubin_fuzz: any bytes as a module must give places of its functions' instructions, or be refused.
 *
 *	make fuzz-cubin FUZZ_SECONDS=30
 *
 * The seed is a module of the samples' kernels without their code.
 */
#include <stdlib.h>
#include <string.h>

#include "inject/cubin_lines.h"

#define MOST_BYTES 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every byte of the names must be there. */
static void find_places(const struct gp_cubin_function *function)
{
	size_t sum = strlen(gp_cubin_function_kernel(function));
	struct gp_cubin_place place;

	for (uint64_t offset = 0; offset < 1024; offset += 16)
		if (gp_cubin_function_place(function, offset, &place))
			sum += strlen(place.folder) + strlen(place.file) + place.line;
	if (gp_cubin_function_place(function, UINT64_MAX, &place))
		sum += place.line;
	__asm__ volatile("" : : "r"(sum));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"_Z5chasePKjPji", "_Z4meetPVfi", "_Z5rootsPdi",
					    "$_Z5rootsPdi$_Z4rootd", ""};
	size_t needed_bytes;
	struct gp_cubin_lines *lines = gp_cubin_lines_open(data, size, MOST_BYTES, &needed_bytes);

	if (!lines)
		return 0;
	if (needed_bytes > MOST_BYTES)
		abort();
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct gp_cubin_function *function = gp_cubin_lines_function(lines, names[i]);

		if (function)
			find_places(function);
	}
	gp_cubin_lines_close(lines);
	return 0;
}
