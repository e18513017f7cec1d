/*
 * nvtx_payload: NVTX's payload extension: ranges carry bytes whose layout schemas describe
 * (inject/nvtx_schema.h).  NCCL reports the size, communicator and operation of its calls this way.
 *
 * Reads are limited by the schema and the given size; at most GP_PAYLOAD_BYTES of a payload are
 * kept.  Every object that uses an extension calls our InitializeInjectionNvtxExtension() with its
 * own tables.
 */
#ifndef INJECT_NVTX_PAYLOAD_H
#define INJECT_NVTX_PAYLOAD_H

#include "inject/nvtx_message.h"

#include <nvtx3/nvToolsExtPayload.h>

#define GP_PAYLOAD_BYTES 4096u

/*
 * The id of the payload of an event whose payloadType is NVTX_PAYLOAD_TYPE_EXT; 0 = none that can
 * be recorded.
 */
uint32_t gp_payload_of_event(struct gp_known_text *domain, const nvtxEventAttributes_t *event);

#endif
