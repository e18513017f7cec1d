#include "inject/recording_gate.h"

#include <stddef.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/sys.h"

/* Each level includes the previous one; the gate moves one level at a time. */
enum level {
	LEVEL_OFF,    /* in CUPTI only the triggers are enabled */
	LEVEL_CLOSED, /* CUPTI reports, and callbacks exclude the calls */
	LEVEL_OPEN,
};

/*
 * The state in one word: wanted level, reached level, a thread at work, CUPTI to be switched to the
 * reached level, the reason.
 */
#define WANTED(state)  ((state)&3u)
#define REACHED(state) ((state) >> 2 & 3u)
#define BUSY           0x10u
#define CONNECT        0x20u
#define REASON(state)  ((state) >> 8)

#define GAPS 8192u /* closed periods whose calls are remembered */

static struct {
	uint32_t state;
	uint32_t process_id; /* the process whose CUPTI is switched, 0 = none so far */
	uint64_t closed_ns;  /* time of the last closing */
	uint32_t is_held;    /* CUPTI stays on */
	uint64_t connected;  /* void (*)(bool) */
	uint32_t gap;        /* the latest entry of gaps */
	/*
	 * first << 32 | last correlation id excluded in a closed period; 0 in either half = none
	 * yet
	 */
	uint64_t gaps[GAPS];
	uint32_t admitted; /* the highest correlation id that was recorded; 0 if not counted */
} gate;

uint32_t gp_watch;

void gp_watch_set(uint32_t bits)
{
	gp_or32(&gp_watch, bits);
}

void gp_watch_clear(uint32_t bits)
{
	gp_clear32(&gp_watch, bits);
}

/* ---- excluded calls ---- */

#define FIRST(gap) ((uint32_t)((gap) >> 32))
#define LAST(gap)  ((uint32_t)(gap))

/* Correlation ids wrap around. */
static bool is_before(uint32_t one, uint32_t other)
{
	return (int32_t)(one - other) < 0;
}

static void note_first(uint32_t gap_number, uint32_t first)
{
	uint64_t *gap = &gate.gaps[gap_number % GAPS], old;

	if (first == 1 && gap_number != 0) /* not counted */
		return;
	do {
		old = gp_load64(gap);
	} while (!gp_replace64(gap, old, (uint64_t)first << 32 | LAST(old)));
}

static void note_last(uint32_t gap_number, uint32_t id)
{
	uint64_t *gap = &gate.gaps[gap_number % GAPS], old;
	uint32_t first;

	do {
		old = gp_load64(gap);
		if (LAST(old) != 0 && !is_before(LAST(old), id))
			return;
		first = FIRST(old) != 0 ? FIRST(old) : id;
	} while (!gp_replace64(gap, old, (uint64_t)first << 32 | id));
}

static void note_admitted(uint32_t id)
{
	uint32_t old;

	do {
		old = gp_load32(&gate.admitted);
		if (old != 0 && !is_before(old, id))
			return;
	} while (!gp_replace32(&gate.admitted, old, id));
}

/*
 * The closing thread raises the flag and then reads the highest admitted id; here the order is
 * opposite, so that an admitted call is never in the gap.
 */
bool gp_recording_gate_admits(uint32_t correlation_id)
{
	if (!(gp_load32(&gp_watch) & GP_WATCH_CLOSED)) {
		note_admitted(correlation_id);
		if (!(gp_clear32(&gp_watch, 0) & GP_WATCH_CLOSED))
			return !gp_recording_gate_has_excluded(correlation_id);
	}
	note_last(gp_load32_acquire(&gate.gap), correlation_id);
	return false;
}

/*
 * From the latest gap backwards: ids decrease.  A gap without calls tells nothing: an earlier one
 * may begin with the same id, if no call was admitted between both.
 */
bool gp_recording_gate_has_excluded(uint32_t correlation_id)
{
	uint32_t latest = gp_load32_acquire(&gate.gap);

	for (uint32_t i = 0; i <= latest && i < GAPS; i++) {
		uint64_t gap = gp_load64(&gate.gaps[(latest - i) % GAPS]);

		if (FIRST(gap) != 0 && LAST(gap) != 0 && !is_before(correlation_id, FIRST(gap)))
			return !is_before(LAST(gap), correlation_id);
	}
	return false;
}

/* ---- opening and closing ---- */

static void switch_cupti(bool on)
{
	void (*connected)(bool) = (void (*)(bool))(uintptr_t)gp_load64_ordered(&gate.connected);

	if (connected != NULL)
		connected(on);
}

static void emit(bool on, enum gp_gate_reason reason)
{
	struct gp_record_gate record = {
		.kind = GP_RECORD_GATE,
		.slots = sizeof(record) / GP_SLOT_BYTES,
		.on = on,
		.reason = (uint8_t)reason,
		.ticks = gp_clock_ticks(),
	};

	gp_emit((const struct gp_record *)&record);
	gp_collector_request_anchor();
}

static void open_up(enum gp_gate_reason reason)
{
	emit(true, reason);
	gp_watch_clear(GP_WATCH_CLOSED);
}

static void close_down(enum gp_gate_reason reason)
{
	uint32_t gap = gp_load32(&gate.gap) + 1;

	gp_store64(&gate.gaps[gap % GAPS], 0);
	gp_store32_release(&gate.gap, gap);
	gp_watch_set(GP_WATCH_CLOSED);
	note_first(gap, gp_add32(&gate.admitted, 0) + 1);
	gp_store64(&gate.closed_ns, gp_sys_now_ns());
	emit(false, reason);
}

static enum level move(enum level from, enum level to, enum gp_gate_reason reason)
{
	if (from == LEVEL_OFF) {
		switch_cupti(true);
		return LEVEL_CLOSED;
	}
	if (from == LEVEL_OPEN) {
		close_down(reason);
		return LEVEL_CLOSED;
	}
	if (to == LEVEL_OPEN)
		open_up(reason);
	else
		switch_cupti(false);
	return to;
}

static void note_reached(enum level level)
{
	uint32_t old;

	do {
		old = gp_load32(&gate.state);
	} while (!gp_replace32(&gate.state, old, (old & ~0xcu) | (uint32_t)level << 2));
}

/* By the one thread that has set BUSY. */
static void work(void)
{
	for (;;) {
		uint32_t old = gp_load32_acquire(&gate.state);

		if (old & CONNECT) {
			if (gp_replace32(&gate.state, old, old & ~CONNECT))
				switch_cupti(REACHED(old) != LEVEL_OFF);
		} else if (REACHED(old) != WANTED(old)) {
			note_reached(move(REACHED(old), WANTED(old), REASON(old)));
		} else if (gp_replace32(&gate.state, old, old & ~BUSY)) {
			return;
		}
	}
}

/*
 * Returns once the change is made, or left to the working thread; false = the state has changed
 * meanwhile.
 */
static bool change(uint32_t old, uint32_t new)
{
	if (!gp_replace32(&gate.state, old, new | BUSY))
		return false;
	if (!(old & BUSY))
		work();
	return true;
}

void gp_recording_gate_init(bool open)
{
	uint32_t level = open ? LEVEL_OPEN : LEVEL_OFF;

	gp_watch_clear(UINT32_MAX);
	gate.state = level | level << 2;
	if (open)
		return;
	gp_watch_set(GP_WATCH_CLOSED);
	note_first(0, 1);
}

void gp_recording_gate_connect(void (*switch_function)(bool on))
{
	uint32_t old;

	gate.process_id = gp_sys_process_id();
	gp_swap64(&gate.connected, (uintptr_t)switch_function);
	do {
		old = gp_load32(&gate.state);
	} while (!change(old, old | CONNECT));
}

void gp_recording_gate_set(bool open, enum gp_gate_reason reason)
{
	uint32_t old, level;

	if (gate.process_id != 0 && gate.process_id != gp_sys_process_id())
		return; /* CUPTI belongs to the parent */
	do {
		old = gp_load32(&gate.state);
		if (open == (WANTED(old) == LEVEL_OPEN))
			return;
		level = open ? LEVEL_OPEN : LEVEL_CLOSED;
	} while (!change(old, (old & ~0xff03u) | level | (uint32_t)reason << 8));
}

bool gp_recording_gate_is_open(void)
{
	return WANTED(gp_load32(&gate.state)) == LEVEL_OPEN;
}

void gp_recording_gate_hold(bool held)
{
	gp_store32(&gate.is_held, held);
}

bool gp_recording_gate_is_off(void)
{
	uint32_t state = gp_load32_acquire(&gate.state);

	return REACHED(state) == LEVEL_OFF && WANTED(state) == LEVEL_OFF && !(state & BUSY);
}

bool gp_recording_gate_was_open_since(uint64_t since_ns)
{
	return gp_recording_gate_is_open() || gp_load64(&gate.closed_ns) >= since_ns;
}

void gp_recording_gate_emit_start(void)
{
	emit(gp_recording_gate_is_open(), GP_GATE_START);
}

uint64_t gp_recording_gate_poll(uint64_t now_ns)
{
	uint32_t old = gp_load32(&gate.state);
	uint64_t due_ns = gp_load64(&gate.closed_ns) + GP_RECORDING_GATE_LINGER_NS;

	if (WANTED(old) != LEVEL_CLOSED || (old & BUSY) || gp_load32(&gate.is_held))
		return UINT64_MAX;
	if (now_ns < due_ns)
		return due_ns - now_ns;
	if (gp_load32(&gp_watch) & GP_WATCH_WINDOW)
		return GP_RECORDING_GATE_LINGER_NS;
	change(old, (old & ~3u) | LEVEL_OFF); /* fails if the gate was opened at this moment */
	return UINT64_MAX;
}
