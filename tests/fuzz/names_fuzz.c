/*
 * names_fuzz: any bytes as the names of functions in a trace must give names or none.
 *
 *	make fuzz-names FUZZ_SECONDS=30
 *
 * The first two bytes are the length that is claimed.  What is packed is mostly damaged, so that
 * the rest is tried as it is and packed.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/symbols/frame_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try(uint8_t *bytes, size_t length, uint64_t claimed)
{
	struct gp_frame_names *names =
		gp_frame_names_unpack(&(struct gp_packed_names){bytes, length, claimed});
	const struct gp_elf_place *places;

	if (names && gp_frame_names_find(names, 1, 1, &places) > GP_ELF_PLACES)
		abort();
	gp_frame_names_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t claimed = size < 2 ? 0 : data[0] | (uint64_t)data[1] << 8;
	uLongf packed_length = compressBound(size);
	uint8_t *packed = malloc(packed_length), *copy = malloc(size + 1);

	if (!packed || !copy)
		abort();
	if (size > 2) {
		memcpy(copy, data + 2, size - 2);
		try(copy, size - 2, claimed);
		if (compress(packed, &packed_length, data + 2, size - 2) == Z_OK)
			try(packed, packed_length, size - 2);
	}
	free(packed);
	free(copy);
	return 0;
}
