#include "collector/ring_quota.h"

#include <fcntl.h>
#include <string.h>

#include "collector/sys.h"
#include "gpuprof/ring_file.h"

/* The layout of getdents64 entries. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

/* Ring files have all their blocks; a file of another user may be as long as he likes without any. */
static uint64_t bytes_of(int folder, const char *name)
{
	static const char prefix[] = GP_RING_FILE_PREFIX;
	uint64_t bytes = 0;

	if (strncmp(name, prefix, sizeof(prefix) - 1) == 0)
		gp_sys_taken_by(folder, name, &bytes);
	return bytes;
}

uint64_t gp_ring_quota_taken(void)
{
	char entries[2048] __attribute__((aligned(8)));
	int folder = gp_sys_open(GP_RING_FILE_FOLDER, O_RDONLY | O_DIRECTORY, 0);
	uint64_t taken = 0;
	ssize_t bytes;

	if (folder < 0)
		return 0;
	while ((bytes = gp_sys_read_folder(folder, entries, sizeof(entries))) > 0)
		for (const char *at = entries; at < entries + bytes;) {
			const struct entry *entry = (const struct entry *)at;

			taken += bytes_of(folder, entry->name);
			at += entry->bytes;
		}
	gp_sys_close(folder);
	return taken;
}

uint64_t gp_ring_quota_left(uint64_t free_bytes, uint64_t taken_bytes)
{
	uint64_t most = (free_bytes + taken_bytes) / GP_RING_QUOTA_PART;

	if (most > GP_RING_QUOTA_BYTES)
		most = GP_RING_QUOTA_BYTES;
	return taken_bytes < most ? most - taken_bytes : 0;
}
