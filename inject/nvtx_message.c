#include "inject/nvtx_message.h"

#include <stddef.h>
#include <string.h>

#include "collector/collector.h"
#include "collector/text.h"

#define LONGEST_UTF8 4u
#define REPLACEMENT  0xfffdu

struct gp_message gp_message_narrow(const char *text)
{
	return (struct gp_message){
		.bytes = text,
		.length_bytes = text != NULL ? (uint32_t)strnlen(text, GP_STRING_MAX_BYTES + 1) : 0,
	};
}

static uint32_t put_utf8(char *at, uint32_t code)
{
	bool is_none = code > 0x10ffff || (code >= 0xd800 && code < 0xe000);

	return gp_text_put_utf8(at, is_none ? REPLACEMENT : code);
}

struct gp_message gp_message_wide(const wchar_t *text, struct gp_wide_buffer *buffer)
{
	uint32_t length = 0;

	if (text == NULL)
		return (struct gp_message){.bytes = NULL};
	for (; *text != L'\0' && length < GP_WIDE_BYTES - LONGEST_UTF8; text++)
		length += put_utf8(buffer->bytes + length, (uint32_t)*text);
	buffer->bytes[length] = '\0';
	if (*text != L'\0')
		gp_count(GP_COUNTER_CUT_STRINGS, 1);
	return (struct gp_message){.bytes = buffer->bytes, .length_bytes = length};
}

struct gp_message gp_message_registered(uint64_t handle)
{
	struct gp_known_text *kept = gp_ranges_kept(handle);

	if (kept == NULL && (handle != 0 || gp_ranges_refused()))
		gp_count(GP_COUNTER_TEXTS_UNKNOWN, 1);
	return (struct gp_message){.kept = kept};
}

struct gp_message gp_message_of(int32_t type, nvtxMessageValue_t value,
				struct gp_wide_buffer *buffer)
{
	if (type == NVTX_MESSAGE_TYPE_REGISTERED)
		return gp_message_registered((uintptr_t)value.registered);
	if (type == NVTX_MESSAGE_TYPE_UNICODE)
		return gp_message_wide(value.unicode, buffer);
	return gp_message_narrow(type == NVTX_MESSAGE_TYPE_ASCII ? value.ascii : NULL);
}

struct gp_known_text *gp_message_domain(nvtxDomainHandle_t handle)
{
	return gp_ranges_known_domain((uintptr_t)handle);
}
