#include "collector/thread.h"

#include <errno.h>
#include <pthread.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/counters.h"
#include "collector/definition.h"
#include "collector/ring.h"
#include "collector/process_state.h"
#include "collector/sys.h"

#define LOCK_SPINS       100
#define LONG_SPINS       1000
#define DEFINITIONS_PART 8 /* of a ring */
#define FIRST_SLEEP_NS   100000u
#define LONGEST_SLEEP_NS 1600000u

/* The state of a thread, initially zero.  Only the thread and its signal handlers access it. */
struct local {
	struct gp_ring_header *ring; /* its own, or NULL */
	struct gp_lane *lane;
	/* 1 + tail of a ring that stayed full: no waits until the tail moves */
	uint64_t gave_up_at;
	/* the recording of this state: a forked child's thread inherits that of its parent */
	uint32_t recording;
	uint32_t id;        /* thread id, 0 = not determined yet */
	uint32_t name_hash; /* of the last emitted name */
	uint8_t busy;       /* inside gp_emit(): a signal handler must not use our ring */
	uint8_t sharing;    /* holds the shared ring's lock */
	uint8_t named;
	uint8_t ended;        /* its destructor ran: it gets no ring any more */
	uint8_t always_waits; /* gp_emit_always_waits() */
};

static_assert(sizeof(struct local) <= 64, "static TLS is scarce");

static __thread struct local local __attribute__((tls_model("initial-exec")));

static struct gp_arena *rings;
static struct gp_eventcount *writer_wakeup;
static struct gp_lane *shared_lane;
static struct gp_ring_header *shared_ring;
static uint32_t shared_lock;
static bool all_wait;           /* for free slots in a full ring */
static uint32_t last_recording; /* of this process or of its ancestors by fork */

static pthread_key_t key;
static bool has_key;

static bool waits(void)
{
	return all_wait || local.always_waits;
}

/* ---- the shared ring ---- */

static bool lock_shared(int spins)
{
	while (gp_swap32(&shared_lock, 1) != 0) {
		if (--spins == 0)
			return false;
		gp_pause();
	}
	local.sharing = 1;
	return true;
}

static void unlock_shared(void)
{
	local.sharing = 0;
	gp_store32_release(&shared_lock, 0);
}

/* Threads that never wait leave some slots for definitions. */
static bool is_put(struct gp_ring_header *ring, const struct gp_item *item)
{
	if (!waits() && !gp_is_definition(item->record) &&
	    gp_ring_free_slots(ring) < ring->slot_count / DEFINITIONS_PART)
		return false;
	return gp_ring_put(ring, item);
}

static bool put(struct gp_ring_header *ring, const struct gp_item *item)
{
	bool done = is_put(ring, item);

	if (gp_ring_is_half_full(ring))
		gp_eventcount_notify(writer_wakeup);
	return done;
}

static bool put_shared(const struct gp_item *item, int spins)
{
	bool done, half_full;

	if (local.sharing || !lock_shared(spins))
		return false;
	done = is_put(shared_ring, item);
	half_full = gp_ring_is_half_full(shared_ring);
	unlock_shared();
	/* after the unlock: the writer may take our core while others wait for the lock */
	if (half_full)
		gp_eventcount_notify(writer_wakeup);
	if (done)
		gp_count(GP_COUNTER_SHARED_RING, 1);
	return done;
}

/* ---- putting with waits ---- */

static bool try_put(const struct gp_item *item)
{
	return local.ring != NULL ? put(local.ring, item)
				  : put_shared(item, waits() ? LOCK_SPINS : LONG_SPINS);
}

static void count_wait(void)
{
	if (local.ring != NULL)
		gp_add64_own(&local.ring->waits, 1);
	else
		gp_count(GP_COUNTER_RING_WAITS, 1);
}

/* The lost record may be the return of a visible call: no later record would end that call. */
static void count_lost(void)
{
	if (local.ring == NULL) {
		gp_count(GP_COUNTER_LOST_NO_RING, 1);
		return;
	}
	gp_add64_own(&local.ring->lost, 1);
	gp_store64(&local.ring->call_ticks, 0);
}

static uint64_t ring_tail(void)
{
	return gp_load64(&(local.ring != NULL ? local.ring : shared_ring)->tail);
}

/*
 * A signal handler that interrupted the wait forked, and the child continues here, without rings.
 */
static bool is_forked(void)
{
	return gp_load32(&gp_process_state.collector) == 0;
}

/*
 * One long wait for a stalled writer is enough: after it, records are dropped without a wait until
 * the writer makes progress.
 */
static bool wait_and_put(const struct gp_item *item)
{
	uint64_t sleep_ns = FIRST_SLEEP_NS;
	uint64_t give_up_ns;

	if (!waits() || local.gave_up_at == ring_tail() + 1)
		return false;
	count_wait();
	give_up_ns = gp_sys_now_ns() + GP_EMIT_WAIT_NS;
	do {
		gp_eventcount_notify(writer_wakeup);
		gp_sys_sleep(sleep_ns);
		if (is_forked())
			return false;
		if (try_put(item))
			return true;
		if (sleep_ns < LONGEST_SLEEP_NS)
			sleep_ns *= 2;
	} while (gp_sys_now_ns() < give_up_ns);
	local.gave_up_at = ring_tail() + 1;
	return false;
}

static bool put_uncounted(const struct gp_item *item)
{
	return try_put(item) || wait_and_put(item);
}

static bool put_with_wait(const struct gp_item *item)
{
	if (put_uncounted(item))
		return true;
	if (!is_forked())
		count_lost();
	return false;
}

/* ---- a thread's first and last record ---- */

static void take_ring(void)
{
	struct gp_lane *lane = gp_arena_take(rings, local.id);

	if (gp_arena_is_short(rings))
		gp_eventcount_notify(writer_wakeup);
	if (lane == NULL)
		return;
	if (has_key && pthread_setspecific(key, lane) != 0) {
		gp_arena_close_lane(rings, lane);
		local.ended = 1;
		return;
	}
	local.lane = lane;
	local.ring = lane->ring;
}

static uint32_t item_owner(void)
{
	if (local.ring != NULL)
		return 0;
	return local.id != 0 ? local.id : gp_sys_thread_id();
}

/* FNV-1a */
static uint32_t hash_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name != '\0'; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	return hash;
}

/*
 * A name that does not fit is emitted with the thread's next record, or at its end: it is not lost
 * yet.
 */
static void put_name(const char *name)
{
	struct gp_record_string string = {.kind = GP_RECORD_STRING, .space = GP_STRING_THREAD};
	struct gp_item item = {(const struct gp_record *)&string, name, 1, item_owner()};

	string.id = local.id;
	string.length_bytes = (uint32_t)strlen(name);
	local.named = put_uncounted(&item);
	local.name_hash = hash_of(name);
}

/* A thread without a ring has no later chance to emit its name. */
static void give_up_name(void)
{
	count_lost();
	local.named = 1;
}

/*
 * A child of vfork() runs on its parent's thread data, which must stay the parent's.  It gets no
 * ring of its own, and its name stays unknown.
 */
static void introduce_thread(void)
{
	char name[16];

	if (local.id == 0 && gp_process_state_is_own_process())
		local.id = gp_sys_thread_id();
	if (local.ring == NULL && !local.ended && local.id != 0)
		take_ring();
	if (!local.named && local.id != 0) {
		gp_sys_thread_name(name);
		put_name(name);
		if (!local.named && local.ring == NULL && !is_forked())
			give_up_name();
	}
}

/* Threads are often named after their first record, by their creator. */
static void emit_last_name(void)
{
	char name[16];

	gp_sys_thread_name(name);
	if (local.named && hash_of(name) == local.name_hash)
		return;
	local.busy = 1;
	gp_signal_fence();
	put_name(name);
	if (!local.named && !is_forked())
		count_lost();
	gp_signal_fence();
	local.busy = 0;
}

static void end_thread(void *lane)
{
	uint32_t live = gp_load32_acquire(&gp_process_state.live);

	if (live == 0 || local.recording != live || local.lane != lane)
		return;
	emit_last_name();
	local.ring = NULL;
	local.lane = NULL;
	local.ended = 1;
	gp_signal_fence();
	if (gp_arena_close_lane(rings, lane))
		gp_eventcount_notify(writer_wakeup);
}

/* ---- emitting ---- */

/* From a signal handler that interrupted gp_emit() in this very thread: no waiting. */
static bool emit_nested(const struct gp_item *item)
{
	if (put_shared(item, LONG_SPINS))
		return true;
	gp_count(GP_COUNTER_LOST_NESTED, 1);
	return false;
}

static bool emit_slowly(struct gp_item *item)
{
	bool done;

	local.busy = 1;
	gp_signal_fence();
	if (local.ring == NULL || !local.named)
		introduce_thread();
	item->thread = item_owner();
	done = put_with_wait(item);
	gp_signal_fence();
	local.busy = 0;
	return done;
}

/* `busy` and `sharing` stay: they belong to active calls of this very thread. */
static void forget_other_recording(uint32_t live)
{
	if (local.recording == live)
		return;
	local.ring = NULL;
	local.lane = NULL;
	local.gave_up_at = 0;
	local.id = 0;
	local.named = 0;
	local.recording = live;
}

static bool emit_item(struct gp_item *item, uint32_t live)
{
	int saved = errno;
	bool done;

	forget_other_recording(live);
	if (local.busy) {
		item->thread = local.id != 0 ? local.id : gp_sys_thread_id();
		done = emit_nested(item);
	} else {
		done = emit_slowly(item);
	}
	errno = saved;
	return done;
}

static __attribute__((noinline)) bool emit_fixed(const struct gp_record *record, uint32_t live)
{
	struct gp_item item = {record, NULL, record->slots, 0};

	return emit_item(&item, live);
}

static bool is_of(const struct local *self, uint32_t live)
{
	return self->ring != NULL && self->recording == live;
}

void gp_emit_always_waits(void)
{
	uint32_t live = gp_load32_acquire(&gp_process_state.live);

	local.always_waits = 1;
	if (live == 0)
		return;
	forget_other_recording(live);
	local.busy = 1;
	gp_signal_fence();
	introduce_thread();
	gp_signal_fence();
	local.busy = 0;
}

bool gp_emit(const struct gp_record *record)
{
	uint32_t live = gp_load32_acquire(&gp_process_state.live);
	struct local *self = &local;
	bool done;

	if (live == 0)
		return false;
	if (__builtin_expect(!is_of(self, live) || self->busy, 0))
		return emit_fixed(record, live);
	self->busy = 1;
	gp_signal_fence();
	done = gp_ring_put_quick(self->ring, record);
	gp_signal_fence();
	self->busy = 0;
	if (__builtin_expect(done, 1))
		return true;
	return emit_fixed(record, live);
}

bool gp_emit_string(enum gp_string_space space, uint32_t id, uint32_t value, const char *text,
		    uint32_t length_bytes)
{
	struct gp_record_string string = {.kind = GP_RECORD_STRING,
					  .space = (uint16_t)space,
					  .id = id,
					  .value = value,
					  .length_bytes = length_bytes};
	struct gp_item item = {(const struct gp_record *)&string, text, 0, 0};
	uint32_t live = gp_load32_acquire(&gp_process_state.live);

	if (live == 0)
		return false;
	if (length_bytes > GP_STRING_MAX_BYTES) {
		string.length_bytes = GP_STRING_MAX_BYTES;
		gp_count(GP_COUNTER_CUT_STRINGS, 1);
	}
	item.slots = gp_string_slots(string.length_bytes);
	return emit_item(&item, live);
}

bool gp_emit_info(enum gp_info info, const char *text)
{
	return gp_emit_string(GP_STRING_INFO, info, 0, text, (uint32_t)strlen(text));
}

void gp_count_hook(uint64_t sampled_ticks)
{
	uint32_t live = gp_load32_acquire(&gp_process_state.live);
	struct gp_ring_header *ring = local.ring;

	if (live == 0)
		return;
	if (!is_of(&local, live)) { /* rare: this callback is then not sampled */
		gp_count(GP_COUNTER_HOOKS, 1);
		return;
	}
	gp_add64_own(&ring->hooks, 1);
	if (sampled_ticks != 0) {
		gp_add64_own(&ring->hooks_sampled, 1);
		gp_add64_own(&ring->hooks_sampled_ticks, sampled_ticks);
	}
}

uint64_t gp_count_of_hooks(void)
{
	return gp_load32_acquire(&gp_process_state.live) != 0 ? gp_counters_hooks(rings) : 0;
}

void gp_count_nested(void)
{
	uint32_t live = gp_load32_acquire(&gp_process_state.live);

	if (live == 0)
		return;
	if (is_of(&local, live))
		gp_add64_own(&local.ring->nested_callbacks, 1);
	else
		gp_count(GP_COUNTER_NESTED_CALLBACKS, 1);
}

void gp_call_begins(uint16_t api, uint64_t start_ticks)
{
	uint32_t live = gp_load32_acquire(&gp_process_state.live);
	struct gp_ring_header *ring = local.ring;

	if (live == 0 || !is_of(&local, live))
		return;
	gp_store32(&ring->call_api, api);
	gp_store64(&ring->call_ticks, start_ticks);
	gp_store64_release(&ring->call_head, gp_load64(&ring->head));
}

void gp_call_is_excluded(void)
{
	uint32_t live = gp_load32_acquire(&gp_process_state.live);

	if (live != 0 && is_of(&local, live))
		gp_store64(&local.ring->call_ticks, 0);
}

/* ---- life of the collector ---- */

/*
 * If a signal handler forked, the child may be about to put a record into its ring or the shared
 * one; a thread without a ring, or inside gp_emit(), may be about to take any ring.
 */
static void replace_rings(void)
{
	uint32_t count = rings != NULL ? gp_load32_acquire(&rings->lane_count) : 0;
	bool takes_none = !local.busy && local.lane != NULL && local.recording == last_recording;

	for (uint32_t i = 0; i < count; i++) {
		const struct gp_lane *lane = &rings->lanes[i];

		if (!takes_none || lane == shared_lane || lane == local.lane)
			gp_arena_replace_ring(lane);
	}
}

/*
 * As early as possible: glibc keeps the first keys in the thread itself, later ones cost an
 * allocation per thread; and fork handlers of other libraries then run after ours in a child.
 */
static __attribute__((constructor)) void prepare(void)
{
	has_key = pthread_key_create(&key, end_thread) == 0;
	pthread_atfork(NULL, NULL, replace_rings);
}

void gp_thread_set_up(struct gp_arena *arena, struct gp_eventcount *wakeup,
		      enum gp_overload on_overload)
{
	rings = arena;
	writer_wakeup = wakeup;
	shared_lane = gp_arena_take(arena, 0);
	shared_ring = shared_lane->ring;
	shared_lock = 0;
	all_wait = on_overload == GP_OVERLOAD_BLOCK;
}

void gp_thread_go_live(void)
{
	last_recording++;
	gp_store32_release(&gp_process_state.live, last_recording);
}

void gp_thread_go_dead(void)
{
	gp_store32_release(&gp_process_state.live, 0);
}

uint32_t gp_collector_recording(void)
{
	return gp_load32_acquire(&gp_process_state.live);
}

bool gp_collector_is_live(void)
{
	return gp_collector_recording() != 0;
}
