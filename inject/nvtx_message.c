#include "inject/nvtx_message.h"

#include <stddef.h>
#include <string.h>
#include <wchar.h>

#include "collector/collector.h"
#include "collector/hash_bytes.h"
#include "collector/text.h"

#define LONGEST_UTF8 4u
#define REPLACEMENT  0xfffdu

struct gp_message gp_message_narrow(const char *text)
{
	return (struct gp_message){
		.bytes = text,
		.length_bytes = text != NULL ? (uint32_t)strlen(text) : 0,
	};
}

static uint32_t put_utf8(char *at, uint32_t code)
{
	bool is_none = code > 0x10ffff || (code >= 0xd800 && code < 0xe000);

	return gp_text_put_utf8(at, is_none ? REPLACEMENT : code);
}

static uint64_t hash_of_rest(const wchar_t *text)
{
	return gp_hash_bytes(0, (const char *)text, (uint32_t)(wcslen(text) * sizeof(*text)));
}

struct gp_message gp_message_wide(const wchar_t *text, struct gp_wide_buffer *buffer)
{
	uint32_t length = 0;

	if (text == NULL)
		return (struct gp_message){.bytes = NULL};
	for (; *text != L'\0' && length < GP_WIDE_BYTES - LONGEST_UTF8 - GP_TEXT_CUT_END_BYTES;
	     text++)
		length += put_utf8(buffer->bytes + length, (uint32_t)*text);
	if (*text != L'\0') {
		gp_text_put_cut_end(buffer->bytes + length, hash_of_rest(text));
		length += GP_TEXT_CUT_END_BYTES;
		gp_count(GP_COUNTER_CUT_STRINGS, 1);
	}
	buffer->bytes[length] = '\0';
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
