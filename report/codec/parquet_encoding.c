#include "report/codec/parquet_encoding.h"

enum { BLOCK = 128, MINIBLOCKS = 4, MINIBLOCK = BLOCK / MINIBLOCKS, GROUP = 8 };

unsigned gp_parquet_bits(uint64_t most)
{
	return most == 0 ? 0 : 64 - (unsigned)__builtin_clzll(most);
}

/* The lowest bits of the numbers, one after the other; count * bits must be whole bytes. */
static void put_bits(struct gp_protobuf *page, const uint64_t *values, size_t count, unsigned bits)
{
	unsigned __int128 pending = 0;
	unsigned pending_bits = 0;
	uint8_t bytes[256];
	size_t used = 0;

	for (size_t i = 0; i < count && bits > 0; i++) {
		pending |= (unsigned __int128)values[i] << pending_bits;
		for (pending_bits += bits; pending_bits >= 8; pending_bits -= 8) {
			bytes[used++] = (uint8_t)pending;
			pending >>= 8;
			if (used == sizeof(bytes)) {
				gp_protobuf_raw(page, bytes, used);
				used = 0;
			}
		}
	}
	gp_protobuf_raw(page, bytes, used);
}

static uint64_t zigzag(uint64_t value)
{
	return value << 1 ^ (value >> 63 ? UINT64_MAX : 0);
}

/* The differences of a block, less the smallest; those after the last one are 0. */
static void put_block(struct gp_protobuf *page, const uint64_t *values, size_t count)
{
	uint64_t deltas[BLOCK] = {0}, largest[MINIBLOCKS] = {0};
	int64_t least = INT64_MAX;
	uint8_t bits[MINIBLOCKS];

	for (size_t i = 0; i < count; i++) {
		deltas[i] = values[i + 1] - values[i];
		if ((int64_t)deltas[i] < least)
			least = (int64_t)deltas[i];
	}
	for (size_t i = 0; i < count; i++) {
		deltas[i] -= (uint64_t)least;
		largest[i / MINIBLOCK] |= deltas[i];
	}
	gp_protobuf_packed(page, zigzag((uint64_t)least));
	for (size_t i = 0; i < MINIBLOCKS; i++)
		bits[i] = (uint8_t)gp_parquet_bits(largest[i]);
	gp_protobuf_raw(page, bits, MINIBLOCKS);
	for (size_t i = 0; i * MINIBLOCK < count; i++)
		put_bits(page, deltas + i * MINIBLOCK, MINIBLOCK, bits[i]);
}

void gp_parquet_put_deltas(struct gp_protobuf *page, const uint64_t *values, size_t count)
{
	gp_protobuf_packed(page, BLOCK);
	gp_protobuf_packed(page, MINIBLOCKS);
	gp_protobuf_packed(page, count);
	gp_protobuf_packed(page, count > 0 ? zigzag(values[0]) : 0);
	for (size_t at = 0; at + 1 < count; at += BLOCK)
		put_block(page, values + at, count - 1 - at < BLOCK ? count - 1 - at : BLOCK);
}

void gp_parquet_put_packed(struct gp_protobuf *page, const uint64_t *values, size_t count,
			   unsigned bits)
{
	size_t whole = count - count % GROUP;
	uint64_t last[GROUP] = {0};

	gp_protobuf_packed(page, (count + GROUP - 1) / GROUP << 1 | 1);
	put_bits(page, values, whole, bits);
	for (size_t i = whole; i < count; i++)
		last[i - whole] = values[i];
	if (whole < count)
		put_bits(page, last, GROUP, bits);
}

void gp_parquet_put_run(struct gp_protobuf *page, uint8_t value, size_t count)
{
	gp_protobuf_packed(page, count << 1);
	gp_protobuf_raw(page, &value, 1);
}
