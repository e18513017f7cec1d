/*
 * frame_names: the function names of native frames that the trace itself has, for reading it where
 * the files of its modules are missing (gpuprof/trace.h, "Names").
 *
 * A name belongs to a module of the trace and an address, as in struct gp_record_frame;
 * JIT-compiled code has module 0.
 */
#ifndef REPORT_SYMBOLS_FRAME_NAMES_H
#define REPORT_SYMBOLS_FRAME_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "report/symbols/elf_place.h"
#include "report/model/model.h"

struct gp_frame_names;

/* Returns NULL if there is no memory. */
struct gp_frame_names *gp_frame_names_new(void);
void gp_frame_names_free(struct gp_frame_names *names);

/*
 * Adds the places of an address, innermost first. Does not copy their texts. Returns 0 or -ENOMEM.
 */
int gp_frame_names_add(struct gp_frame_names *names, uint32_t module_id, uint64_t address,
		       const struct gp_elf_place *places, size_t count);

size_t gp_frame_names_count(const struct gp_frame_names *names);

/* The places of an address, innermost first. Returns their number; 0 = no names. */
size_t gp_frame_names_find(const struct gp_frame_names *names, uint32_t module_id, uint64_t address,
			   const struct gp_elf_place **places);

/* Returns 0, and the caller owns packed->bytes; or -ENOMEM. */
int gp_frame_names_pack(const struct gp_frame_names *names, struct gp_packed_names *packed);

/* Accepts any bytes. Returns NULL if they are invalid or there is no memory. */
struct gp_frame_names *gp_frame_names_unpack(const struct gp_packed_names *packed);

#endif
