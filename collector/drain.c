#include "collector/drain.h"

#include <errno.h>
#include <string.h>

#include "collector/collector.h"
#include "collector/definition.h"

static_assert(GP_STRING_MAX_BYTES + sizeof(struct gp_record_string) <=
		      sizeof(((struct gp_drain *)0)->linear),
	      "the longest record fits");

/*
 * Size of the records after the last ring record: own records up to the end, including thread
 * names.
 */
#define LAST_BYTES 32768u

int gp_drain_open(struct gp_drain *drain, const char *base_path, uint64_t limit_bytes,
		  uint64_t keep_bytes)
{
	int error;

	gp_encode_init(&drain->encoder);
	if (keep_bytes != 0) {
		gp_encode_init(&drain->kept_encoder);
		return gp_tracefile_create_circular(&drain->file, base_path, keep_bytes);
	}
	error = gp_tracefile_create(&drain->file, base_path);
	drain->file.limit_bytes = limit_bytes;
	return error;
}

static bool is_circular(const struct gp_drain *drain)
{
	return drain->file.circular.block_bytes != 0;
}

static void begin(struct gp_drain *drain)
{
	gp_encode_begin(&drain->encoder, drain->chunk.payload, sizeof(drain->chunk.payload));
}

static int append(struct gp_drain *drain, uint32_t program_records, int error)
{
	drain->chunk.header.payload_bytes = gp_encode_bytes(&drain->encoder);
	drain->chunk.header.records = drain->encoder.records;
	drain->chunk.program_records = program_records;
	if (!error)
		error = gp_tracefile_append(&drain->file, &drain->chunk);
	if (!error)
		gp_count(GP_COUNTER_CHUNKS, 1);
	return error;
}

/* Index in GP_WRITE_CAUSES. */
static uint32_t cause_of(int error)
{
	static const int errors[GP_WRITE_CAUSES] = {-ENOSPC, -EDQUOT, -EFBIG, 0, GP_TRACEFILE_FULL};
	uint32_t other = 3;

	for (uint32_t cause = 0; cause < GP_WRITE_CAUSES; cause++)
		if (errors[cause] == error)
			return cause;
	return other;
}

static void count_lost(struct gp_drain *drain, struct gp_ring_header *ring, int error)
{
	drain->error = error;
	gp_count(GP_COUNTER_LOST_WRITE_BYTES, drain->chunk.header.payload_bytes);
	gp_add64_own(&ring->lost_writes[cause_of(error)], drain->chunk.program_records);
}

/* ---- permanent definitions in a circular file ---- */

static void begin_kept(struct gp_drain *drain)
{
	const struct gp_circular_file *circular = &drain->file.circular;

	gp_encode_begin(&drain->kept_encoder, drain->kept_chunk.payload,
			sizeof(drain->kept_chunk.payload));
	drain->kept_chunk.header.position = circular->blocks[circular->current].first_sequence;
}

static void count_gone(struct gp_drain *drain, uint64_t records)
{
	gp_count(GP_COUNTER_LEFT_OUT_OLD, records);
	gp_count_set(GP_COUNTER_LOST_DEFINITIONS, drain->file.circular.gone_definitions);
	drain->gone_records += records;
}

/*
 * A block that is taken for definitions is not overwritten before its records are counted as gone.
 */
static bool has_space_to_keep(struct gp_drain *drain)
{
	struct gp_circular_file *circular = &drain->file.circular;
	uint64_t records;

	if (circular->kept_end - circular->kept_at >= sizeof(struct gp_chunk))
		return true;
	if (!gp_circular_file_add_definition_block(circular, &records))
		return false;
	count_gone(drain, records);
	gp_drain_emit(drain, (const struct gp_record *)&(struct gp_record_counter){
				     .kind = GP_RECORD_COUNTER,
				     .slots = 1,
				     .counter = GP_COUNTER_LEFT_OUT_OLD,
				     .value = drain->gone_records});
	return gp_drain_finish_own(drain) == 0;
}

void gp_drain_write_kept(struct gp_drain *drain)
{
	struct gp_chunk_header *header = &drain->kept_chunk.header;
	uint32_t records = drain->kept_encoder.records;

	drain->kept_encoder.records = 0;
	if (records == 0)
		return;
	header->payload_bytes = gp_encode_bytes(&drain->kept_encoder);
	header->records = records;
	if (has_space_to_keep(drain) && gp_tracefile_keep(&drain->file, &drain->kept_chunk) == 0)
		return;
	gp_circular_file_note_uncopied(&drain->file.circular, header->position, records);
	count_gone(drain, 0);
}

static bool keep(struct gp_drain *drain, const struct gp_record *record)
{
	if (!is_circular(drain) || !gp_is_definition(record))
		return false;
	if (drain->kept_encoder.records == 0)
		begin_kept(drain);
	if (gp_encode(&drain->kept_encoder, record))
		return true;
	gp_drain_write_kept(drain);
	begin_kept(drain);
	return gp_encode(&drain->kept_encoder, record);
}

static const struct gp_record *put_together(struct gp_drain *drain, struct gp_ring_header *ring,
					    uint64_t position, uint32_t slots, uint64_t before_end)
{
	memcpy(drain->linear, gp_ring_slot(ring, position), before_end * GP_SLOT_BYTES);
	memcpy((char *)drain->linear + before_end * GP_SLOT_BYTES, gp_ring_slot(ring, 0),
	       (slots - before_end) * GP_SLOT_BYTES);
	return (const struct gp_record *)drain->linear;
}

/* The slots of a record may wrap around the end of the ring. */
static inline const struct gp_record *
in_one_piece(struct gp_drain *drain, struct gp_ring_header *ring, uint64_t position, uint32_t slots)
{
	uint64_t before_end = ring->slot_count - (position & (ring->slot_count - 1));

	return slots <= before_end ? gp_ring_slot(ring, position)
				   : put_together(drain, ring, position, slots, before_end);
}

/*
 * Encode the record at `position`; returns its slots, 0 = the chunk is full, -EBADMSG = not a
 * record.
 */
static int encode_one(struct gp_drain *drain, struct gp_ring_header *ring, uint64_t position,
		      uint64_t head)
{
	uint32_t slots = gp_encode_slots(&drain->encoder, gp_ring_slot(ring, position));

	if (slots == 0 || slots > head - position)
		return -EBADMSG;
	if (!gp_encode(&drain->encoder, in_one_piece(drain, ring, position, slots)))
		return 0;
	return (int)slots;
}

/* A THREAD record and the record that it describes go into the same chunk. */
static int encode_unit(struct gp_drain *drain, struct gp_ring_header *ring, uint64_t position,
		       uint64_t head)
{
	const struct gp_record *first = gp_ring_slot(ring, position);
	uint8_t *at = drain->encoder.at;
	int slots = encode_one(drain, ring, position, head);
	int more;

	if (slots <= 0 || first->kind != GP_RECORD_THREAD)
		return slots;
	more = encode_one(drain, ring, position + (uint32_t)slots, head);
	if (more > 0) {
		drain->marks++;
		return slots + more;
	}
	gp_encode_cut(&drain->encoder, at);
	return more;
}

/*
 * Fill the chunk from the ring; returns the end position.  If the program overwrote our memory, the
 * remaining records of the ring are unreadable.
 */
static uint64_t encode_ring(struct gp_drain *drain, struct gp_ring_header *ring, uint64_t tail,
			    uint64_t head)
{
	uint64_t position = tail;

	begin(drain);
	drain->marks = 0;
	drain->damaged_slots = 0;
	while (position < head) {
		int slots = encode_unit(drain, ring, position, head);

		if (slots < 0)
			drain->damaged_slots = head - position;
		if (slots <= 0)
			break;
		position += (uint32_t)slots;
	}
	return position + drain->damaged_slots;
}

/*
 * After the chunk is in the file: note its records, which the block loses when it is overwritten,
 * and copy the definitions.
 */
static void note_in_circular_file(struct gp_drain *drain, struct gp_ring_header *ring,
				  uint64_t position, uint64_t end)
{
	uint32_t records = drain->encoder.records - drain->marks;
	uint32_t slots;

	for (; position < end; position += slots) {
		const struct gp_record *record = gp_ring_slot(ring, position);

		slots = gp_encode_slots(&drain->encoder, record);
		if (slots == 0 || slots > end - position)
			break;
		if (gp_is_definition(record))
			records -= keep(drain, in_one_piece(drain, ring, position, slots));
	}
	drain->file.circular.blocks[drain->file.circular.current].records += records;
}

/* Once the limit is reached, nothing more is appended, so that the final records fit. */
static int append_of_ring(struct gp_drain *drain)
{
	if (!gp_tracefile_has_space(&drain->file, gp_encode_bytes(&drain->encoder), LAST_BYTES))
		drain->is_full = true;
	return append(drain, drain->encoder.records - drain->marks,
		      drain->is_full ? GP_TRACEFILE_FULL : drain->gives_up);
}

/* On a full disk, a circular file stops growing and reuses its blocks. */
static bool reuses_blocks(struct gp_drain *drain, int error)
{
	bool is_no_space = error == -ENOSPC || error == -EDQUOT || error == -EFBIG;

	return is_no_space && is_circular(drain) && !drain->gives_up &&
	       gp_circular_file_stop_growing(&drain->file.circular);
}

int gp_drain_ring(struct gp_drain *drain, struct gp_ring_header *ring)
{
	uint64_t tail = gp_load64(&ring->tail);
	uint64_t head = gp_ring_head(ring);
	uint64_t position;
	int error = 0;

	if (head == tail)
		return 0;
	position = encode_ring(drain, ring, tail, head);
	drain->chunk.header.position = tail;
	drain->chunk.header.position_slots = (uint32_t)(position - tail);
	drain->chunk.header.ring = gp_load32(&ring->ring);
	drain->chunk.header.thread = gp_load32(&ring->thread);
	if (drain->encoder.records > 0)
		error = append_of_ring(drain);
	if (reuses_blocks(drain, error))
		return 1;
	if (error && !drain->is_full && !drain->gives_up && head - tail <= ring->slot_count / 2)
		return error;
	if (error)
		count_lost(drain, ring, error);
	else if (is_circular(drain))
		note_in_circular_file(drain, ring, tail, position);
	gp_count(GP_COUNTER_DAMAGED_SLOTS, drain->damaged_slots);
	gp_ring_free(ring, position);
	return error && !drain->is_full ? error : (int)(position - tail);
}

void gp_drain_emit(struct gp_drain *drain, const struct gp_record *record)
{
	if (!drain->own)
		begin(drain);
	drain->own = true;
	if (!gp_encode(&drain->encoder, record)) {
		gp_drain_finish_own(drain);
		begin(drain);
		drain->own = true;
		gp_encode(&drain->encoder, record);
	}
	keep(drain, record);
}

void gp_drain_emit_string(struct gp_drain *drain, enum gp_string_space space, uint32_t id,
			  const char *text, size_t length_bytes)
{
	struct gp_record_string string = {
		.kind = GP_RECORD_STRING, .space = (uint16_t)space, .id = id};

	string.length_bytes = (uint32_t)length_bytes;
	if (length_bytes > GP_STRING_MAX_BYTES) {
		string.length_bytes = GP_STRING_MAX_BYTES;
		gp_count(GP_COUNTER_CUT_STRINGS, 1);
	}
	memcpy(drain->linear, &string, sizeof(string));
	memcpy((char *)drain->linear + sizeof(string), text, string.length_bytes);
	gp_drain_emit(drain, (const struct gp_record *)drain->linear);
}

int gp_drain_finish_own(struct gp_drain *drain)
{
	int error;

	if (!drain->own)
		return 0;
	drain->own = false;
	drain->chunk.header.position = drain->file.circular.floor;
	drain->chunk.header.position_slots = 0;
	drain->chunk.header.ring = 0;
	drain->chunk.header.thread = 0;
	error = append(drain, 0, drain->gives_up);
	drain->is_full |= !gp_tracefile_has_space(&drain->file, 0, LAST_BYTES);
	reuses_blocks(drain, error);
	return error;
}

bool gp_drain_is_block_full(const struct gp_drain *drain)
{
	const struct gp_circular_file *circular = &drain->file.circular;

	/* a chunk of a ring, and one of the writer's records at a block change */
	return is_circular(drain) && circular->end - circular->at < 2 * sizeof(struct gp_chunk);
}

void gp_drain_next_block(struct gp_drain *drain, uint64_t ticks)
{
	count_gone(drain,
		   gp_circular_file_next_block(&drain->file.circular, drain->file.sequence, ticks));
}

void gp_drain_give_up(struct gp_drain *drain, struct gp_ring_header *ring, int error)
{
	drain->gives_up = error;
	while (gp_drain_ring(drain, ring) != 0)
		;
	drain->gives_up = 0;
}

int gp_drain_make_space(struct gp_drain *drain, int error)
{
	uint64_t records;
	int failed = gp_tracefile_make_space(&drain->file, &records);

	if (failed)
		return failed;
	drain->error = error;
	gp_count(gp_write_causes[cause_of(error)], records);
	return 0;
}
