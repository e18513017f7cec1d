/*
 * thrift: writes structs in the compact protocol of Apache Thrift, into memory.
 *
 * The bytes are those of a gp_protobuf, whose numbers have the same form.  Fields are written in the
 * order of their ids.
 */
#ifndef REPORT_CODEC_THRIFT_H
#define REPORT_CODEC_THRIFT_H

#include <stddef.h>
#include <stdint.h>

#include "report/codec/protobuf.h"

#define GP_THRIFT_DEPTH 8 /* of structs in structs */

/* Zeroed = empty, in the outermost struct. */
struct gp_thrift {
	struct gp_protobuf bytes;
	int last_id[GP_THRIFT_DEPTH]; /* of the struct at each depth */
	int depth;
};

void gp_thrift_i32(struct gp_thrift *thrift, int id, int32_t value);
void gp_thrift_i64(struct gp_thrift *thrift, int id, int64_t value);
void gp_thrift_binary(struct gp_thrift *thrift, int id, const void *bytes, size_t count);
void gp_thrift_text(struct gp_thrift *thrift, int id, const char *text);

/* A struct as a field; its own fields follow. */
void gp_thrift_begin(struct gp_thrift *thrift, int id);

/* The end of the innermost struct, which may be the outermost. */
void gp_thrift_end(struct gp_thrift *thrift);

enum gp_thrift_element { GP_THRIFT_I32 = 5, GP_THRIFT_BINARY = 8, GP_THRIFT_STRUCT = 12 };

/* The head of a list; so many elements follow. */
void gp_thrift_list(struct gp_thrift *thrift, int id, enum gp_thrift_element type, size_t count);

/* Elements of lists.  A struct ends with gp_thrift_end(). */
void gp_thrift_element_i32(struct gp_thrift *thrift, int32_t value);
void gp_thrift_element_text(struct gp_thrift *thrift, const char *text);
void gp_thrift_element_begin(struct gp_thrift *thrift);

#endif
