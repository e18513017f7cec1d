/*
 * tracefile: appends chunks to the trace file (gpuprof/trace.h).
 *
 * Where the writer has descriptors of its own, one stays open.  Else the file is opened by its absolute path for each flush
 * and closed after it, for the program could close it, or reuse it for a file of its own.  Writer thread only.
 */
#ifndef COLLECTOR_TRACEFILE_H
#define COLLECTOR_TRACEFILE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/circular_file.h"
#include "collector/process_identity.h"
#include "gpuprof/trace.h"

/* A place between two chunks. */
struct gp_tracefile_mark {
	uint64_t bytes;    /* the file's length there */
	uint64_t sequence; /* of the chunk that follows */
	uint64_t records;  /* of the program, in the chunks before it */
};

struct gp_tracefile {
	char path[GP_PATH_BYTES];
	uint64_t bytes;    /* the file's length */
	uint64_t sequence; /* of the next chunk */
	uint64_t records;  /* of the program, in all chunks */
	uint64_t
		limit_bytes; /* set by the owner after creation: it does not grow over that; 0 = no limit */
	struct gp_circular_file circular; /* where only the last part is kept */
	struct gp_tracefile_mark
		mark[2]; /* the later one last, at least GP_TRACEFILE_ROOM_BYTES apart */
	int fd;          /* while a flush lasts, else -1 */
	bool stays_open; /* set by the owner after creation: between flushes, too */
	bool rests;      /* between flushes */
};

#define GP_TRACEFILE_ROOM_BYTES 8192u

struct gp_chunk {
	uint64_t
		program_records; /* how many of its records are neither the writer's own nor marks */
	uint8_t padding[8];      /* zeros that go before the header where the file's length is not a
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

/* The same, for the last part of a trace, which takes at most `bytes` in the file. */
int gp_tracefile_create_circle(struct gp_tracefile *file, const char *base_path, uint64_t bytes);

#define GP_TRACEFILE_FULL (-E2BIG) /* the error of a chunk that is beyond the limit */

/* Whether a chunk with that much payload, and as much as that after it, find room below the limit. */
bool gp_tracefile_has_room(const struct gp_tracefile *file, uint32_t payload_bytes,
			   uint32_t after_bytes);

/*
 * Append a chunk: its payload, program_records, and of its header payload_bytes, records, position, position_slots,
 * ring and thread, are set. 0, or -errno: then no part of it counts, and the next one will stand at
 * a place where readers find it.  -ESTALE: the file is not as we left it, so that its
 * name may be another file's by now.  GP_TRACEFILE_FULL: it finds no room.
 */
int gp_tracefile_append(struct gp_tracefile *file, struct gp_chunk *chunk);

/* In a circle: write a chunk with copies of definitions where these stay.  There is room. */
int gp_tracefile_keep(struct gp_tracefile *file, struct gp_chunk *chunk);

/*
 * Cut off the last chunks, at least GP_TRACEFILE_ROOM_BYTES where there are as many, but never the first: the next one takes less room
 * than that.  *records is how many of the program's they held.  0, -ENOSPC where there is none, or -errno.
 */
int gp_tracefile_make_room(struct gp_tracefile *file, uint64_t *records);

/* End of a flush. */
void gp_tracefile_close(struct gp_tracefile *file);

#endif
