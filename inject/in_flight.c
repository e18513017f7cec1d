#include "inject/in_flight.h"

#include <pthread.h>
#include <string.h>
#include <sys/uio.h>

#include "collector/collector.h"
#include "collector/sys.h"
#include "inject/api_table.h"
#include "inject/cupti_decode.h"
#include "inject/launch_call.h"
#include "stacks/thread_memory.h"

#define THREADS    256u /* that launch concurrently; launches of further threads are not tracked */
#define OPEN       64u  /* launches of a thread that may be overwritten before they are overdue */
#define NAMES      64u  /* cached texts, read once */
#define PAGE_BYTES 4096u

enum state { ABSENT, FREE, TAKEN };

/* The slot of a thread.  Its memory is never freed; the next launching thread reuses it. */
static struct place {
	uint64_t launches;         /* address; 0 = not allocated yet */
	struct gp_launches **here; /* where its thread keeps the address */
	uint32_t state;            /* enum state */
} places[THREADS];

static uint32_t is_begun;  /* atomic */
static uint32_t untracked; /* atomic; threads without a slot have launched since the last scan */
static uint32_t freed;     /* atomic; number of freed slots */

/* Per thread: one more than `freed` when it found no slot; 0 = it has not tried. */
static __thread uint32_t refused_at;
#define HAS_ENDED UINT32_MAX /* the thread gets no slot any more, because nothing would free it */

static pthread_key_t key;
static bool has_key;

uint32_t gp_in_flight_era;

/* ---- the program's threads ---- */

void gp_in_flight_end_era(void)
{
	gp_add32(&gp_in_flight_era, 1);
}

static void end_thread(void *argument)
{
	struct place *place = argument;

	refused_at = HAS_ENDED;
	*place->here = NULL;
	gp_in_flight_end_era(); /* ends the era of the thread's default stream: stream_of() */
	/* pairs with take_place(): the next thread continues after these notes */
	gp_store32_release(&place->state, FREE);
	gp_add32(&freed, 1);
}

/*
 * As early as possible: glibc keeps the first keys in the thread itself; later ones cost an
 * allocation per thread.
 */
static __attribute__((constructor)) void make_key(void)
{
	has_key = pthread_key_create(&key, end_thread) == 0;
}

static struct place *take_place(enum state state)
{
	for (uint32_t i = 0; i < THREADS; i++)
		if (gp_load32(&places[i].state) == state &&
		    gp_replace32(&places[i].state, state, TAKEN))
			return &places[i];
	return NULL;
}

static struct place *make_place(void)
{
	struct place *place = take_place(ABSENT);
	struct gp_launches *launches;

	if (place == NULL)
		return NULL;
	launches = gp_thread_memory_map(sizeof(*launches), sizeof(*launches));
	/* pairs with launches_of(): the memory is zeroed */
	gp_store64_release(&place->launches, (uint64_t)(uintptr_t)launches);
	if (launches != NULL)
		return place;
	gp_store32_release(&place->state, ABSENT);
	return NULL;
}

void gp_in_flight_begin(void)
{
	gp_store32(&is_begun, 1);
}

/* A launch of a thread without a slot. */
static void note_untracked(void)
{
	if (gp_load32(&untracked) == 0)
		gp_store32(&untracked, 1);
}

/* A thread that found no slot searches again after one was freed. */
static struct place *find_place(void)
{
	uint32_t now = gp_load32(&freed) + 1;
	struct place *place;

	if (!has_key || refused_at == HAS_ENDED || refused_at == now)
		return NULL;
	refused_at = now;
	place = take_place(FREE);
	return place != NULL ? place : make_place();
}

struct gp_launches *gp_in_flight_begin_thread(struct gp_launches **here)
{
	struct place *place;

	if (gp_load32(&is_begun) == 0)
		return NULL;
	place = find_place();
	if (place != NULL) {
		place->here = here;
		if (pthread_setspecific(key, place) == 0) {
			*here = (struct gp_launches *)(uintptr_t)place->launches;
			return *here;
		}
		gp_store32_release(&place->state, FREE);
	}
	note_untracked();
	return NULL;
}

/* ---- names ---- */

/* Kernel names are C identifiers, mangled or not, with compiler suffixes. */
static bool is_identifier(const char *text, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++) {
		char letter = (char)(text[i] | ' ');
		bool is_digit = text[i] >= '0' && text[i] <= '9';

		if (!(letter >= 'a' && letter <= 'z') && !(is_digit && i > 0) && text[i] != '_' &&
		    text[i] != '$' && text[i] != '.')
			return false;
	}
	return true;
}

/*
 * The text lies in the program's memory, which may be unmapped or reused by now.  Returns its
 * length, 0 = not a name.
 */
static uint32_t read_name(uint64_t address, char *text, uint32_t size)
{
	uint32_t bytes = 0;

	while (bytes < size) {
		size_t step = PAGE_BYTES - (address + bytes) % PAGE_BYTES;
		struct iovec into = {text + bytes, step < size - bytes ? step : size - bytes};
		struct iovec from = {(void *)(uintptr_t)(address + bytes), into.iov_len};
		const char *end;

		if (gp_sys_copy_own(gp_sys_process_id(), &into, &from, 1) != 0)
			return 0;
		end = memchr(into.iov_base, '\0', into.iov_len);
		bytes += (uint32_t)into.iov_len;
		if (end != NULL) {
			bytes = (uint32_t)(end - text);
			break;
		}
	}
	return is_identifier(text, bytes) ? bytes : 0;
}

/* Valid within one scan: an address may hold another text later. */
static struct known_name {
	uint64_t address;
	uint32_t id; /* 0 = not a name */
} known_names[NAMES];

static uint32_t name_id(struct gp_decoder *decoder, uint64_t address)
{
	static char text[4 * GP_STRING_MAX_BYTES]; /* a longer name gets another hash */
	struct known_name *known = &known_names[(address ^ address >> 6) % NAMES];
	uint32_t bytes;

	if (known->address == address)
		return known->id;
	bytes = read_name(address, text, sizeof(text));
	known->address = address;
	known->id = bytes != 0 ? gp_decode_name(decoder, text, bytes) : 0;
	return known->id;
}

/* ---- the thread that owns the decoder ---- */

struct known {
	uint64_t at; /* number of notes before it */
	struct gp_launch note;
	uint64_t stream; /* in the form of the record */
};

/* The decoder's view of the notes in a slot. */
static struct view {
	uint64_t next;      /* all earlier notes are in `open`, have a record, or were emitted */
	uint64_t seen;      /* number of notes at the last scan for overdue launches */
	uint64_t next_wait; /* all earlier waits were emitted */
	uint32_t open_count;
	struct known open[OPEN]; /* in order */
} views[THREADS];

static struct {
	uint64_t kernels;    /* number of records at the last scan */
	uint32_t newest_id;  /* newest kernel id at the last update of `open` */
	uint64_t checked_ns; /* time of the last scan for overdue launches */
	uint64_t untracked;  /* number of scans that found launches of threads without a slot */
	bool has_emitted;    /* emitted any launch: from then on waits are emitted */
} scans;

static struct gp_launches *launches_of(uint32_t place)
{
	return (struct gp_launches *)(uintptr_t)gp_load64_acquire(&places[place].launches);
}

static uint64_t count_of(const struct gp_launches *launches)
{
	return gp_load64_acquire(&launches->noted_bytes) / sizeof(struct gp_launch);
}

uint64_t gp_in_flight_noted(void)
{
	uint64_t noted = scans.untracked += gp_swap32(&untracked, 0);

	for (uint32_t i = 0; i < THREADS; i++)
		if (launches_of(i) != NULL)
			noted += count_of(launches_of(i));
	return noted;
}

static uint64_t count_of_waits(const struct gp_launches *launches)
{
	return gp_load64_acquire(&launches->waited_bytes) / sizeof(struct gp_launch);
}

#define LEGACY     1u /* the handles of default streams */
#define PER_THREAD 2u

static bool is_per_thread(uint16_t api)
{
	const struct gp_api_entry *entry =
		gp_api_table_find(GP_API_IS_DRIVER(api), GP_API_CBID(api));

	return entry != NULL && strstr(gp_api_cupti_name(entry), "_ptsz") != NULL;
}

/*
 * A default stream belongs to a context, or to a thread in it: it gets a number that is no
 * address.  The next thread in a slot has the same number, but in another era.
 */
static uint64_t stream_of(const struct gp_launch *note, uint32_t place)
{
	uint64_t context = (uint64_t)note->context << 32;
	uint64_t stream = note->stream;

	if (stream == GP_LAUNCH_STREAM_IS_UNKNOWN)
		return 0;
	if (stream == 0)
		stream = is_per_thread(note->api) ? PER_THREAD : LEGACY;
	if (stream == LEGACY)
		return context | LEGACY;
	return stream == PER_THREAD ? context | place << 2 | PER_THREAD : stream;
}

/* False: overwritten by a later note, or being written. */
static bool read_note(const struct gp_launch *from, uint32_t place, uint64_t at,
		      struct known *known)
{
	uint32_t written = (uint32_t)((at + 1) * sizeof(*from));

	if (gp_load32_acquire(&from->written) != written)
		return false;
	known->at = at;
	known->note.name = gp_load64_acquire(&from->name);
	known->note.stream = gp_load64_acquire(&from->stream);
	known->note.correlation_id = gp_load32_acquire(&from->correlation_id);
	known->note.era = gp_load32_acquire(&from->era);
	known->note.context = gp_load16_acquire(&from->context);
	known->note.api = gp_load16_acquire(&from->api);
	if (gp_load32_acquire(&from->written) != written)
		return false;
	known->stream = stream_of(&known->note, place);
	return true;
}

static bool read_launch(uint32_t place, uint64_t at, struct known *known)
{
	return read_note(&launches_of(place)->kept[at % GP_IN_FLIGHT_KEPT], place, at, known);
}

static uint64_t first_kept(uint64_t count)
{
	return count < GP_IN_FLIGHT_KEPT ? 0 : count - GP_IN_FLIGHT_KEPT;
}

/* Open launches are checked in time, unless too many kernel records came in one scan interval. */
static bool has_arrived_since(const struct gp_decoder *decoder, uint32_t correlation_id)
{
	if (decoder->newest_id - scans.newest_id < GP_DECODE_ARRIVED_KEPT)
		return gp_decode_has_arrived(correlation_id);
	return !gp_decode_is_awaited(correlation_id);
}

static void drop_arrived(const struct gp_decoder *decoder, struct view *view)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < view->open_count; i++)
		if (!has_arrived_since(decoder, view->open[i].note.correlation_id))
			view->open[kept++] = view->open[i];
	view->open_count = kept;
}

/*
 * The oldest ones are kept: later launches may overwrite them, and later kernels hide whether their
 * records have come.
 */
static void hold_open(uint32_t place)
{
	const struct gp_launches *launches = launches_of(place);
	struct view *view = &views[place];
	uint64_t count = count_of(launches), first = first_kept(count);

	if (view->next < first)
		view->next = first;
	for (; view->next < count && view->open_count < OPEN; view->next++) {
		struct known *one = &view->open[view->open_count];

		if (read_launch(place, view->next, one))
			view->open_count += gp_decode_is_awaited(one->note.correlation_id);
		else if (view->next >= first_kept(count_of(launches)))
			return; /* the note is being written */
	}
}

/* The parameters of one emission. */
struct emission {
	struct gp_decoder *decoder;
	bool flushed;
	uint64_t until_ns;
};

static void emit(const struct emission *emission, const struct known *launch)
{
	struct gp_record_in_flight record = {
		.kind = GP_RECORD_IN_FLIGHT,
		.slots = sizeof(record) / GP_SLOT_BYTES,
		.unflushed = !emission->flushed,
		.correlation_id = launch->note.correlation_id,
		.ticks = gp_clock_ticks(),
		.name_id = name_id(emission->decoder, launch->note.name),
		.era = launch->note.era,
		.stream = launch->stream,
	};

	if (record.name_id == 0)
		return;
	scans.has_emitted = true;
	gp_emit((const struct gp_record *)&record);
}

/* The thread may go on meanwhile: overwritten notes are not emitted. */
static void emit_all(const struct emission *emission, uint32_t place)
{
	uint64_t count = count_of(launches_of(place));
	struct view *view = &views[place];
	struct known one;

	for (uint32_t i = 0; i < view->open_count && gp_sys_now_ns() < emission->until_ns; i++)
		emit(emission, &view->open[i]);
	for (; view->next < count && gp_sys_now_ns() < emission->until_ns; view->next++)
		if (read_launch(place, view->next, &one) &&
		    gp_decode_is_awaited(one.note.correlation_id))
			emit(emission, &one);
	view->next = count;
	view->open_count = 0;
}

static void emit_wait(const struct known *wait)
{
	struct gp_record_stream_wait record = {
		.kind = GP_RECORD_STREAM_WAIT,
		.slots = sizeof(record) / GP_SLOT_BYTES,
		.correlation_id = wait->note.correlation_id,
		.stream = wait->stream,
		.era = wait->note.era,
	};

	gp_emit((const struct gp_record *)&record);
}

static void emit_waits_of(uint32_t place)
{
	const struct gp_launches *launches = launches_of(place);
	struct view *view = &views[place];
	uint64_t count = count_of_waits(launches);
	struct known one;

	if (view->next_wait + GP_IN_FLIGHT_WAITS < count)
		view->next_wait = count - GP_IN_FLIGHT_WAITS;
	for (; view->next_wait < count; view->next_wait++) {
		uint64_t at = view->next_wait;

		if (read_note(&launches->waits[at % GP_IN_FLIGHT_WAITS], place, at, &one))
			emit_wait(&one);
	}
}

/* After the launches, because the waits may cover them. */
static void emit_waits(void)
{
	for (uint32_t i = 0; scans.has_emitted && i < THREADS; i++)
		if (launches_of(i) != NULL)
			emit_waits_of(i);
}

static void emit_overdue(const struct emission *emission)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		const struct gp_launches *launches = launches_of(i);
		struct view *view = &views[i];
		uint64_t count;

		if (launches == NULL)
			continue;
		count = count_of(launches);
		if ((emission->flushed || count == view->seen) && view->open_count > 0 &&
		    view->open[0].at < view->seen)
			emit_all(emission, i);
		view->seen = count;
	}
	emit_waits();
}

static void find_open(const struct gp_decoder *decoder)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		drop_arrived(decoder, &views[i]);
		if (launches_of(i) != NULL)
			hold_open(i);
	}
	scans.newest_id = decoder->newest_id;
}

bool gp_in_flight_any(const struct gp_decoder *decoder)
{
	if (decoder->warned_no_ids)
		return false;
	find_open(decoder);
	for (uint32_t i = 0; i < THREADS; i++)
		if (views[i].open_count > 0)
			return true;
	return false;
}

/*
 * While records arrive, which is the normal case, the notes are not read as long as the received
 * ids are known.
 */
void gp_in_flight_scan(struct gp_decoder *decoder, uint64_t now_ns, bool flushed)
{
	const struct emission emission = {decoder, flushed, UINT64_MAX};
	bool is_due = now_ns - scans.checked_ns >= GP_IN_FLIGHT_NS;

	if (decoder->warned_no_ids)
		return;
	if (is_due || decoder->kernels == scans.kernels ||
	    decoder->newest_id - scans.newest_id > GP_DECODE_ARRIVED_KEPT / 2)
		find_open(decoder);
	scans.kernels = decoder->kernels;
	if (!is_due)
		return;
	memset(known_names, 0, sizeof(known_names));
	emit_overdue(&emission);
	scans.checked_ns = now_ns;
}

void gp_in_flight_emit(struct gp_decoder *decoder, bool flushed, uint64_t until_ns)
{
	const struct emission emission = {decoder, flushed, until_ns};

	if (decoder->warned_no_ids)
		return;
	find_open(decoder);
	memset(known_names, 0, sizeof(known_names));
	for (uint32_t i = 0; i < THREADS; i++)
		if (launches_of(i) != NULL)
			emit_all(&emission, i);
	emit_waits();
}
