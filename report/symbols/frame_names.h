/*
 * frame_names: the functions of native frames as the trace itself has them, so that it can be read
 * where the files of its modules are not (gpuprof/trace.h, "Names").
 *
 * A name belongs to a module of the trace and an address, both as in struct gp_record_frame; in no
 * module it is that of code that a compiler made at run time.
 */
#ifndef REPORT_SYMBOLS_FRAME_NAMES_H
#define REPORT_SYMBOLS_FRAME_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "report/symbols/elf_place.h"
#include "report/model/model.h"

struct gp_frame_names;

/* NULL if there is no memory. */
struct gp_frame_names *gp_frame_names_new(void);
void gp_frame_names_free(struct gp_frame_names *names);

/*
 * Add the places of an address, the innermost first. Their texts are not copied. Returns 0 or
 * -ENOMEM.
 */
int gp_frame_names_add(struct gp_frame_names *names, uint32_t module_id, uint64_t address,
		       const struct gp_elf_place *places, size_t count);

size_t gp_frame_names_count(const struct gp_frame_names *names);

/* The places of an address, the innermost first; how many, 0 = it has no names here. */
size_t gp_frame_names_find(const struct gp_frame_names *names, uint32_t module_id, uint64_t address,
			   const struct gp_elf_place **places);

/* Returns 0, and packed->bytes is the caller's; or -ENOMEM, and nothing is packed. */
int gp_frame_names_pack(const struct gp_frame_names *names, struct gp_packed_names *packed);

/* Takes any bytes; NULL: they are no names, or there is no memory. */
struct gp_frame_names *gp_frame_names_unpack(const struct gp_packed_names *packed);

#endif
