/*
 * trace: the trace file, NAME.gpuprof, byte by byte.
 *
 * All integers are little-endian.  A file is
 *
 *   file  := magic chunk*
 *   magic := "gpuprof" version            8 bytes; version is one byte, GP_TRACE_VERSION, or GP_TRACE_CIRCLE
 *   chunk := header payload zeros         padded with zeros to a multiple of 8 bytes
 *
 *   header (48 bytes, struct gp_chunk_header)
 *      0  u32 magic           GP_CHUNK_MAGIC
 *      4  u32 payload_bytes   1 .. GP_CHUNK_MAX_BYTES, without the padding
 *      8  u32 crc             CRC-32C of the bytes from offset 12 to the end of the payload
 *     12  u32 records         number of records in the payload
 *     16  u64 sequence        0, 1, 2, ... over the whole file
 *     24  u64 position        slot position in the ring of the first record (ring 0: 0; in a circle see below)
 *     32  u32 position_slots  ring slots that this chunk covers (ring 0: 0)
 *     36  u32 ring            the ring it was drained from; 0 = the writer itself
 *     40  u32 thread          thread id of the ring's owner; 0 = shared by several threads: each record then
 *                             follows a THREAD record that says whose it is
 *     44  u32 form            enum gp_chunk_form: how the payload is laid out
 *
 * Validity.  A chunk is valid if its magic, length and crc are right.  A reader accepts chunks from
 * the start; at one that is not valid it searches the next valid one at a multiple of 8 bytes and reports the
 * bytes between as damaged.  A chunk that reaches beyond the end of the file is "not yet written" in a live file,
 * "cut" in a dead one.  Each chunk is written by one write() to a file opened with O_APPEND, and its
 * ring space is given back only after that: so a cut chunk's records are still in the ring file.
 *
 * Recovery.  Where the process died and its ring file (gpuprof/ring_file.h) is still there, each ring has the slots
 * [next, head) that no chunk has, with next = the largest position + position_slots of the valid chunks of that ring,
 * or its tail where that is farther: what lies between was given up, and is counted there.  Ring ids are never reused within a process, positions never go back.
 *
 * Saving.  `gpuprof finish` appends what is to be recovered, so that the trace needs no ring file any more, and then
 * removes that: for each ring chunks of form SLOTS with the slots that no chunk has, then one of ring 0 with a COUNTER
 * record for every counter and a WAITING record for each thread that was in a call, which ends the saving.  Before, a reader still needs the ring file; killed halfway, the
 * saver goes on from the positions next time.  It has the trace locked (flock) and has made sure that the process, of
 * this boot of this machine, is dead, that nobody has the ring file mapped for writing, and that the trace is the file
 * that the ring file names, or that nothing is left there.  A chunk cut at the end of the file is cut off first: its
 * records are in the ring file.  No END record is added: the process did not close its trace.
 *
 * Payload, form PACKED: records, one after the other, each
 *      u8      kind              enum gp_record_kind
 *      varint  mask              bit i set: field i follows; clear: it is as predicted
 *      varint  field ...         zigzag(value - prediction) for each field in the mask, in order
 *      bytes                     GP_RECORD_STRING only: its text
 * A varint is LEB128 of at most 10 bytes.  Fields and their order are in gpuprof/field.def; a prediction uses
 * only what this chunk has said before, so that every chunk decodes alone.  The rules (value modulo 2^64):
 *      LAST    the field's value in the previous record of the same kind, 0 if none
 *      STRIDE  that value plus its last change: a, b -> b + (b - a); before the first value there is 0: 7 -> 14
 *      AFTER   a start time: the end of the previous record that has such a field of the same clock, whatever its kind, 0 if
 *              none.  There are two clocks, ticks and ns, as the field's name ends; in ticks the end is the start and the
 *              duration, duration_low_ticks + duration_high_ticks * 2^32
 *      LENGTH  an end time: coded as a duration, predicted by the previous record's of the same kind
 * A field is as many bytes of the record as its row says, from the member on (of an array, several elements), as one unsigned
 * integer.  Members that are not listed are zero in the record; kind and slots follow from the kind.
 *
 * Payload, form KEPT: as PACKED.
 *
 * Payload, form SLOTS: whole records in 32-byte slots as they stood in the ring (gpuprof/record.h).  A THREAD record
 * has the record that follows it in its chunk.  The last record may be one that cannot be read, cut to one slot:
 * position_slots then covers all that followed it in the ring, which is lost.
 *
 * Names.  `gpuprof finish` appends the functions, files and lines that it finds for the trace's native frames, so that it
 * can be read where the files of its modules are not: chunks of ring 0 in form NAMES.  Their payloads, in their order, are one zlib
 * stream of position bytes, inflated; thread is the number of the piece, from 0 on, and a piece 0 begins anew.  The text: for each
 * place "module address line", hexadecimal, then the function's name as the compiler made it and the file's, each of the three with its NUL, empty
 * where not known.  Module and address are those of FRAME records (module 0: in none); places of one address follow
 * each other, those that are inlined into the next one first.
 *
 * Links.  `gpuprof finish` appends LINK records, too: a chunk of ring 0 in form PACKED, of a trace whose process has ended.
 * So does `gpuprof run` an END record of the reason TOLD, where the trace does not say how the program ended, or not as it did.
 *
 * Order.  Records of one ring come in the order in which their thread published them.  Nothing is said of the order
 * between rings, nor of times: GPU records come as CUPTI delivers them.  Definitions precede their use within
 * a ring; ids (names, shapes) are unique in the process, so a reader that reads rings in file order has every
 * definition when it needs it, except across rings: resolve ids after reading.
 *
 * Circle.  A file of the version GP_TRACE_CIRCLE has the last chunks of a longer trace: where it is as long as it may be, new chunks take
 * the place of old ones.  Chunks come in the order of their sequence, not of their place; between them may lie what is left of
 * others.  In a chunk of ring 0 in form PACKED, position is a sequence, the floor; it never goes back, and the largest one counts.  Chunks
 * below the floor are gone, whether or not they still stand somewhere.  From the floor on none is missing: a gap in the sequence is
 * damage.  A chunk in form KEPT stays for ever.  It has copies of the definitions in chunks that are not before the sequence in its
 * position, and are gone together: where that is below the floor its records count, else they are still where they were.  The
 * records of rings that are gone with their chunks, and not kept, are counted (GP_COUNTER_LEFT_OUT_OLD), and a GATE record of the reason KEPT
 * says from when on they are there; the last of these counts.  What is saved goes to the file's end.
 *
 * Version.  GP_TRACE_VERSION grows only when an old reader would misread a file.  New record kinds and new fields
 * at the end of a list in field.def do not count as such: a reader skips a kind that it does not know by
 * taking the rest of the chunk as not understood, and says so; of a form that it does not know, all of the chunk.
 */
#ifndef GPUPROF_TRACE_H
#define GPUPROF_TRACE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define GP_TRACE_MAGIC   "gpuprof"
#define GP_TRACE_VERSION 1u
#define GP_TRACE_CIRCLE  2u
#define GP_TRACE_SUFFIX  ".gpuprof"
#define GP_CHROME_SUFFIX                                                                           \
	".json" /* NAME.json belongs to NAME.gpuprof: a trace takes a NAME only if both are free */
#define GP_CHUNK_MAGIC     0x6b686347u /* "Gchk" */
#define GP_CHUNK_MAX_BYTES 65536u

enum gp_chunk_form {
	GP_CHUNK_PACKED = 0, /* written by the process itself */
	GP_CHUNK_SLOTS = 1,  /* saved from its rings after its death */
	GP_CHUNK_KEPT = 2,   /* copies of definitions, in a circle */
	GP_CHUNK_NAMES = 3,  /* a piece of the names of functions, added after its end */
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
