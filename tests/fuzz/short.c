/*
 * short: a fuzzer's inputs without libFuzzer, which needs clang: every seed as it is, then damaged,
 * the same way in each run.
 *
 *	NAME_short TIMES FOLDER...		so many damaged ones; the seeds are the files in the folders; without any, bytes by chance
 *
 * It has no eye for what an input makes run, so that `make fuzz` finds more; what it is for is
 * `make check`, on every machine.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "tests/lib/dice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_SEEDS  512u
#define MOST_BYTES  20000u
#define MOST_DAMAGE 8u
#define MOST_S      10 /* of the processor, for one input; as -timeout of tests/tests.mk */

struct seed {
	uint8_t *bytes;
	size_t size;
};

static struct seed seeds[MOST_SEEDS];
static size_t seed_count;
static uint64_t dice = DICE;

static size_t roll(size_t below)
{
	return below > 0 ? (size_t)(roll_dice(&dice) % below) : 0;
}

static void read_seed(const char *folder, const char *name)
{
	struct seed *seed = &seeds[seed_count];
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	seed->bytes = malloc(MOST_BYTES);
	if (!file || !seed->bytes)
		abort();
	seed->size = fread(seed->bytes, 1, MOST_BYTES, file);
	fclose(file);
	seed_count++;
}

static void read_seeds(const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.' && seed_count < MOST_SEEDS)
			read_seed(folder, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static void make_seed(void)
{
	static uint8_t bytes[256];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)roll(256);
	seeds[seed_count++] = (struct seed){bytes, sizeof(bytes)};
}

/* In memory of its own size, so that reading beyond it is seen; ended by a signal if it takes long. */
static void try(const uint8_t *bytes, size_t size)
{
	const struct itimerval limit = {.it_value.tv_sec = MOST_S};
	uint8_t *copy = malloc(size > 0 ? size : 1);

	setitimer(ITIMER_VIRTUAL, &limit, NULL);

	if (!copy)
		abort();
	memcpy(copy, bytes, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

/* One byte is another, some are gone or there twice, or are those of another seed. */
static size_t damage(uint8_t bytes[MOST_BYTES], size_t size)
{
	static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff};
	const struct seed *other = &seeds[roll(seed_count)];
	size_t at = roll(size), length = 1 + roll(size - at < 64 ? size - at : 64), from;

	switch (size > length ? roll(5) : 4) {
	case 0:
		bytes[at] = odd[roll(sizeof(odd))];
		return size;
	case 1:
		bytes[at] ^= (uint8_t)(1u << roll(8));
		return size;
	case 2:
		memmove(bytes + at, bytes + at + length, size - at - length);
		return size - length;
	case 3:
		if (size + length > MOST_BYTES)
			return size;
		memmove(bytes + at + length, bytes + at, size - at);
		return size + length;
	default:
		from = roll(other->size);
		length = other->size - from;
		if (length > MOST_BYTES - at)
			length = MOST_BYTES - at;
		memcpy(bytes + at, other->bytes + from, length);
		return at + length > size ? at + length : size;
	}
}

int main(int argc, char **argv)
{
	static uint8_t bytes[MOST_BYTES];
	long times = argc > 2 ? strtol(argv[1], NULL, 10) : 0;

	for (int i = 2; i < argc; i++)
		read_seeds(argv[i]);
	if (times <= 0) {
		fprintf(stderr, "how many?\n");
		return 2;
	}
	if (seed_count == 0)
		make_seed();
	for (size_t i = 0; i < seed_count; i++)
		try(seeds[i].bytes, seeds[i].size);
	for (long i = 0; i < times; i++) {
		const struct seed *seed = &seeds[roll(seed_count)];
		size_t size = seed->size;

		memcpy(bytes, seed->bytes, size);
		for (size_t hits = 1 + roll(MOST_DAMAGE); hits > 0; hits--)
			size = damage(bytes, size);
		try(bytes, size);
	}
	printf("%zu seeds, and %ld damaged\n", seed_count, times);
	return 0;
}
