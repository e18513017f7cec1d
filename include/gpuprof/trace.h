/*
 * trace: the trace file, NAME.gpuprof, byte by byte.
 *
 * All integers are little-endian.  A file is
 *
 *   file  := magic chunk*
 *   magic := "gpuprof" version            8 bytes; version is one byte, GP_TRACE_VERSION or
 *                                         GP_TRACE_CIRCULAR
 *   chunk := header payload zeros         padded with zeros to a multiple of 8 bytes
 *
 *   header (48 bytes, struct gp_chunk_header)
 *      0  u32 magic           GP_CHUNK_MAGIC
 *      4  u32 payload_bytes   1 .. GP_CHUNK_MAX_BYTES, without the padding
 *      8  u32 crc             CRC-32C of the bytes from offset 12 to the end of the payload
 *     12  u32 records         number of records in the payload
 *     16  u64 sequence        0, 1, 2, ... over the whole file
 *     24  u64 position        slot position of the first record in its ring (ring 0: 0; circular
 *                             files: see below)
 *     32  u32 position_slots  ring slots that this chunk covers (ring 0: 0)
 *     36  u32 ring            the source ring; 0 = the writer itself
 *     40  u32 thread          thread id of the ring's owner; 0 = shared by several threads: a
 *                             THREAD record precedes each record and names its thread
 *     44  u32 form            enum gp_chunk_form: the layout of the payload
 *
 * Validity.  A chunk is valid if its magic, length and crc are right.  A reader accepts chunks from
 * the start.  At an invalid chunk it searches the next valid one at a multiple of 8 bytes, and
 * reports the bytes between as damaged.  A chunk that reaches beyond the end of the file is "not
 * yet written" in a live file, "cut" in a dead one.  Each chunk is written by one write() to a file
 * opened with O_APPEND, and its ring slots are freed only after that: the records of a cut chunk
 * are still in the ring file.
 *
 * Recovery.  If the process died and its ring file (gpuprof/ring_file.h) still exists, the slots
 * [next, head) of each ring are in no chunk.  next is the largest position + position_slots of the
 * valid chunks of that ring, or the ring's tail if that is larger: the writer dropped and counted
 * the slots between.  Ring ids are never reused within a process; positions never decrease.
 *
 * Saving.  `gpuprof finish` appends the recoverable records, so that the trace no longer needs a
 * ring file, and then removes the ring file.  For each ring it appends chunks of form SLOTS with
 * the slots that are in no chunk.  Then it appends a chunk of ring 0 with a COUNTER record for
 * every counter and a WAITING record for each thread that was in a call.  That chunk completes the
 * saving; without it a reader still needs the ring file, and the next `gpuprof finish` resumes from
 * the positions.  The saver holds a lock on the trace (flock).  It has verified that the process is
 * dead and ran in this boot of this machine, that nobody maps the ring file for writing, and that
 * the trace is the one that the ring file names, or that no file is left at that path.  A cut chunk
 * at the end of the file is removed first: its records are in the ring file.  No END record is
 * added, because the process did not close its trace.
 *
 * Payload, form PACKED: records, one after the other, each
 *      u8      kind              enum gp_record_kind
 *      varint  mask              bit i set: field i follows; clear: it is as predicted
 *      varint  field ...         zigzag(value - prediction) for each field in the mask, in order
 *      bytes                     GP_RECORD_STRING only: its text
 * A varint is LEB128 of at most 10 bytes.  gpuprof/field.def lists the fields and their order.  A
 * prediction depends only on earlier records of the same chunk, so that every chunk decodes alone.
 * The rules (value modulo 2^64):
 *      LAST    the field's value in the previous record of the same kind, 0 if none
 *      STRIDE  that value plus its last change: a, b -> b + (b - a); the value before the first is
 *              0: 7 -> 14
 *      AFTER   a start time: the end of the previous record, of any kind, that has such a field of
 *              the same clock, 0 if none.  The two clocks are ticks and ns, as in the field's name.
 *              In ticks the end is the start plus duration_low_ticks + duration_high_ticks * 2^32
 *      LENGTH  an end time: coded as a duration, predicted by the previous duration of the kind
 * A field is one unsigned integer of as many bytes as its row says, from the member on (several
 * elements of an array).  Members that are not listed are zero in the record; kind and slots follow
 * from the kind.
 *
 * Payload, form KEPT: as PACKED.
 *
 * Payload, form SLOTS: whole records in 32-byte slots, as in the ring (gpuprof/record.h).  A THREAD
 * record is in the same chunk as the record that follows it.  The last record may be an unreadable
 * one, cut to one slot: position_slots then covers all slots that followed it in the ring; they are
 * lost.
 *
 * Names.  `gpuprof finish` appends the functions, files and lines of the trace's native frames, so
 * that the trace can be read without the files of its modules.  They are chunks of ring 0 in form
 * NAMES.  Their payloads, in order, form one zlib stream of `position` bytes inflated; `thread` is
 * the number of the piece, from 0 on, and a piece 0 starts a new stream.  The text: for each place
 * "module address line", hexadecimal, then the function's mangled name and the file name, each of
 * the three with its NUL, empty if unknown.  Module and address are those of FRAME records (module
 * 0: in none).  Places of one address are adjacent, the innermost inlined function first.
 *
 * Links.  `gpuprof finish` also appends LINK records: a chunk of ring 0 in form PACKED, to the
 * trace of a process that has ended.  `gpuprof run` appends an END record with the reason REPORTED,
 * if the trace does not say how the program ended, or says it wrongly; and ENERGY records, if it
 * took samples (--energy), by device and time.  Both are in chunks of the same kind.
 *
 * Order.  The records of one ring are in the order in which their thread published them.  The order
 * between rings, and of times, is unspecified: GPU records come in the order of CUPTI's
 * deliveries.  Definitions precede their use within a ring.  Ids (names, shapes) are unique in the
 * process, so a reader that reads rings in file order has every definition in time, except across
 * rings: resolve ids after reading.
 *
 * Circular files.  A file of version GP_TRACE_CIRCULAR holds the last chunks of a longer trace: at
 * its maximum size, new chunks replace old ones.  The order of chunks is the order of their
 * sequence, not of their place; remains of old chunks may lie between them.  In a chunk of ring 0
 * in form PACKED, position is a sequence, the floor.  The floor never decreases, and the largest
 * one counts.  Chunks below the floor are gone, even if their bytes remain.  From the floor on, no
 * chunk is missing: a gap in the sequence is damage.  A chunk in form KEPT is never replaced.  It
 * has copies of the definitions in a group of chunks that starts at the sequence in its position
 * and is replaced as a whole.  If that sequence is below the floor, its records count; else the
 * original records still exist.  Ring records that were replaced and not copied are counted
 * (GP_COUNTER_LEFT_OUT_OLD), and a GATE record with the reason KEPT gives the time from which on
 * records are complete; the last such record counts.  Saved records go to the end of the file.
 *
 * Version.  GP_TRACE_VERSION grows only if an old reader would misread a file.  New record kinds,
 * and new fields at the end of a list in field.def, do not change it: at an unknown kind a reader
 * skips the rest of the chunk, and at an unknown form the whole chunk, and reports it.
 */
#ifndef GPUPROF_TRACE_H
#define GPUPROF_TRACE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define GP_TRACE_MAGIC    "gpuprof"
#define GP_TRACE_VERSION  1u
#define GP_TRACE_CIRCULAR 2u
#define GP_TRACE_SUFFIX   ".gpuprof"
#define GP_CHROME_SUFFIX                                                                           \
	".json" /* NAME.json belongs to NAME.gpuprof: a trace uses a NAME only if both are free */
#define GP_CHUNK_MAGIC     0x6b686347u /* "Gchk" */
#define GP_CHUNK_MAX_BYTES 65536u

enum gp_chunk_form {
	GP_CHUNK_PACKED = 0, /* written by the process itself */
	GP_CHUNK_SLOTS = 1,  /* saved from its rings after the process died */
	GP_CHUNK_KEPT = 2,   /* copies of definitions, in a circular file */
	GP_CHUNK_NAMES = 3,  /* a piece of the function names, added after the end of the process */
};

struct gp_chunk_header {
	uint32_t magic;
	uint32_t payload_bytes;
	uint32_t crc;
	uint32_t records;
	uint64_t sequence;
	uint64_t position;
	uint32_t position_slots;
	uint32_t ring;
	uint32_t thread;
	uint32_t form;
};

static_assert(sizeof(struct gp_chunk_header) == 48, "chunk header");
static_assert(offsetof(struct gp_chunk_header, records) == 12, "crc covers from here");

static inline uint32_t gp_chunk_padded_bytes(uint32_t payload_bytes)
{
	return (payload_bytes + 7u) & ~7u;
}

#endif
