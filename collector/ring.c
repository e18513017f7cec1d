#include "collector/ring.h"

void gp_ring_init(struct gp_ring_header *ring, uint32_t slot_count)
{
	ring->slot_count = slot_count;
	gp_store32_release(&ring->magic, GP_RING_MAGIC);
}

static void write_fixed(struct gp_ring_header *ring, uint64_t at, const struct gp_item *item)
{
	const char *from = (const char *)item->record;

	for (uint32_t i = 0; i < item->slots; i++)
		memcpy(gp_ring_slot(ring, at + i), from + i * GP_SLOT_BYTES, GP_SLOT_BYTES);
}

/* The text starts behind the header, within the first slot, and is padded with zeros. */
static void write_string(struct gp_ring_header *ring, uint64_t at, const struct gp_item *item)
{
	const struct gp_record_string *string = (const struct gp_record_string *)item->record;
	const char *text = item->text;
	uint32_t left = string->length_bytes;
	uint32_t filled = sizeof(*string);

	memcpy(gp_ring_slot(ring, at), string, sizeof(*string));
	for (uint32_t i = 0; i < item->slots; i++, filled = 0) {
		char *slot = gp_ring_slot(ring, at + i);
		uint32_t space = GP_SLOT_BYTES - filled;
		uint32_t bytes = left < space ? left : space;

		memcpy(slot + filled, text, bytes);
		memset(slot + filled + bytes, 0, space - bytes);
		text += bytes;
		left -= bytes;
	}
}

bool gp_ring_put(struct gp_ring_header *ring, const struct gp_item *item)
{
	uint64_t head = gp_load64(&ring->head);
	uint32_t slots = item->slots + (item->thread != 0);

	ring->cached_tail = gp_load64_acquire(&ring->tail);
	if (head + slots - ring->cached_tail > ring->slot_count)
		return false;
	if (item->thread != 0) {
		struct gp_record_thread mark = {
			.kind = GP_RECORD_THREAD, .slots = 1, .id = item->thread};

		memcpy(gp_ring_slot(ring, head++), &mark, sizeof(mark));
		slots--;
	}
	if (item->text != NULL)
		write_string(ring, head, item);
	else
		write_fixed(ring, head, item);
	gp_store64_release(&ring->head, head + slots);
	return true;
}
