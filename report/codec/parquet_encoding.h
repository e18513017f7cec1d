/* parquet_encoding: the encodings of values in the pages of Parquet. */
#ifndef REPORT_CODEC_PARQUET_ENCODING_H
#define REPORT_CODEC_PARQUET_ENCODING_H

#include <stddef.h>
#include <stdint.h>

#include "report/codec/protobuf.h"

/* The bits of the largest of the numbers from 0 to most. */
unsigned gp_parquet_bits(uint64_t most);

/* DELTA_BINARY_PACKED: differences of 64 bits, in blocks with their own number of bits. */
void gp_parquet_put_deltas(struct gp_protobuf *page, const uint64_t *values, size_t count);

/* RLE, as one run of packed numbers of so many bits. */
void gp_parquet_put_packed(struct gp_protobuf *page, const uint64_t *values, size_t count,
			   unsigned bits);

/* RLE, as one run of the same number, below 256. */
void gp_parquet_put_run(struct gp_protobuf *page, uint8_t value, size_t count);

#endif
