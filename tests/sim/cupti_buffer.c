/*
 * libcupti: activity buffers.  Records are appended when their operation is submitted, so a buffer
 * may contain unfinished operations.  A delivery ends before the first of them.
 *
 * A lane is a place to append records: one for the process, or one for each thread.  It has one
 * buffer.  Full buffers wait in a list for the worker thread.  As in the real libcupti, only the
 * worker delivers.  If the driver still has to load a function, a flush waits for that first.
 */
#include "tests/sim/cupti_sim.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_MOST_BYTES 256
#define FLUSH_NS          300000 /* extra wait of a flush for a function to load */

struct buffer {
	uint8_t *data;
	size_t size, used, records, max_records;
	uint64_t last_end;
	struct lane *lane;
	struct buffer *next;
};

struct lane {
	pthread_mutex_t lock;
	struct buffer *current;
	bool blocked; /* in the current flush: an earlier buffer could not be delivered */
	struct lane *next;
};

static CUpti_BuffersCallbackRequestFunc request_buffer;
static CUpti_BuffersCallbackCompleteFunc complete_buffer;
static _Atomic bool per_thread;
static _Atomic uint32_t period_ms;
static _Atomic size_t dropped;
static _Atomic uint64_t gpu_records;

static struct lane shared_lane = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct lane *lanes; /* of the threads */
static struct buffer *full, **full_tail = &full;
static pthread_mutex_t full_lock = PTHREAD_MUTEX_INITIALIZER; /* lanes, full, worker */
static pthread_cond_t full_changed;

static struct {
	uint64_t requested, done;
	bool forced;
	bool has_worker; /* the worker thread runs */
} flushes;               /* guarded by full_lock */

static pthread_key_t lane_key;
static __thread struct lane *own_lane;

static void push_full(struct buffer *b)
{
	pthread_mutex_lock(&full_lock);
	b->next = NULL;
	*full_tail = b;
	full_tail = &b->next;
	pthread_cond_broadcast(&full_changed);
	pthread_mutex_unlock(&full_lock);
}

/* Puts a list that was taken back in front. */
static void restore_full(struct buffer *list)
{
	struct buffer **end = &list;

	while (*end)
		end = &(*end)->next;
	pthread_mutex_lock(&full_lock);
	*end = full;
	if (!full && list)
		full_tail = end;
	full = list;
	pthread_mutex_unlock(&full_lock);
}

static struct buffer *take_full(void)
{
	struct buffer *all;

	pthread_mutex_lock(&full_lock);
	all = full;
	full = NULL;
	full_tail = &full;
	pthread_mutex_unlock(&full_lock);
	return all;
}

/* At the end of a thread: hand its buffer to the worker. */
static void retire_lane(void *value)
{
	struct lane *lane = value;

	pthread_mutex_lock(&lane->lock);
	if (lane->current)
		push_full(lane->current);
	lane->current = NULL;
	pthread_mutex_unlock(&lane->lock);
}

static void make_lane_key(void)
{
	pthread_key_create(&lane_key, retire_lane);
}

static struct lane *this_lane(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!per_thread)
		return &shared_lane;
	if (own_lane)
		return own_lane;
	pthread_once(&once, make_lane_key);
	own_lane = calloc(1, sizeof(*own_lane));
	pthread_mutex_init(&own_lane->lock, NULL);
	pthread_setspecific(lane_key, own_lane);
	pthread_mutex_lock(&full_lock);
	own_lane->next = lanes;
	lanes = own_lane;
	pthread_mutex_unlock(&full_lock);
	return own_lane;
}

/* Requests a buffer from the client, on the thread that needs it, without a lock. */
static struct buffer *new_buffer(struct lane *lane)
{
	struct buffer *b = calloc(1, sizeof(*b));

	if (request_buffer)
		request_buffer(&b->data, &b->size, &b->max_records);
	b->lane = lane;
	if (b->data)
		return b;
	free(b);
	return NULL;
}

static bool has_room(const struct buffer *b, size_t bytes)
{
	return b && b->used + bytes <= b->size && (!b->max_records || b->records < b->max_records);
}

static void put(struct buffer *b, const void *record, size_t bytes)
{
	uint64_t end = sim_record_end(record);

	memcpy(b->data + b->used, record, bytes);
	b->used += bytes;
	b->records++;
	if (end > b->last_end)
		b->last_end = end;
}

/* Replaces a full buffer by a new one.  False: the client returned none. */
static bool renew(struct lane *lane, size_t bytes)
{
	struct buffer *fresh = new_buffer(lane), *old = NULL;

	pthread_mutex_lock(&lane->lock);
	if (has_room(lane->current, bytes)) { /* another thread has replaced it */
		old = fresh;
	} else if (fresh) {
		old = lane->current;
		lane->current = fresh;
	}
	pthread_mutex_unlock(&lane->lock);
	if (old)
		push_full(old);
	return fresh != NULL;
}

static bool try_put(struct lane *lane, const void *record, size_t bytes)
{
	bool fits;

	pthread_mutex_lock(&lane->lock);
	fits = has_room(lane->current, bytes);
	if (fits)
		put(lane->current, record, bytes);
	pthread_mutex_unlock(&lane->lock);
	return fits;
}

/* The request for a buffer is recorded as overhead, after the record that needed the buffer. */
static void put_in_new(struct lane *lane, const void *record, size_t bytes)
{
	uint64_t start = sim_now_ns(), end;

	do {
		if (!renew(lane, bytes)) {
			dropped++;
			return;
		}
		end = sim_now_ns();
	} while (!try_put(lane, record, bytes));
	sim_record_overhead(CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST, start, end);
}

static bool is_gpu_record(CUpti_ActivityKind kind)
{
	return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
	       kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_MEMCPY ||
	       kind == CUPTI_ACTIVITY_KIND_MEMCPY2 || kind == CUPTI_ACTIVITY_KIND_MEMSET;
}

/*
 * GPUSIM_FAULT=drop-records and zero-timestamps: every tenth record of an operation is lost, or has
 * no times.
 */
static bool inject_fault(void *record, CUpti_ActivityKind kind)
{
	unsigned int faults = sim_config()->faults;

	if (!(faults & (SIM_FAULT_DROP_RECORDS | SIM_FAULT_ZERO_TIMESTAMPS)) ||
	    !is_gpu_record(kind) || ++gpu_records % 10)
		return true;
	if (faults & SIM_FAULT_DROP_RECORDS)
		return false;
	memset((char *)record + offsetof(CUpti_ActivityKernel10, start), 0, 16);
	return true;
}

/* GPUSIM_FAULT=moved-fields: kernel records of a version that inserted a field before the name. */
static void copy_record(uint8_t *copy, const void *record, size_t bytes, CUpti_ActivityKind kind)
{
	const size_t name = offsetof(CUpti_ActivityKernel10, name);

	if (kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
	    !(sim_config()->faults & SIM_FAULT_MOVED_FIELDS)) {
		memcpy(copy, record, bytes);
		return;
	}
	memcpy(copy, record, name);
	memset(copy + name, 0x41, SIM_MOVED_BYTES);
	memcpy(copy + name + SIM_MOVED_BYTES, (const uint8_t *)record + name,
	       bytes - SIM_MOVED_BYTES - name);
}

void sim_buffers_append(const void *record, CUpti_ActivityKind kind)
{
	size_t bytes = sim_record_bytes(kind);
	struct lane *lane = this_lane();
	uint8_t copy[RECORD_MOST_BYTES];

	if (sim_config()->faults) {
		copy_record(copy, record, bytes, kind);
		record = copy;
		if (!inject_fault(copy, kind)) {
			dropped++;
			return;
		}
	}
	if (!try_put(lane, record, bytes))
		put_in_new(lane, record, bytes);
}

/*
 * GPUSIM_FAULT=shuffled-records: CUPTI guarantees no order, so a client must not rely on one.  The
 * order is the same in each run.
 */
static void shuffle(uint8_t *data, size_t bytes)
{
	uint8_t **records = malloc(bytes / sizeof(uint32_t) * sizeof(*records)),
		*copy = malloc(bytes);
	size_t count = 0, to = 0;
	uint32_t chance = 1;

	memcpy(copy, data, bytes);
	for (size_t at = 0; at < bytes;
	     at += sim_record_bytes(((CUpti_Activity *)(copy + at))->kind))
		records[count++] = copy + at;
	for (; count; count--) {
		size_t length, i;

		chance = chance * 1664525 + 1013904223;
		i = (chance >> 8) % count;
		length = sim_record_bytes(((CUpti_Activity *)records[i])->kind);
		memcpy(data + to, records[i], length);
		to += length;
		records[i] = records[count - 1];
	}
	free(records);
	free(copy);
}

static void deliver(struct buffer *b, size_t valid)
{
	if (sim_config()->faults & SIM_FAULT_SHUFFLED_RECORDS)
		shuffle(b->data, valid);
	sim_clock_convert(b->data, valid);
	complete_buffer(NULL, 0, b->data, b->size, valid);
	free(b);
}

/*
 * Number of bytes before the first unfinished record.  A forced flush removes the times of
 * unfinished records and delivers them.
 */
static size_t finished_bytes(struct buffer *b, bool forced, uint64_t now)
{
	size_t at = 0;

	if (b->last_end <= now)
		return b->used;
	while (at < b->used) {
		CUpti_Activity *record = (CUpti_Activity *)(b->data + at);

		if (sim_record_end(record) > now) {
			if (!forced)
				break;
			sim_record_clear_times(record);
		}
		at += sim_record_bytes(record->kind);
	}
	return at;
}

/*
 * Under the lane's lock: moves unfinished records to empty buffers.  The last of these becomes the
 * lane's buffer, and the others count as full.
 */
static void split(struct lane *lane, struct buffer *b, size_t finished, struct buffer **spares)
{
	for (size_t at = finished, bytes; at < b->used; at += bytes) {
		bytes = sim_record_bytes(((CUpti_Activity *)(b->data + at))->kind);
		if (!has_room(lane->current, bytes)) {
			if (lane->current)
				push_full(lane->current);
			lane->current = *spares;
			*spares = (*spares)->next;
		}
		put(lane->current, b->data + at, bytes);
	}
	b->used = finished;
}

/* Delivers the full buffers up to the first one with an unfinished record. */
static void flush_full(bool forced)
{
	struct buffer *list = take_full(), *kept = NULL, **tail = &kept;

	for (struct buffer *b = list; b; b = b->next)
		b->lane->blocked = false;
	while (list) {
		struct buffer *b = list;

		list = b->next;
		if (b->lane->blocked || finished_bytes(b, forced, sim_now_ns()) < b->used) {
			b->lane->blocked = true;
			*tail = b;
			tail = &b->next;
		} else {
			deliver(b, b->used);
		}
	}
	*tail = NULL;
	if (kept)
		restore_full(kept);
}

static size_t room_of(const struct buffer *spares)
{
	size_t bytes = 0;

	for (; spares; spares = spares->next)
		bytes += spares->size - RECORD_MOST_BYTES;
	return bytes;
}

/* Takes the deliverable records out of a lane's buffer, and moves the others to the spares. */
static struct buffer *take_finished(struct lane *lane, bool forced, struct buffer **spares)
{
	struct buffer *b;
	size_t finished;

	pthread_mutex_lock(&lane->lock);
	b = lane->current;
	finished = b && !lane->blocked ? finished_bytes(b, forced, sim_now_ns()) : 0;
	if (!finished || (finished < b->used && room_of(*spares) < b->used - finished)) {
		pthread_mutex_unlock(&lane->lock);
		return NULL;
	}
	lane->current = NULL;
	split(lane, b, finished, spares);
	pthread_mutex_unlock(&lane->lock);
	return b;
}

static size_t unfinished_bytes(struct lane *lane)
{
	struct buffer *b;
	size_t bytes = 0;

	pthread_mutex_lock(&lane->lock);
	b = lane->current;
	if (b)
		bytes = b->used - finished_bytes(b, false, sim_now_ns());
	pthread_mutex_unlock(&lane->lock);
	return bytes;
}

/* Buffers for that many bytes of records, as far as the client provides them. */
static struct buffer *new_buffers(struct lane *lane, size_t bytes)
{
	struct buffer *list = NULL;

	while (room_of(list) < bytes) {
		struct buffer *b = new_buffer(lane);

		if (!b || b->size <= RECORD_MOST_BYTES)
			return list;
		b->next = list;
		list = b;
	}
	return list;
}

static void flush_lane(struct lane *lane, bool forced)
{
	struct buffer *spares = forced ? NULL : new_buffers(lane, unfinished_bytes(lane));
	struct buffer *b = take_finished(lane, forced, &spares);

	if (b)
		deliver(b, b->used);
	while (spares) { /* not needed: return it empty to the client */
		struct buffer *next = spares->next;

		deliver(spares, 0);
		spares = next;
	}
	lane->blocked = false;
}

static void flush_lanes(bool forced)
{
	struct lane *list;

	pthread_mutex_lock(&full_lock);
	list = lanes;
	pthread_mutex_unlock(&full_lock);
	flush_lane(&shared_lane, forced);
	for (; list; list = list->next)
		flush_lane(list, forced);
}

/* A forced flush writes a record about itself, to its own lane if threads have lanes. */
static void flush_forced(void)
{
	static struct lane flush_lane_itself = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct lane *saved = own_lane;
	uint64_t start = sim_now_ns();

	if (per_thread)
		own_lane = &flush_lane_itself;
	for (int i = 0; i < 2; i++)
		sim_record_overhead(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, start,
				    sim_now_ns());
	own_lane = saved;
	flush_full(true);
	flush_lanes(true);
	flush_lane(&flush_lane_itself, true);
}

/*
 * The real driver checks after a delay: short work that was launched after the function has then
 * ended.
 */
static void wait_for_loading(void)
{
	uint64_t loaded = sim_loaded_ns();

	if (loaded > sim_now_ns())
		sim_wait_until_ns(loaded + FLUSH_NS);
}

static void flush_all(bool forced)
{
	wait_for_loading();
	if (forced) {
		flush_forced();
	} else {
		flush_full(false);
		flush_lanes(false);
	}
}

static void hang(void)
{
	for (;;)
		pause();
}

/* Make the worker flush and wait for it, because only the worker delivers. */
void sim_buffers_flush(bool forced)
{
	unsigned int faults = sim_config()->faults;
	uint64_t ticket;

	if (sim_forked() || (forced && faults & SIM_FAULT_FLUSH_HANGS))
		hang();
	if (!complete_buffer || (!forced && faults & SIM_FAULT_LATE_BUFFERS))
		return;
	pthread_mutex_lock(&full_lock);
	ticket = ++flushes.requested;
	flushes.forced |= forced;
	pthread_cond_broadcast(&full_changed);
	while (flushes.has_worker && flushes.done < ticket)
		pthread_cond_wait(&full_changed, &full_lock);
	pthread_mutex_unlock(&full_lock);
}

/*
 * Time at which the worker acts without a request: the end of the period, or the end of the oldest
 * full buffer's work; 0: never.
 */
static uint64_t next_work_locked(uint64_t last_flush)
{
	if (sim_config()->faults & SIM_FAULT_LATE_BUFFERS)
		return 0;
	if (period_ms)
		return last_flush + period_ms * UINT64_C(1000000);
	return full ? full->last_end : 0;
}

/* Returns the number of the request to serve, 0 = none, and its kind. */
static uint64_t wait_for_work(uint64_t last_flush, bool *forced)
{
	uint64_t requested, when;

	pthread_mutex_lock(&full_lock);
	while (flushes.requested == flushes.done) {
		when = next_work_locked(last_flush);
		if (when && when <= sim_now_ns())
			break;
		if (when)
			sim_cond_wait_until(&full_changed, &full_lock, when);
		else
			pthread_cond_wait(&full_changed, &full_lock);
	}
	requested = flushes.requested;
	*forced = flushes.forced;
	flushes.forced = false;
	pthread_mutex_unlock(&full_lock);
	return requested;
}

/*
 * The worker thread: flushes on request or at the end of a period, and otherwise delivers full
 * buffers.
 */
static void *work(void *unused)
{
	uint64_t done = 0, last_flush = sim_now_ns();

	(void)unused;
	pthread_mutex_lock(&full_lock);
	flushes.has_worker = true;
	pthread_cond_broadcast(&full_changed);
	pthread_mutex_unlock(&full_lock);
	for (;;) {
		bool forced;
		uint64_t requested = wait_for_work(last_flush, &forced);

		if (requested != done || period_ms) {
			flush_all(forced);
			last_flush = sim_now_ns();
		} else {
			flush_full(false);
		}
		pthread_mutex_lock(&full_lock);
		flushes.done = done = requested;
		pthread_cond_broadcast(&full_changed);
		pthread_mutex_unlock(&full_lock);
	}
	return NULL;
}

static void start_worker(void)
{
	pthread_t thread;

	sim_cond_init(&full_changed);
	if (pthread_create(&thread, NULL, work, NULL))
		return; /* the real behavior is unknown; here nothing is delivered */
	/*
	 * wait until the thread has started: the program may next install a seccomp filter that
	 * forbids the system calls of a starting thread
	 */
	pthread_mutex_lock(&full_lock);
	while (!flushes.has_worker)
		pthread_cond_wait(&full_changed, &full_lock);
	pthread_mutex_unlock(&full_lock);
}

void sim_buffers_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start_worker);
}

void sim_buffers_register(CUpti_BuffersCallbackRequestFunc request,
			  CUpti_BuffersCallbackCompleteFunc complete)
{
	request_buffer = request;
	complete_buffer = complete;
}

void sim_buffers_per_thread(bool on)
{
	per_thread = on;
}

bool sim_buffers_are_per_thread(void)
{
	return per_thread;
}

void sim_buffers_period_ms(uint32_t period)
{
	pthread_mutex_lock(&full_lock);
	period_ms = period;
	pthread_cond_broadcast(&full_changed);
	pthread_mutex_unlock(&full_lock);
}

size_t sim_buffers_take_dropped(void)
{
	return atomic_exchange(&dropped, 0);
}
