/*
 * protobuf: writes messages in the wire format of protocol buffers, into memory.
 *
 * Zeros are an empty message.  A failure is remembered; the bytes are worth nothing then.
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

/* A field that is a number; zero is what readers take where there is none, and left out. */
void gp_protobuf_number(struct gp_protobuf *message, uint32_t field, uint64_t value);

/* The same, also if it is zero: where that is not the same as nothing. */
void gp_protobuf_value(struct gp_protobuf *message, uint32_t field, uint64_t value);

/* A field of type double. */
void gp_protobuf_double(struct gp_protobuf *message, uint32_t field, double value);

/* A field of text, which readers want to be UTF-8: bytes that are not become U+FFFD. */
void gp_protobuf_text(struct gp_protobuf *message, uint32_t field, const char *text);

/* A field of bytes: text. */
void gp_protobuf_bytes(struct gp_protobuf *message, uint32_t field, const void *bytes,
		       size_t length);

/* A field that is a message, or packed numbers: inner is emptied, to be used again. */
void gp_protobuf_message(struct gp_protobuf *message, uint32_t field, struct gp_protobuf *inner);

/* What is a message, or a part of one, already. */
void gp_protobuf_raw(struct gp_protobuf *message, const void *bytes, size_t length);

/* One of packed numbers, without a field. */
void gp_protobuf_packed(struct gp_protobuf *message, uint64_t value);

#endif
