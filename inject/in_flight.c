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

#define THREADS    256u /* that launch at a time; of further ones nothing is known */
#define OPEN       64u  /* launches of a thread that may be overwritten before they are overdue */
#define NAMES      64u  /* texts that are read once, however often they are told */
#define PAGE_BYTES 4096u

enum state { ABSENT, FREE, TAKEN };

/* A thread's place.  Its memory is there for good, for the next one that launches. */
static struct place {
	uint64_t launches;         /* address; 0 = not made yet */
	struct gp_launches **here; /* where its thread keeps it */
	uint32_t state;            /* enum state */
} places[THREADS];

static uint32_t is_begun;  /* atomic */
static uint32_t elsewhere; /* atomic; threads without a place have launched since the last look */
static uint32_t freed;     /* atomic; how often a place was given back */

/* Of the calling thread: one more than `freed` when it found no place; 0 = it did not try. */
static __thread uint32_t refused_at;
#define HAS_ENDED UINT32_MAX /* and is to have none any more: nothing would give it back */

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
	gp_in_flight_end_era(); /* its default stream's: stream_of() */
	/* pairs with take_place(): the next thread goes on behind what was noted */
	gp_store32_release(&place->state, FREE);
	gp_add32(&freed, 1);
}

/* As early as possible: glibc keeps the first keys in the thread itself, later ones cost an allocation in each thread. */
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
	/* pairs with launches_of(): it is zeroed */
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

/* A launch of a thread that has no memory for it. */
static void note_elsewhere(void)
{
	if (gp_load32(&elsewhere) == 0)
		gp_store32(&elsewhere, 1);
}

/* A thread that found no place looks for one again when one was given back. */
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
	note_elsewhere();
	return NULL;
}

/* ---- names ---- */

/* Kernels have C identifiers, mangled or not, and what compilers add to these. */
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

/* The text lies in the program's memory, which may be gone, or something else by now.  Its length, 0 = it is no name. */
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

/* As long as one tells: an address may have another text later. */
static struct known_name {
	uint64_t address;
	uint32_t id; /* 0 = it is no name */
} known_names[NAMES];

static uint32_t name_id(struct gp_decoder *decoder, uint64_t address)
{
	static char text[GP_STRING_MAX_BYTES + 1];
	struct known_name *known = &known_names[(address ^ address >> 6) % NAMES];
	uint32_t bytes;

	if (known->address == address)
		return known->id;
	bytes = read_name(address, text, sizeof(text));
	known->address = address;
	known->id = bytes != 0 ? gp_decode_name(decoder, text, bytes) : 0;
	return known->id;
}

/* ---- whoever has the decoder ---- */

struct known {
	uint64_t at; /* so many were noted before it */
	struct gp_launch note;
	uint64_t stream; /* as records tell it */
};

/* What is known of what was noted in a place. */
static struct view {
	uint64_t next;      /* what was noted before it is in `open`, or has come, or was told */
	uint64_t seen;      /* so much was noted when it was last looked for what is overdue */
	uint64_t next_wait; /* those before it were told */
	uint32_t open_count;
	struct known open[OPEN]; /* in their order */
} views[THREADS];

static struct {
	uint64_t kernels;   /* that had come at the last look */
	uint32_t newest_id; /* of a kernel that had come when it was last looked what is open */
	uint64_t judged_ns; /* when it was last looked for what is overdue */
	uint64_t elsewhere; /* looks that found launches of threads without a place */
	bool has_emitted;   /* of launches: from then on waits are told */
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
	uint64_t noted = scans.elsewhere += gp_swap32(&elsewhere, 0);

	for (uint32_t i = 0; i < THREADS; i++)
		if (launches_of(i) != NULL)
			noted += count_of(launches_of(i));
	return noted;
}

static uint64_t count_of_waits(const struct gp_launches *launches)
{
	return gp_load64_acquire(&launches->waited_bytes) / sizeof(struct gp_launch);
}

#define LEGACY     1u /* the default streams' own handles */
#define PER_THREAD 2u

static bool is_per_thread(uint16_t api)
{
	const struct gp_api_entry *entry =
		gp_api_table_find(GP_API_IS_DRIVER(api), GP_API_CBID(api));

	return entry != NULL && strstr(gp_api_cupti_name(entry), "_ptsz") != NULL;
}

/*
 * A default stream is one of a context, or of a thread in it: a number that is no address.  The next thread in a place has the same, but in
 * another era.
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

/* False: a later one has its place, or it is being written. */
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

/* What was found open is looked for in time, unless too many kernels came at once. */
static bool has_come_since(const struct gp_decoder *decoder, uint32_t correlation_id)
{
	if (decoder->newest_id - scans.newest_id < GP_DECODE_CAME_KEPT)
		return gp_decode_has_come(correlation_id);
	return !gp_decode_is_awaited(correlation_id);
}

static void drop_come(const struct gp_decoder *decoder, struct view *view)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < view->open_count; i++)
		if (!has_come_since(decoder, view->open[i].note.correlation_id))
			view->open[kept++] = view->open[i];
	view->open_count = kept;
}

/* The oldest ones are held: later launches may take their places, and later kernels hide that theirs have come. */
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
			return; /* it is being written */
	}
}

/* What one writes, and until when. */
struct telling {
	struct gp_decoder *decoder;
	bool asked;
	uint64_t until_ns;
};

static void emit(const struct telling *telling, const struct known *launch)
{
	struct gp_record_in_flight record = {
		.kind = GP_RECORD_IN_FLIGHT,
		.slots = sizeof(record) / GP_SLOT_BYTES,
		.unasked = !telling->asked,
		.correlation_id = launch->note.correlation_id,
		.ticks = gp_clock_ticks(),
		.name_id = name_id(telling->decoder, launch->note.name),
		.era = launch->note.era,
		.stream = launch->stream,
	};

	if (record.name_id == 0)
		return;
	scans.has_emitted = true;
	gp_emit((const struct gp_record *)&record);
}

/* The thread may go on meanwhile: what it overwrites is not told. */
static void emit_all(const struct telling *telling, uint32_t place)
{
	uint64_t count = count_of(launches_of(place));
	struct view *view = &views[place];
	struct known one;

	for (uint32_t i = 0; i < view->open_count && gp_sys_now_ns() < telling->until_ns; i++)
		emit(telling, &view->open[i]);
	for (; view->next < count && gp_sys_now_ns() < telling->until_ns; view->next++)
		if (read_launch(place, view->next, &one) &&
		    gp_decode_is_awaited(one.note.correlation_id))
			emit(telling, &one);
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

/* Behind what was told, for that may have been launched before them. */
static void emit_waits(void)
{
	for (uint32_t i = 0; scans.has_emitted && i < THREADS; i++)
		if (launches_of(i) != NULL)
			emit_waits_of(i);
}

static void judge(const struct telling *telling)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		const struct gp_launches *launches = launches_of(i);
		struct view *view = &views[i];
		uint64_t count;

		if (launches == NULL)
			continue;
		count = count_of(launches);
		if ((telling->asked || count == view->seen) && view->open_count > 0 &&
		    view->open[0].at < view->seen)
			emit_all(telling, i);
		view->seen = count;
	}
	emit_waits();
}

static void find_open(const struct gp_decoder *decoder)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		drop_come(decoder, &views[i]);
		if (launches_of(i) != NULL)
			hold_open(i);
	}
	scans.newest_id = decoder->newest_id;
}

/* While records come, as they nearly always do, nobody reads what threads note, as long as it is known what has come. */
void gp_in_flight_scan(struct gp_decoder *decoder, uint64_t now_ns, bool asked)
{
	const struct telling telling = {decoder, asked, UINT64_MAX};
	bool is_due = now_ns - scans.judged_ns >= GP_IN_FLIGHT_NS;

	if (decoder->said_numberless)
		return;
	if (is_due || decoder->kernels == scans.kernels ||
	    decoder->newest_id - scans.newest_id > GP_DECODE_CAME_KEPT / 2)
		find_open(decoder);
	scans.kernels = decoder->kernels;
	if (!is_due)
		return;
	memset(known_names, 0, sizeof(known_names));
	judge(&telling);
	scans.judged_ns = now_ns;
}

void gp_in_flight_tell(struct gp_decoder *decoder, bool asked, uint64_t until_ns)
{
	const struct telling telling = {decoder, asked, until_ns};

	if (decoder->said_numberless)
		return;
	find_open(decoder);
	memset(known_names, 0, sizeof(known_names));
	for (uint32_t i = 0; i < THREADS; i++)
		if (launches_of(i) != NULL)
			emit_all(&telling, i);
	emit_waits();
}
