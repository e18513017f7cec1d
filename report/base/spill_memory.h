/*
 * room: memory for what grows with the events of a trace.
 *
 * As malloc(), realloc() and free(), as long as all rooms together are within a limit.  A room
 * beyond it is a mapped file without a name, in a folder for temporary files, of which the kernel
 * keeps in memory what is in use: however long the trace, the memory that nobody else can have is
 * bounded, and the disk has the rest.  Where there is no such folder, rooms are memory.  All
 * functions are for any thread; a room belongs to one at a time.
 */
#ifndef REPORT_BASE_SPILL_MEMORY_H
#define REPORT_BASE_SPILL_MEMORY_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/*
 * From here on rooms take no more memory than that, if files can be had; at first there is no
 * limit.
 */
void gp_spill_limit(uint64_t bytes);

/* NULL: there is neither memory nor a file.  Room for no bytes is not NULL. */
void *gp_spill_take(size_t bytes);
void *gp_spill_take_zeroed(size_t count, size_t element_bytes);

/* room may be NULL, or from malloc(); where NULL is returned, it stays. */
void *gp_spill_resize(void *room, size_t bytes);

/* NULL, and what is from malloc(), too. */
void gp_spill_free(void *room);

#define GP_SPILL_TROUBLE_BYTES (PATH_MAX + 128)

/* Why a file could not be had, for the user; "" if none was wanted or all were had. */
void gp_spill_trouble(char text[GP_SPILL_TROUBLE_BYTES]);

#endif
