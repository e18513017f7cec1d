/*
 * payload_fuzz: any bytes as the text of schemas and as a payload must give fields or none, within
 * their limit.
 *
 *	make fuzz FUZZ_SECONDS=30
 *
 * The input is split at its @ bytes: the first part is the payload, the others are schemas 1, 2,
 * ...  tests/fuzz/payload has some to begin with.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/model/payload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_SCHEMAS 8u
#define SPLIT        '@'

struct seen {
	uint32_t fields;
	uint64_t sum; /* so that every byte of a field is read */
};

static void take(void *context, const struct gp_payload_field *field)
{
	struct seen *seen = context;

	seen->fields++;
	seen->sum += strlen(field->name) + field->value;
	if (field->kind == GP_PAYLOAD_NONE)
		seen->sum += strlen(field->text);
}

/* Each in memory of its own, so that reading beyond it is seen. */
static struct gp_text text_of(uint16_t space, uint32_t id, uint32_t value, const void *data,
			      size_t length)
{
	char *bytes = malloc(length + 1);

	if (!bytes)
		abort();
	memcpy(bytes, data, length);
	bytes[length] = '\0';
	return (struct gp_text){space, id, value, (uint32_t)length, bytes};
}

static size_t part_length(const uint8_t *data, size_t size)
{
	const uint8_t *end = size > 0 ? memchr(data, SPLIT, size) : NULL;

	return end ? (size_t)(end - data) : size;
}

/* Sorted by space and number, as a model has them. */
static uint32_t split(struct gp_text texts[MOST_SCHEMAS + 2], const uint8_t *data, size_t size)
{
	size_t length = part_length(data, size), at = length + 1;
	struct gp_text payload = text_of(GP_STRING_PAYLOAD, 1, 1, data, length);
	uint32_t count = 0;

	texts[count++] = text_of(GP_STRING_RANGE, 1, 0, "text", 4);
	while (at < size && count <= MOST_SCHEMAS) {
		length = part_length(data + at, size - at);
		texts[count] = text_of(GP_STRING_SCHEMA, count, 0, data + at, length);
		count++;
		at += length + 1;
	}
	texts[count++] = payload;
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_text texts[MOST_SCHEMAS + 2];
	struct gp_model model = {.texts = texts, .text_count = split(texts, data, size)};
	struct seen seen = {0};
	uint32_t fields = gp_payload_decode(&model, model.text_count - 1, take, &seen);

	if (fields != seen.fields || fields > GP_PAYLOAD_MOST_FIELDS)
		abort();
	__asm__ volatile("" : : "r"(seen.sum));
	for (uint32_t i = 0; i < model.text_count; i++)
		free(texts[i].bytes);
	return 0;
}
