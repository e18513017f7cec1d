/*
 * ring_seen: reads from a ring file the call that the ring shows for its thread; the rings lie
 * beside the trace.
 */
#ifndef TESTS_COLLECTOR_RING_SEEN_H
#define TESTS_COLLECTOR_RING_SEEN_H

#include "tests/collector/harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "collector/ring.h"

static inline int open_rings(void)
{
	DIR *listing = opendir(case_folder);
	struct dirent *entry;
	int fd = -1;

	CHECK(listing != NULL);
	while (fd < 0 && (entry = readdir(listing)) != NULL)
		if (strstr(entry->d_name, GP_RING_FILE_PART) != NULL)
			fd = openat(dirfd(listing), entry->d_name, O_RDONLY);
	closedir(listing);
	CHECK(fd >= 0);
	return fd;
}

/* The api of the current call in this thread's ring, 0 = none; rings lie beside the trace. */
static inline uint32_t call_seen(void)
{
	struct gp_ring_header header = {0};
	uint64_t offset = GP_RING_HEADER_BYTES;
	uint32_t thread = (uint32_t)syscall(SYS_gettid);
	int fd = open_rings();

	while (pread(fd, &header, sizeof(header), (off_t)offset) == sizeof(header) &&
	       header.magic == GP_RING_MAGIC && header.thread != thread)
		offset += gp_ring_bytes(header.slot_count);
	close(fd);
	CHECK(header.thread == thread);
	return header.call_ticks != 0 && header.call_head == header.head ? header.call_api : 0;
}

#endif
