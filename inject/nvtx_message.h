/*
 * nvtx_message: the messages, names and handles that NVTX's functions are given, in the one form that inject/ranges.h takes.
 *
 * Other files that need NVTX's types include this one: the headers' own implementation is for programs.
 */
#ifndef INJECT_NVTX_MESSAGE_H
#define INJECT_NVTX_MESSAGE_H

#include <stdint.h>
#include <wchar.h>

#define NVTX_NO_IMPL
#define NVTX_DECLSPEC extern
#include <nvtx3/nvToolsExt.h>

#include "inject/ranges.h"

#define GP_WIDE_BYTES 2048u /* a longer wide text is cut, and counted */

/* Where a converted text lies while it is used. */
struct gp_wide_room {
	char bytes[GP_WIDE_BYTES];
};

/* All three take NULL for no text. */
struct gp_message gp_message_narrow(const char *text);
struct gp_message gp_message_wide(const wchar_t *text, struct gp_wide_room *room);

/*
 * Of a registered string; none, and counted, where the handle is not one of ours.  0 is what a program has that registered nothing (XLA
 * for an empty text), and is counted only where we gave it.
 */
struct gp_message gp_message_registered(uint64_t handle);

/* As an attribute struct has it: of one of the types of nvtxMessageType_t. */
struct gp_message gp_message_of(int32_t type, nvtxMessageValue_t value, struct gp_wide_room *room);

/* NULL, the default domain, where the handle is not one of ours. */
struct gp_known_text *gp_message_domain(nvtxDomainHandle_t handle);

#endif
