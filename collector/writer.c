#include "collector/writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "collector/arena.h"
#include "collector/atomic.h"
#include "collector/eventcount.h"
#include "collector/memory_budget.h"
#include "collector/clock.h"
#include "collector/counters.h"
#include "collector/drain.h"
#include "collector/process_info.h"
#include "collector/process_state.h"
#include "collector/profiler_threads.h"
#include "collector/sys.h"
#include "collector/text.h"
#include "collector/thread.h"

#define NS_PER_MS    1000000u
#define IDLE_POLL_NS (50 * NS_PER_MS)
#define MEMORY_POLL_NS                                                                             \
	(10 * NS_PER_MS) /* lost when a process with rings in private memory is killed */
#define ANCHOR_NS     (1000 * NS_PER_MS)
#define MAX_NEW_RINGS 4 /* per pass: they take time, and the other rings fill meanwhile */
#define FIRST_RINGS   2
#define PAUSE_POLL_NS 20000u
#define MAX_ROUNDS    16 /* over the rings before the clock is checked again */

/* The size of the records of emit_last(). */
static_assert(GP_ARENA_LANES * 32u + (GP_COUNTERS + 4u) * 24u <= GP_TRACEFILE_RESERVED_BYTES,
	      "thread names, counters, an anchor and the END record fit the reserved space");

enum progress {
	STARTING,
	ABANDONED, /* the starting thread has stopped waiting */
	READY,     /* too late for abandoning */
	RUNNING,
	PAUSED, /* the thread has ended because of a fork */
	FAILED,
	DONE
};

static struct {
	struct gp_collector_config config;
	uint32_t
		progress; /* enum progress, atomic; the starting and stopping threads sleep on it */
	uint32_t stop;    /* atomic */
	uint32_t pause;   /* atomic */
	uint32_t thread;  /* atomic; its id */
	uint32_t wants_anchor; /* atomic */
	uint32_t is_full; /* atomic; the file has reached its limit, and has a record about that */
	uint32_t end;     /* atomic; way and status of the END record */
	bool limit_is_emitted; /* in the file */
	bool is_released;      /* the rings are empty memory, and belong to nobody */
	int error; /* with FAILED: the reason; with DONE: the reason of dropped records */
	struct gp_eventcount wakeup;
	struct gp_arena arena;
	struct gp_drain drain;
	uint64_t anchor_ns; /* time of the last anchor */
	uint64_t reported[GP_COUNTERS];
} writer;

/* ---- rings ---- */

static void change_blocks(void);

/*
 * One chunk of each ring, so that none waits long for another.  Returns the number of moved slots;
 * *error is the last error.
 */
static uint64_t drain_round(int *error)
{
	uint32_t lanes = gp_load32_acquire(&writer.arena.lane_count);
	uint64_t slots = 0;

	for (uint32_t i = 0; i < lanes; i++) {
		int moved;

		change_blocks();
		moved = gp_drain_ring(&writer.drain, writer.arena.lanes[i].ring);
		if (moved < 0)
			*error = moved;
		else
			slots += (uint32_t)moved;
	}
	return slots;
}

/* Returns whether records were moved. */
static bool drain_rings(int *error)
{
	bool moved = false;

	for (int round = 0; round < MAX_ROUNDS && drain_round(error) > 0; round++)
		moved = true;
	return moved;
}

static void recycle_lane(struct gp_lane *lane)
{
	if (gp_load32_acquire(&lane->state) == GP_LANE_CLOSING &&
	    gp_ring_head(lane->ring) == gp_load64(&lane->ring->tail))
		gp_arena_recycle(&writer.arena, lane);
}

static void care_for_rings(bool try_again)
{
	uint32_t lanes = gp_load32(&writer.arena.lane_count);

	for (uint32_t i = 0; i < lanes; i++)
		recycle_lane(&writer.arena.lanes[i]);
	if (gp_load32(&writer.arena.exhausted) && !try_again)
		return;
	for (int i = 0; i < MAX_NEW_RINGS && gp_arena_wants_spare(&writer.arena); i++)
		if (gp_arena_grow(&writer.arena) != 0)
			break;
}

/* ---- own records ---- */

static void emit_anchor(void)
{
	struct gp_record_anchor anchor;

	gp_clock_read_anchor(&anchor);
	gp_drain_emit(&writer.drain, (const struct gp_record *)&anchor);
}

static void emit_counter(enum gp_counter counter, uint64_t value, uint64_t ticks)
{
	struct gp_record_counter record = {.kind = GP_RECORD_COUNTER,
					   .slots = 1,
					   .counter = (uint16_t)counter,
					   .value = value,
					   .ticks = ticks};

	gp_drain_emit(&writer.drain, (const struct gp_record *)&record);
}

static void count_memory(void)
{
	gp_count_set(GP_COUNTER_OWN_MEMORY_BYTES, gp_memory_budget_peak());
	gp_count_set(GP_COUNTER_MAX_MEMORY_BYTES, gp_memory_budget_limit());
	gp_count_set(GP_COUNTER_MAX_MEMORY_REFUSED, gp_memory_budget_refusals());
}

static int emit_counters(void)
{
	uint64_t totals[GP_COUNTERS];
	uint64_t ticks = gp_clock_ticks();
	int error;

	count_memory();
	gp_counters_total(&writer.arena, totals);
	for (int i = 0; i < GP_COUNTERS; i++)
		if (totals[i] != writer.reported[i])
			emit_counter((enum gp_counter)i, totals[i], ticks);
	error = gp_drain_finish_own(&writer.drain);
	if (!error)
		memcpy(writer.reported, totals, sizeof(totals));
	return error;
}

static void emit_gate(enum gp_gate_reason reason, bool on, uint64_t ticks)
{
	struct gp_record_gate gate = {.kind = GP_RECORD_GATE,
				      .slots = sizeof(gate) / GP_SLOT_BYTES,
				      .on = on,
				      .reason = (uint8_t)reason,
				      .ticks = ticks};

	gp_drain_emit(&writer.drain, (const struct gp_record *)&gate);
}

/* Begin a block with the records that make it readable without the lost blocks. */
static void begin_block(void)
{
	const struct gp_circular_file *circular = &writer.drain.file.circular;

	gp_drain_next_block(&writer.drain, gp_clock_ticks());
	if (circular->floor > 0)
		emit_gate(GP_GATE_KEPT, true, gp_circular_file_start_ticks(circular));
	emit_anchor();
	memset(writer.reported, 0, sizeof(writer.reported));
	emit_counters();
	gp_drain_write_kept(&writer.drain);
}

/* For a circular file.  The first new block may have no space either. */
static void change_blocks(void)
{
	for (int i = 0; i < 2 && gp_drain_is_block_full(&writer.drain); i++)
		begin_block();
}

static void emit_thread_name(uint32_t thread)
{
	char path[64], name[16];
	struct gp_text text = gp_text_in(path, sizeof(path));
	ssize_t length;

	gp_text_add(&text, "/proc/self/task/");
	gp_text_add_decimal(&text, thread);
	gp_text_add(&text, "/comm");
	length = gp_sys_read_line(path, name, sizeof(name));
	if (length > 0)
		gp_drain_emit_string(&writer.drain, GP_STRING_THREAD, thread, name, (size_t)length);
}

/* Threads emit their name with their first record, but some are named later. */
static void emit_thread_names(void)
{
	uint32_t lanes = gp_load32(&writer.arena.lane_count);

	for (uint32_t i = 0; i < lanes; i++) {
		uint32_t thread = gp_load32(&writer.arena.lanes[i].ring->thread);

		if (gp_load32_acquire(&writer.arena.lanes[i].state) == GP_LANE_TAKEN && thread != 0)
			emit_thread_name(thread);
	}
}

static void emit_end(void)
{
	uint32_t how = gp_load32(&writer.end);
	struct gp_record_end end = {.kind = GP_RECORD_END,
				    .slots = 2,
				    .reason = GP_END_EXIT,
				    .way = (uint8_t)(how >> 8),
				    .status = (uint8_t)how,
				    .ticks = gp_clock_ticks()};

	gp_drain_emit(&writer.drain, (const struct gp_record *)&end);
}

/* ---- the thread's life ---- */

static int set_up(void)
{
	bool apart = gp_sys_unshare_files() == 0;
	int error;

	writer.arena.stays_open = apart;
	gp_clock_start();
	error = gp_drain_open(&writer.drain, writer.config.trace_path, writer.config.max_file_bytes,
			      writer.config.keep_last_bytes);
	if (error)
		return error;
	writer.drain.file.stays_open = apart;
	error = gp_arena_open(&writer.arena, writer.config.ring_place, writer.drain.file.path);
	if (error)
		return error;
	gp_thread_set_up(&writer.arena, &writer.wakeup, writer.config.on_overload);
	/* for the starting thread and the fetching thread; later passes make more */
	for (int i = 0; i < FIRST_RINGS && gp_arena_grow(&writer.arena) == 0; i++)
		;
	gp_clock_settle();
	gp_process_info_emit(&writer.drain, !writer.config.no_command, writer.arena.path,
			     writer.config.ring_place == GP_RINGS_AUTO, writer.config.session);
	emit_anchor();
	if (writer.config.keep_last_bytes > 0)
		gp_count_set(GP_COUNTER_FIRST_TICKS, gp_clock_ticks());
	writer.anchor_ns = gp_sys_now_ns();
	error = gp_drain_finish_own(&writer.drain);
	gp_tracefile_close(&writer.drain.file);
	return error;
}

static void clean_up_failure(void)
{
	gp_arena_remove(&writer.arena);
	if (writer.drain.file.path[0] != '\0')
		gp_sys_unlink(writer.drain.file.path);
	writer.drain.file.path[0] = '\0';
}

static void announce(enum progress progress)
{
	gp_store32_release(&writer.progress, progress);
	gp_sys_wake(&writer.progress);
}

static int emit_times(void)
{
	change_blocks();
	emit_anchor();
	writer.anchor_ns = gp_sys_now_ns();
	return emit_counters();
}

static bool is_limit_unreported(void)
{
	return writer.drain.is_full && !writer.limit_is_emitted;
}

/*
 * Write the record that the limit is reached, into the space reserved for it.  If that fails, the
 * record is emitted again.
 */
static void end_at_limit(void)
{
	emit_gate(GP_GATE_FULL, false, gp_clock_ticks());
	writer.limit_is_emitted = emit_times() == 0;
	if (writer.limit_is_emitted)
		gp_store32_release(&writer.is_full, 1);
}

static bool pass(void)
{
	int error = 0;
	bool moved = drain_rings(&error);
	bool anchor_due = gp_sys_now_ns() - writer.anchor_ns >= ANCHOR_NS;
	bool is_requested = gp_swap32(&writer.wants_anchor, 0) != 0;

	gp_counters_save(&writer.arena);
	care_for_rings(anchor_due);
	if (is_limit_unreported())
		end_at_limit();
	else if ((is_requested || anchor_due) && !writer.drain.is_full)
		emit_times();
	gp_tracefile_close(&writer.drain.file);
	return moved && !error;
}

static uint64_t poll_ns(bool active)
{
	return active && writer.arena.path[0] == '\0' ? MEMORY_POLL_NS : IDLE_POLL_NS;
}

/* Rings in private memory end with the process, so the trace must at least count the losses. */
static void give_up_rest(int error)
{
	uint32_t lanes = gp_load32_acquire(&writer.arena.lane_count);

	for (uint32_t i = 0; i < lanes; i++)
		gp_drain_give_up(&writer.drain, writer.arena.lanes[i].ring, error);
	/* the removed chunks may have contained these */
	memset(writer.reported, 0, sizeof(writer.reported));
	writer.limit_is_emitted = false;
	/* if that fails, the final records may still fit */
	gp_drain_make_space(&writer.drain, error);
}

/*
 * The END record is written only after the counters are in the file: a reader treats a trace with
 * an END record as complete.
 */
static int emit_last(bool is_all)
{
	int error;

	change_blocks();
	if (is_limit_unreported())
		emit_gate(GP_GATE_FULL, false, gp_clock_ticks());
	emit_thread_names();
	emit_anchor();
	error = emit_counters();
	if (error || !is_all)
		return error;
	emit_end();
	return gp_drain_finish_own(&writer.drain);
}

/* Every published record is in the file, or counted there as lost, or the error is the reason. */
static int end_trace(void)
{
	bool is_private = writer.arena.path[0] == '\0';
	int error = 0, last_error;

	while (!error && drain_rings(&error))
		;
	if (error && is_private)
		give_up_rest(error);
	last_error = emit_last(!error || is_private);
	if (last_error && gp_drain_is_block_full(&writer.drain))
		last_error = emit_last(!error || is_private);
	if (last_error && is_private) {
		/* all records fit, or were dropped before, but the final ones did not fit */
		give_up_rest(last_error);
		return emit_last(true);
	}
	return error && !is_private ? error : last_error;
}

/* The kernel closes them only at thread exit, perhaps after the end is reported. */
static void close_files(void)
{
	writer.drain.file.stays_open = false;
	gp_tracefile_close(&writer.drain.file);
	gp_arena_close(&writer.arena);
	writer.arena.stays_open = false;
}

static int finish(void)
{
	int error = end_trace();

	close_files();
	return error;
}

static void begin_thread(void)
{
	gp_profiler_thread_begin();
	gp_sys_set_thread_name("gpuprof");
	gp_store32(&writer.thread, gp_sys_thread_id());
}

static void write_until_end(void)
{
	bool is_end;

	announce(RUNNING);
	while (!gp_load32_acquire(&writer.stop) && !gp_load32_acquire(&writer.pause))
		gp_eventcount_wait(&writer.wakeup, poll_ns(pass()));
	is_end = gp_load32_acquire(&writer.stop) != 0;
	if (is_end) {
		writer.error = finish();
	} else {
		close_files();
		gp_store32_release(&gp_process_state.is_paused, 1);
	}
	gp_profiler_thread_end();
	announce(is_end ? DONE : PAUSED);
}

static void *run(void *unused)
{
	begin_thread();
	writer.error = set_up();
	if (writer.error || !gp_replace32(&writer.progress, STARTING, READY)) {
		clean_up_failure();
		gp_profiler_thread_end();
		announce(FAILED);
		return unused;
	}
	gp_thread_go_live();
	write_until_end();
	return unused;
}

static void *run_again(void *unused)
{
	begin_thread();
	writer.drain.file.stays_open = gp_sys_unshare_files() == 0;
	write_until_end();
	return unused;
}

/* ---- for the other threads ---- */

/*
 * The thread may hang at its start for ever: an allocator's lock held across a fork, a hanging file
 * system.
 */
static bool wait_for_thread(void)
{
	uint64_t start_ns = gp_sys_now_ns();
	uint32_t progress;

	while ((progress = gp_load32_acquire(&writer.progress)) == STARTING || progress == READY) {
		gp_sys_wait(&writer.progress, progress, IDLE_POLL_NS);
		if (gp_sys_now_ns() - start_ns > GP_START_TIMEOUT_S * 1000ull * NS_PER_MS &&
		    gp_replace32(&writer.progress, STARTING, ABANDONED))
			return false;
	}
	return true;
}

static int create_thread(void *(*body)(void *))
{
	pthread_t thread;
	int error;

	if (writer.config.before_thread)
		writer.config.before_thread();
	error = gp_sys.thread(&thread, body);
	/*
	 * joining takes a C library lock, which a handler that ends the process may have
	 * interrupted
	 */
	if (!error)
		pthread_detach(thread);
	if (writer.config.after_thread)
		writer.config.after_thread();
	return error;
}

int gp_writer_start(const struct gp_collector_config *config)
{
	int error;

	if (writer.is_released)
		gp_arena_unmap(&writer.arena);
	/*
	 * in a forked child: the state of its parent, except for the rings, which are not mapped
	 * here
	 */
	memset(&writer, 0, sizeof(writer));
	writer.config = *config;
	error = create_thread(run);
	if (error)
		return error;
	if (!wait_for_thread())
		return -ETIMEDOUT;
	return gp_load32_acquire(&writer.progress) == FAILED ? writer.error : 0;
}

/* If no thread can be created, the rings keep as many records as fit. */
void gp_writer_resume(void)
{
	if (!gp_replace32(&writer.progress, PAUSED, STARTING))
		return;
	gp_store32(&writer.pause, 0);
	gp_store32(&gp_process_state.is_paused, 0);
	if (create_thread(run_again) == 0)
		wait_for_thread();
	else
		announce(PAUSED);
}

static bool is_to_pause(void)
{
	/* a kill would lose the records of rings in private memory */
	return gp_collector_is_live() && writer.config.pauses_at_fork &&
	       gp_load32(&gp_process_state.cupti) == 0 && writer.arena.path[0] != '\0' &&
	       gp_load32_acquire(&writer.progress) == RUNNING && !gp_sys_is_confined();
}

/* Wait until the kernel does not count the thread any more.  An allocator may delay it. */
static void pause_for_fork(void)
{
	uint64_t give_up_ns = gp_sys_now_ns() + GP_EMIT_WAIT_NS;

	if (!is_to_pause())
		return;
	gp_store32_release(&writer.pause, 1);
	gp_eventcount_notify(&writer.wakeup);
	while (gp_sys_has_thread(gp_load32(&writer.thread)) && gp_sys_now_ns() < give_up_ns)
		gp_sys_sleep(PAUSE_POLL_NS);
}

__attribute__((constructor)) static void prepare(void)
{
	pthread_atfork(pause_for_fork, NULL, NULL);
}

/* Complete the trace on this thread: a new one would need the allocator, which a handler may have
 * interrupted. */
static void finish_here(void)
{
	uint64_t before = gp_sys_hold_signals(GP_SYS_LIBC_SIGNALS);

	writer.error = finish();
	gp_sys_drop_signal(SIGXFSZ);
	gp_sys_let_signals(before);
	announce(DONE);
}

int gp_writer_stop(uint64_t timeout_ns)
{
	uint64_t start_ns = gp_sys_now_ns();
	uint64_t passed_ns = 0;
	uint32_t progress;

	gp_thread_go_dead();
	gp_store32_release(&writer.stop, 1);
	gp_eventcount_notify(&writer.wakeup);
	while ((progress = gp_load32_acquire(&writer.progress)) != DONE && passed_ns < timeout_ns) {
		if (gp_replace32(&writer.progress, PAUSED, STARTING))
			finish_here();
		else
			gp_sys_wait(&writer.progress, progress, timeout_ns - passed_ns);
		passed_ns = gp_sys_now_ns() - start_ns;
	}
	if (gp_load32_acquire(&writer.progress) != DONE)
		return -ETIMEDOUT;
	if (writer.error)
		return writer.error;
	gp_arena_remove(&writer.arena);
	return 0;
}

void gp_writer_release(void)
{
	gp_arena_release(&writer.arena);
	writer.is_released = true;
}

void gp_writer_ends(enum gp_end_way way, uint8_t status)
{
	gp_store32(&writer.end, (uint32_t)way << 8 | status);
}

void gp_writer_request_anchor(void)
{
	gp_store32_release(&writer.wants_anchor, 1);
	gp_eventcount_notify(&writer.wakeup);
}

uint64_t gp_writer_unwritten(int *error)
{
	uint64_t totals[GP_COUNTERS];
	uint64_t records = 0;

	gp_counters_total(&writer.arena, totals);
	for (int i = 0; i < GP_WRITE_CAUSES; i++)
		records += totals[gp_write_causes[i]];
	*error = writer.drain.error;
	return records;
}

bool gp_writer_is_full(void)
{
	return gp_load32_acquire(&writer.is_full) != 0;
}

const char *gp_writer_trace_path(void)
{
	return writer.drain.file.path;
}
