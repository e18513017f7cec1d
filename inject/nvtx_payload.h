/*
 * nvtx_payload: NVTX's payload extension: bytes that ranges carry, whose meaning schemas tell (inject/nvtx_schema.h).  NCCL
 * tells the size, the communicator and the operation of its calls this way.
 *
 * Nothing is read that the schema and the stated size do not allow; of a payload, at most GP_PAYLOAD_BYTES are kept.
 * Every object that uses an extension calls our InitializeInjectionNvtxExtension() with tables of its own.
 */
#ifndef INJECT_NVTX_PAYLOAD_H
#define INJECT_NVTX_PAYLOAD_H

#include "inject/nvtx_message.h"

#include <nvtx3/nvToolsExtPayload.h>

#define GP_PAYLOAD_BYTES 4096u

/* The number of the payload of an event whose payloadType is NVTX_PAYLOAD_TYPE_EXT; 0 = none that can be recorded. */
uint32_t gp_payload_of_event(struct gp_known_text *domain, const nvtxEventAttributes_t *event);

#endif
