/*
 * api_table: the recorded API calls, their purpose, and the shape of their parameters:
 * inject/api.def as a table by cbid.
 *
 * Read-only after gp_api_table_init(), which the startup code calls once.  Any thread may search
 * it.
 */
#ifndef INJECT_API_TABLE_H
#define INJECT_API_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * More than any libcupti has (868 in 13.4); a cbid beyond it is recorded as an unknown call of
 * class OTHER.
 */
#define GP_API_CBID_LIMIT 2048u

/*
 * The layout of a call's parameters: allocation or free (inject/memory_call.c), launch, copy, or
 * stream to wait for (inject/launch_call.h).
 */
enum gp_call_shape {
	GP_SHAPE_NONE,
	GP_SHAPE_LAUNCHED, /* { function, grid, block, ..., stream, ... } */
	GP_SHAPE_WAITED,   /* { stream } */
	GP_SHAPE_COPIED,   /* { to, from, bytes, direction } */
	GP_SHAPE_MEMORY,
	GP_SHAPE_SIZED = GP_SHAPE_MEMORY, /* { address *, size } */
	GP_SHAPE_POOLED,                  /* { address *, size, pool } */
	GP_SHAPE_PITCH,                   /* { address *, pitch *, width, height } */
	GP_SHAPE_PITCH_3D,                /* { cudaPitchedPtr *, extent } */
	GP_SHAPE_RUNTIME_ARRAY,
	GP_SHAPE_RUNTIME_ARRAY_3D,
	GP_SHAPE_RUNTIME_MIPMAP,
	GP_SHAPE_DRIVER_ARRAY,
	GP_SHAPE_DRIVER_ARRAY_3D,
	GP_SHAPE_DRIVER_MIPMAP,
	GP_SHAPE_PHYSICAL, /* { handle *, size, properties } */
	GP_SHAPE_REGISTER, /* { address, size } */
	GP_SHAPE_OPENED,   /* { address *, handle }: memory of another process */
	GP_SHAPE_FREED,    /* { address } */
	GP_SHAPE_MAPPED,   /* { address, size, offset, handle } */
	GP_SHAPE_UNMAPPED, /* { address, size } */
	GP_SHAPE_RETAINED, /* { handle * } */
	GP_SHAPE_LAUNCHES,
	GP_SHAPE_COOPERATIVE =
		GP_SHAPE_LAUNCHES, /* every launch shape from here on; this one is like LAUNCHED */
	GP_SHAPE_COOPERATIVE_EACH, /* the same, on several devices: { list, ... } */
	GP_SHAPE_CONFIGURED,       /* { configuration *, ... } */
	GP_SHAPES
};

#define GP_RUNTIME_LAUNCH_STREAM 48u /* stream_at */
#define GP_DRIVER_LAUNCH_STREAM  40u

struct gp_api_entry {
	uint16_t api;        /* GP_API_ID of record.h: cbid, with the top bit for the driver API */
	uint8_t class;       /* enum gp_api_class */
	uint8_t shape;       /* enum gp_call_shape */
	uint8_t memory_kind; /* enum gp_memory_kind, 0 = none */
	uint8_t stream_at;   /* offset of the stream handle in a launch's parameters; 0 = none */
	uint16_t name;       /* for gp_api_cupti_name() */
};

void gp_api_table_init(void);

/*
 * For gp_api_table_find() only, which runs in every callback: the entries; and by domain and cbid,
 * the index of a call's entry plus one, 0 = not in the table.
 */
extern const struct gp_api_entry gp_api_entries[] __attribute__((visibility("hidden")));
extern uint16_t gp_api_positions[2][GP_API_CBID_LIMIT] __attribute__((visibility("hidden")));

/* The entry of a call, or NULL if it is not in the table. */
static inline const struct gp_api_entry *gp_api_table_find(bool driver, uint32_t cbid)
{
	uint16_t position = cbid < GP_API_CBID_LIMIT ? gp_api_positions[driver][cbid] : 0;

	return position != 0 ? &gp_api_entries[position - 1] : NULL;
}

/* CUPTI's spelling. */
const char *gp_api_cupti_name(const struct gp_api_entry *entry);

/* All entries, for enabling. */
const struct gp_api_entry *gp_api_table(uint32_t *count);

#endif
