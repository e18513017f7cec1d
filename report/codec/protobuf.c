#include "report/codec/protobuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/text/utf8.h"

enum wire_type { WIRE_NUMBER = 0, WIRE_64_BITS = 1, WIRE_BYTES = 2 };

#define MOST_NUMBER_BYTES 10

void gp_protobuf_free(struct gp_protobuf *message)
{
	free(message->bytes);
	*message = (struct gp_protobuf){0};
}

static uint8_t *reserve(struct gp_protobuf *message, size_t more)
{
	size_t capacity = message->capacity;
	uint8_t *grown;

	if (message->used + more > capacity) {
		capacity = 2 * (capacity + more);
		grown = realloc(message->bytes, capacity);
		message->bytes = grown;
		message->capacity = capacity;
	}
	return message->bytes + message->used;
}

void gp_protobuf_packed(struct gp_protobuf *message, uint64_t value)
{
	uint8_t *at = reserve(message, MOST_NUMBER_BYTES);

	if (!at)
		return;
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	message->used = (size_t)(at - message->bytes);
}

static void put_tag(struct gp_protobuf *message, uint32_t field, enum wire_type type)
{
	gp_protobuf_packed(message, (uint64_t)field << 3 | type);
}

void gp_protobuf_number(struct gp_protobuf *message, uint32_t field, uint64_t value)
{
	if (value != 0)
		gp_protobuf_value(message, field, value);
}

void gp_protobuf_value(struct gp_protobuf *message, uint32_t field, uint64_t value)
{
	put_tag(message, field, WIRE_NUMBER);
	gp_protobuf_packed(message, value);
}

void gp_protobuf_double(struct gp_protobuf *message, uint32_t field, double value)
{
	uint8_t *at;
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	put_tag(message, field, WIRE_64_BITS);
	at = reserve(message, sizeof(bits));
	if (!at)
		return;
	for (size_t i = 0; i < sizeof(bits); i++)
		at[i] = (uint8_t)(bits >> (8 * i));
	message->used += sizeof(bits);
}

void gp_protobuf_text(struct gp_protobuf *message, uint32_t field, const char *text)
{
	char *repaired = gp_utf8_repair(text);

	if (repaired)
		gp_protobuf_bytes(message, field, repaired, strlen(repaired));
	else
		message->error = -ENOMEM;
	free(repaired);
}

void gp_protobuf_bytes(struct gp_protobuf *message, uint32_t field, const void *bytes,
		       size_t length)
{
	put_tag(message, field, WIRE_BYTES);
	gp_protobuf_packed(message, length);
	gp_protobuf_raw(message, bytes, length);
}

void gp_protobuf_raw(struct gp_protobuf *message, const void *bytes, size_t length)
{
	uint8_t *at = reserve(message, length);

	if (!at || length == 0)
		return;
	memcpy(at, bytes, length);
	message->used += length;
}

void gp_protobuf_message(struct gp_protobuf *message, uint32_t field, struct gp_protobuf *inner)
{
	if (inner->error != 0)
		message->error = inner->error;
	gp_protobuf_bytes(message, field, inner->bytes, inner->used);
	inner->used = 0;
}
