/*
 * protobuf: writes messages in the wire format of protocol buffers, into memory.
 *
 * Zeros are an empty message.  A failure is remembered; the bytes are worth nothing then.
 */
#ifndef REPORT_PROTOBUF_H
#define REPORT_PROTOBUF_H

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

/* A field of bytes: text. */
void gp_protobuf_bytes(struct gp_protobuf *message, uint32_t field, const void *bytes,
		       size_t length);

/* A field that is a message, or packed numbers: inner is emptied, to be used again. */
void gp_protobuf_message(struct gp_protobuf *message, uint32_t field, struct gp_protobuf *inner);

/* One of packed numbers, without a field. */
void gp_protobuf_packed(struct gp_protobuf *message, uint64_t value);

#endif
