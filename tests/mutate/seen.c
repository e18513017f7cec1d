/*
 * Notes which code of a test program runs, for mutate.py: linked into programs that are compiled
 * with -fsanitize-coverage=trace-pc. The file that MUTATE_SEEN names has one byte for each byte of
 * the executable; it is shared, so that children and processes that are killed leave their notes.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEEN_BYTES ((size_t)64 << 20)

static uint8_t *seen;
static uintptr_t first;

void __sanitizer_cov_trace_pc(void);

__attribute__((constructor(101))) static void map_seen(void)
{
	const char *path = getenv("MUTATE_SEEN");
	int file = path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	void *bytes = MAP_FAILED;

	if (file < 0)
		return;
	if (ftruncate(file, (off_t)SEEN_BYTES) == 0)
		bytes = mmap(NULL, SEEN_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	/* The program headers follow the ELF header, with which the executable begins. */
	first = getauxval(AT_PHDR) & ~(uintptr_t)4095;
	if (bytes != MAP_FAILED)
		seen = bytes;
}

void __sanitizer_cov_trace_pc(void)
{
	uintptr_t at = (uintptr_t)__builtin_return_address(0) - first;

	if (seen != NULL && at < SEEN_BYTES)
		seen[at] = 1;
}
