#include "report/codec/thrift.h"

#include <string.h>

enum { TYPE_I32 = 5, TYPE_I64 = 6, TYPE_BINARY = 8, TYPE_LIST = 9, TYPE_STRUCT = 12 };

#define MOST_IN_HEAD 15 /* larger numbers stand after the byte */

static void put_byte(struct gp_thrift *thrift, unsigned value)
{
	uint8_t byte = (uint8_t)value;

	gp_protobuf_raw(&thrift->bytes, &byte, 1);
}

/* Negative numbers become odd ones, so that small numbers stay short. */
static void put_number(struct gp_thrift *thrift, int64_t value)
{
	gp_protobuf_packed(&thrift->bytes, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/* Ids ascend by less than MOST_IN_HEAD in all structs of Parquet. */
static void put_field(struct gp_thrift *thrift, int id, unsigned type)
{
	int *last_id = &thrift->last_id[thrift->depth];

	put_byte(thrift, (unsigned)(id - *last_id) << 4 | type);
	*last_id = id;
}

static void put_bytes(struct gp_thrift *thrift, const void *bytes, size_t count)
{
	gp_protobuf_packed(&thrift->bytes, count);
	gp_protobuf_raw(&thrift->bytes, bytes, count);
}

void gp_thrift_i32(struct gp_thrift *thrift, int id, int32_t value)
{
	put_field(thrift, id, TYPE_I32);
	put_number(thrift, value);
}

void gp_thrift_i64(struct gp_thrift *thrift, int id, int64_t value)
{
	put_field(thrift, id, TYPE_I64);
	put_number(thrift, value);
}

void gp_thrift_binary(struct gp_thrift *thrift, int id, const void *bytes, size_t count)
{
	put_field(thrift, id, TYPE_BINARY);
	put_bytes(thrift, bytes, count);
}

void gp_thrift_text(struct gp_thrift *thrift, int id, const char *text)
{
	gp_thrift_binary(thrift, id, text, strlen(text));
}

void gp_thrift_begin(struct gp_thrift *thrift, int id)
{
	put_field(thrift, id, TYPE_STRUCT);
	gp_thrift_element_begin(thrift);
}

void gp_thrift_end(struct gp_thrift *thrift)
{
	put_byte(thrift, 0);
	if (thrift->depth > 0)
		thrift->depth--;
}

void gp_thrift_list(struct gp_thrift *thrift, int id, enum gp_thrift_element type, size_t count)
{
	put_field(thrift, id, TYPE_LIST);
	put_byte(thrift, (unsigned)(count < MOST_IN_HEAD ? count : MOST_IN_HEAD) << 4 | type);
	if (count >= MOST_IN_HEAD)
		gp_protobuf_packed(&thrift->bytes, count);
}

void gp_thrift_element_i32(struct gp_thrift *thrift, int32_t value)
{
	put_number(thrift, value);
}

void gp_thrift_element_text(struct gp_thrift *thrift, const char *text)
{
	put_bytes(thrift, text, strlen(text));
}

void gp_thrift_element_begin(struct gp_thrift *thrift)
{
	thrift->last_id[++thrift->depth] = 0;
}
