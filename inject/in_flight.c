#include "inject/in_flight.h"

#include <pthread.h>
#include <string.h>
#include <sys/uio.h>

#include "collector/collector.h"
#include "collector/sys.h"
#include "inject/cupti_decode.h"
#include "stacks/thread_memory.h"

#define THREADS    256u /* that launch at a time; of further ones nothing is known */
#define HELD       64u  /* launches of a thread that may be overwritten before they are overdue */
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

static __thread bool is_refused; /* this thread finds no place, or has ended */

static pthread_key_t key;
static bool has_key;

/* ---- the program's threads ---- */

static void end_thread(void *argument)
{
	struct place *place = argument;

	*place->here = NULL;
	/* pairs with take_place(): the next thread goes on behind what was noted */
	gp_store32_release(&place->state, FREE);
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

struct gp_launches *gp_in_flight_begin_thread(struct gp_launches **here)
{
	struct place *place;

	if (is_refused) {
		note_elsewhere();
		return NULL;
	}
	is_refused = true;
	if (!has_key || gp_load32(&is_begun) == 0)
		return NULL;
	place = take_place(FREE);
	if (place == NULL)
		place = make_place();
	if (place == NULL)
		return NULL;
	if (pthread_setspecific(key, place) != 0) {
		gp_store32_release(&place->state, FREE);
		return NULL;
	}
	place->here = here;
	*here = (struct gp_launches *)(uintptr_t)place->launches;
	return *here;
}

/* ---- names ---- */

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
	for (uint32_t i = 0; i < bytes; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return 0;
	return bytes;
}

static uint32_t name_id(struct gp_decoder *decoder, uint64_t address)
{
	static char text[GP_STRING_MAX_BYTES + 1];
	uint32_t bytes = address != 0 ? read_name(address, text, sizeof(text)) : 0;

	return bytes != 0 ? gp_decode_name(decoder, text, bytes) : 0;
}

/* ---- whoever has the decoder ---- */

struct known {
	uint64_t at; /* so many were noted before it */
	uint64_t name;
	uint32_t correlation_id;
};

/* What is known of what was noted in a place. */
static struct view {
	uint64_t told; /* before that all was written, or has come */
	uint64_t seen; /* so much was noted when it was last looked for what is overdue */
	uint32_t held_count;
	struct known held[HELD]; /* the oldest without a record, since records stopped coming */
} views[THREADS];

static struct {
	uint64_t kernels;   /* that had come at the last look */
	uint64_t judged_ns; /* when it was last looked for what is overdue */
	uint64_t elsewhere; /* looks that found launches of threads without a place */
} looks;

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
	uint64_t noted = looks.elsewhere += gp_swap32(&elsewhere, 0);

	for (uint32_t i = 0; i < THREADS; i++)
		if (launches_of(i) != NULL)
			noted += count_of(launches_of(i));
	return noted;
}

/* False: a later launch has its place, or may be writing there. */
static bool read_launch(const struct gp_launches *launches, uint64_t at, struct known *known)
{
	const struct gp_launch *launch = &launches->kept[at % GP_IN_FLIGHT_KEPT];

	known->at = at;
	known->name = gp_load64_acquire(&launch->name);
	known->correlation_id = gp_load32_acquire(&launch->correlation_id);
	return at + GP_IN_FLIGHT_KEPT > count_of(launches);
}

static uint64_t first_kept(const struct view *view, uint64_t count)
{
	uint64_t first = count < GP_IN_FLIGHT_KEPT ? 0 : count - GP_IN_FLIGHT_KEPT + 1;

	return first > view->told ? first : view->told;
}

/* The next launch from *at on that is before `end` and has no record. */
static bool next_open(const struct gp_launches *launches, uint64_t *at, uint64_t end,
		      struct known *known)
{
	while (*at < end) {
		uint64_t here = (*at)++;

		if (read_launch(launches, here, known) &&
		    !gp_decode_has_come(known->correlation_id))
			return true;
	}
	return false;
}

static void hold_oldest(struct view *view, const struct gp_launches *launches)
{
	uint64_t count = count_of(launches);
	uint64_t at = first_kept(view, count);

	while (view->held_count < HELD &&
	       next_open(launches, &at, count, &view->held[view->held_count]))
		view->held_count++;
	if (view->held_count == 0) /* while the program rests there is no more to look at */
		view->told = count;
}

/* Texts that are told again and again are read once. */
static void tell(struct gp_decoder *decoder, const struct known *launches, uint32_t count)
{
	struct gp_record_in_flight record = {
		.kind = GP_RECORD_IN_FLIGHT,
		.slots = sizeof(record) / GP_SLOT_BYTES,
		.ticks = gp_clock_ticks(),
	};

	for (uint32_t i = 0; i < count; i++) {
		record.correlation_id = launches[i].correlation_id;
		if (i == 0 || launches[i].name != launches[i - 1].name)
			record.name_id = name_id(decoder, launches[i].name);
		if (record.name_id != 0)
			gp_emit((const struct gp_record *)&record);
	}
}

/* The thread may go on meanwhile, and overwrite what it noted: it is copied first. */
static void tell_all(struct gp_decoder *decoder, struct view *view,
		     const struct gp_launches *launches)
{
	static struct known open[HELD + GP_IN_FLIGHT_KEPT];
	uint64_t count = count_of(launches);
	uint64_t at = first_kept(view, count), first = at;
	uint32_t open_count = 0;

	for (uint32_t i = 0; i < view->held_count; i++)
		if (view->held[i].at < first && !gp_decode_has_come(view->held[i].correlation_id))
			open[open_count++] = view->held[i];
	while (next_open(launches, &at, count, &open[open_count]))
		open_count++;
	tell(decoder, open, open_count);
	view->told = count;
	view->held_count = 0;
}

static bool has_overdue(const struct view *view, const struct gp_launches *launches)
{
	uint64_t at = first_kept(view, count_of(launches));
	struct known known;

	for (uint32_t i = 0; i < view->held_count; i++)
		if (view->held[i].at < view->seen &&
		    !gp_decode_has_come(view->held[i].correlation_id))
			return true;
	return next_open(launches, &at, view->seen, &known);
}

static void judge(struct gp_decoder *decoder, bool asked)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		const struct gp_launches *launches = launches_of(i);
		struct view *view = &views[i];
		uint64_t count;

		if (launches == NULL)
			continue;
		count = count_of(launches);
		if ((asked || count == view->seen) && has_overdue(view, launches))
			tell_all(decoder, view, launches);
		view->seen = count;
	}
}

static void hold_or_forget(bool hold)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		const struct gp_launches *launches = launches_of(i);

		if (launches == NULL)
			continue;
		if (!hold)
			views[i].held_count = 0;
		else if (views[i].held_count == 0)
			hold_oldest(&views[i], launches);
	}
}

/* While records come, as they nearly always do, nobody reads what threads note, so that its memory stays theirs. */
void gp_in_flight_look(struct gp_decoder *decoder, uint64_t now_ns, bool asked)
{
	if (decoder->said_numberless)
		return;
	hold_or_forget(decoder->kernels == looks.kernels);
	looks.kernels = decoder->kernels;
	if (now_ns - looks.judged_ns < GP_IN_FLIGHT_NS)
		return;
	judge(decoder, asked);
	looks.judged_ns = now_ns;
}

void gp_in_flight_tell(struct gp_decoder *decoder)
{
	for (uint32_t i = 0; i < THREADS && !decoder->said_numberless; i++)
		if (launches_of(i) != NULL)
			tell_all(decoder, &views[i], launches_of(i));
}
