/*
 * protobuf: writes messages in the wire format of protocol buffers, into memory.
 *
 * A zeroed struct is an empty message. After a failure `error` is set, and the bytes are invalid.
 */
#ifndef REPORT_CODEC_PROTOBUF_H
#define REPORT_CODEC_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

struct gp_protobuf {
	uint8_t *bytes;
	size_t used, capacity;
	int error; /* 0 or -ENOMEM */
};

void gp_protobuf_free(struct gp_protobuf *message);

/* A number; 0 is left out, as it is the default of readers. */
void gp_protobuf_number(struct gp_protobuf *message, uint32_t field, uint64_t value);

/* A number, also if it is 0: for fields where 0 differs from absence. */
void gp_protobuf_value(struct gp_protobuf *message, uint32_t field, uint64_t value);

/* A field of type double. */
void gp_protobuf_double(struct gp_protobuf *message, uint32_t field, double value);

/* A text; invalid UTF-8 becomes U+FFFD. */
void gp_protobuf_text(struct gp_protobuf *message, uint32_t field, const char *text);

/* A field of raw bytes. */
void gp_protobuf_bytes(struct gp_protobuf *message, uint32_t field, const void *bytes,
		       size_t length);

/* A submessage or packed numbers. Empties `inner` for reuse. */
void gp_protobuf_message(struct gp_protobuf *message, uint32_t field, struct gp_protobuf *inner);

/* A complete message, or a part of one, already encoded. */
void gp_protobuf_raw(struct gp_protobuf *message, const void *bytes, size_t length);

/* One packed number, without a field. */
void gp_protobuf_packed(struct gp_protobuf *message, uint64_t value);

#endif
