/*
 * pickle_fuzz: any bytes as a pickle, and as a memory snapshot of PyTorch, must be read or be
 * refused.
 *
 *	make fuzz-pickle FUZZ_SECONDS=30
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/codec/pickle.h"
#include "report/analysis/memory/torch_snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Follow every index and every text, so that a wrong one is seen. */
static uint64_t walk(const struct gp_pickle *pickle)
{
	uint64_t sum = pickle->values[pickle->root].kind;

	for (uint32_t i = 0; i < pickle->value_count; i++) {
		const struct gp_pickle_value *value = &pickle->values[i];

		for (uint32_t at = 0; value->kind == GP_PICKLE_TEXT && at < value->count; at++)
			sum += (uint8_t)value->text[at];
		if (value->kind != GP_PICKLE_LIST && value->kind != GP_PICKLE_DICT)
			continue;
		for (uint32_t at = 0; at < value->count; at++)
			sum += pickle->values[value->items[at]].kind;
	}
	return sum;
}

static void load_snapshot(const uint8_t *data, size_t size)
{
	static int file = -1;
	const struct gp_model model = {0};
	struct gp_torch_snapshot snapshot;
	char path[64], message[256];

	if (file < 0)
		file = memfd_create("pickle", MFD_CLOEXEC);
	if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	gp_torch_snapshot_load(path, &model, &snapshot, message, sizeof(message));
	gp_torch_snapshot_free(&snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_pickle pickle;
	const char *problem;

	if (gp_pickle_read(&pickle, data, size, &problem) == 0)
		__asm__ volatile("" : : "r"(walk(&pickle)));
	gp_pickle_free(&pickle);
	load_snapshot(data, size);
	return 0;
}
