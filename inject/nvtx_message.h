/*
 * nvtx_message: converts the messages, names and handles of NVTX's functions to the form of
 * inject/ranges.h.
 *
 * Other files that need NVTX's types include this header, because the implementation in NVTX's
 * headers is for programs.
 */
#ifndef INJECT_NVTX_MESSAGE_H
#define INJECT_NVTX_MESSAGE_H

#include <stdint.h>
#include <wchar.h>

#define NVTX_NO_IMPL
#define NVTX_DECLSPEC extern
#include <nvtx3/nvToolsExt.h>

#include "inject/ranges.h"

#define GP_WIDE_BYTES 2048u /* longer wide texts are truncated and counted */

/* Memory for a converted text. */
struct gp_wide_buffer {
	char bytes[GP_WIDE_BYTES];
};

/* All three accept NULL for no text. */
struct gp_message gp_message_narrow(const char *text);
struct gp_message gp_message_wide(const wchar_t *text, struct gp_wide_buffer *buffer);

/*
 * The message of a registered string; none, and counted, if the handle is not ours.  0 is the
 * handle of a program that registered nothing (XLA, for an empty text), and counts only if we gave
 * it out.
 */
struct gp_message gp_message_registered(uint64_t handle);

/* The message of an attribute struct, of any nvtxMessageType_t. */
struct gp_message gp_message_of(int32_t type, nvtxMessageValue_t value,
				struct gp_wide_buffer *buffer);

/* NULL, the default domain, if the handle is not ours. */
struct gp_known_text *gp_message_domain(nvtxDomainHandle_t handle);

#endif
