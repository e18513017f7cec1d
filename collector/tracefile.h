/*
 * tracefile: appends chunks to the trace file (gpuprof/trace.h).
 *
 * The file is opened by its absolute path for each flush and closed after it: no descriptor stays
 * open that the program could close, or reuse for a file of its own.  Writer thread only.
 */
#ifndef COLLECTOR_TRACEFILE_H
#define COLLECTOR_TRACEFILE_H

#include <stdint.h>

#include "collector/identity.h"
#include "gpuprof/trace.h"

struct gp_tracefile {
	char path[GP_PATH_BYTES];
	uint64_t bytes;    /* the file's length */
	uint64_t sequence; /* of the next chunk */
	int fd;            /* while a flush lasts, else -1 */
};

struct gp_chunk {
	uint8_t padding[8]; /* zeros that go before the header where the file's length is not a
			       multiple of 8 */
	struct gp_chunk_header header;
	uint8_t payload[GP_CHUNK_MAX_BYTES];
	uint8_t zeros[8];
};

/*
 * Create NAME.gpuprof, or NAME.2.gpuprof and so on where it exists, mode 0600, with the trace's
 * magic.  base_path is NAME, absolute.  -EINVAL: not absolute; -ENAMETOOLONG; else what the system
 * said.
 */
int gp_tracefile_create(struct gp_tracefile *file, const char *base_path);

/*
 * Append a chunk: its payload, and of its header payload_bytes, records, position, position_slots,
 * ring and thread, are set. 0, or -errno: then no part of it counts, and the next one will stand at
 * a place where readers find it.  -ESTALE: the file is not as we left it, so that its
 * name may be another file's by now.
 */
int gp_tracefile_append(struct gp_tracefile *file, struct gp_chunk *chunk);

/* End of a flush. */
void gp_tracefile_close(struct gp_tracefile *file);

#endif
