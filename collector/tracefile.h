/*
 * tracefile: appends chunks to the trace file (gpuprof/trace.h).
 *
 * If the writer has its own descriptors, one stays open.  Otherwise the file is opened by its
 * absolute path for each flush and closed after it, because the program could close a descriptor,
 * or reuse its number.  Writer thread only.
 */
#ifndef COLLECTOR_TRACEFILE_H
#define COLLECTOR_TRACEFILE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/circular_file.h"
#include "collector/sys.h"
#include "collector/process_identity.h"
#include "gpuprof/trace.h"

/* A position between two chunks. */
struct gp_tracefile_mark {
	uint64_t bytes;    /* length of the file there */
	uint64_t sequence; /* of the next chunk */
	uint64_t records;  /* of the program, in the chunks before it */
};

struct gp_tracefile {
	char path[GP_PATH_BYTES];
	struct gp_file_id id; /* of the file that was created */
	uint64_t bytes;       /* the file's length */
	uint64_t sequence;    /* of the next chunk */
	uint64_t records;     /* of the program, in all chunks */
	uint64_t limit_bytes; /* set by the owner after creation: maximum size; 0 = no limit */
	struct gp_circular_file circular; /* if only the last part is kept */
	struct gp_tracefile_mark
		mark[2]; /* the later one last, at least GP_TRACEFILE_RESERVED_BYTES apart */
	int fd;          /* during a flush, else -1 */
	bool stays_open; /* set by the owner after creation: keep fd between flushes */
	bool rests;      /* between flushes */
};

#define GP_TRACEFILE_RESERVED_BYTES 8192u

struct gp_chunk {
	/* number of its records, except the writer's own and THREAD records */
	uint64_t program_records;
	/* zeros before the header, if the length of the file is not a multiple of 8 */
	uint8_t padding[8];
	struct gp_chunk_header header;
	uint8_t payload[GP_CHUNK_MAX_BYTES];
	uint8_t zeros[8];
};

/*
 * Create NAME.gpuprof, or NAME.2.gpuprof and so on if it exists, mode 0600, with the trace's
 * magic.  base_path is NAME, absolute.  -EINVAL: not absolute; -ENAMETOOLONG; else the error of the
 * system.
 */
int gp_tracefile_create(struct gp_tracefile *file, const char *base_path);

/* The same for the last part of a trace, of at most `bytes`. */
int gp_tracefile_create_circular(struct gp_tracefile *file, const char *base_path, uint64_t bytes);

#define GP_TRACEFILE_FULL (-E2BIG) /* the error of a chunk beyond the limit */

/* Whether a chunk with that much payload, plus the same again, fits below the limit. */
bool gp_tracefile_has_space(const struct gp_tracefile *file, uint32_t payload_bytes,
			    uint32_t after_bytes);

/*
 * Append a chunk: the caller has set its payload, program_records, and of its header payload_bytes,
 * records, position, position_slots, ring and thread.  0, or -errno: then no part of it counts, and
 * the next one will be at a place where readers find it.  -ESTALE: the file has changed, so that
 * its name may belong to another file by now.  GP_TRACEFILE_FULL: beyond the limit.
 */
int gp_tracefile_append(struct gp_tracefile *file, struct gp_chunk *chunk);

/*
 * In a circular file: write a chunk with copies of definitions to the permanent blocks.  It fits.
 */
int gp_tracefile_keep(struct gp_tracefile *file, struct gp_chunk *chunk);

/*
 * Cut off the last chunks, GP_TRACEFILE_RESERVED_BYTES or more if possible, but never the first
 * chunk.  The next chunk is smaller than the space that this frees.  *records: number of the
 * program's records in the chunks. 0, -ENOSPC if there are none, or -errno.
 */
int gp_tracefile_make_space(struct gp_tracefile *file, uint64_t *records);

/* End of a flush. */
void gp_tracefile_close(struct gp_tracefile *file);

#endif
