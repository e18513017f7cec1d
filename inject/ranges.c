#include "inject/ranges.h"

#include <stddef.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "inject/recording_gate.h"
#include "inject/process_trace.h"

static struct gp_text_table domains = {.wanted_bytes = 1u << 20};
static struct gp_text_table messages = {.wanted_bytes = GP_TEXT_TABLE_MAX_BYTES};

#define MASK_LEVELS 32

/*
 * The open ranges of this thread, by domain; index 0 is the default one.  Counted even if nothing
 * is recorded.
 */
static __thread struct {
	uint32_t levels[GP_LEVEL_DOMAINS];
	uint32_t recorded[GP_LEVEL_DOMAINS]; /* bit set: the push to this level was recorded */
} open_ranges;

static bool enabled, recording;
static uint64_t last_range_id;
static uint64_t refused; /* not 0: a text could not be kept */
static uint64_t watcher; /* address of the function, 0 = none */

/* ---- domains and messages ---- */

struct gp_known_text *gp_ranges_domain(const char *name, uint32_t length_bytes)
{
	struct gp_text_key key = {GP_STRING_DOMAIN, 0, name, length_bytes};

	return name != NULL ? gp_text_table_add(&domains, &key) : NULL;
}

struct gp_known_text *gp_ranges_known_domain(uint64_t handle)
{
	return handle != 0 ? gp_text_table_at(&domains, handle) : NULL;
}

/* Its id in the current recording. */
static uint32_t domain_id(struct gp_known_text *domain)
{
	return domain != NULL ? gp_text_table_define(domain) : 0;
}

struct gp_known_text *gp_ranges_keep(const char *bytes, uint32_t length_bytes)
{
	struct gp_text_key key = {GP_STRING_RANGE, 0, bytes, length_bytes};
	struct gp_known_text *text = gp_text_table_add(&messages, &key);

	if (text == NULL)
		gp_store64(&refused, 1);
	return text;
}

bool gp_ranges_refused(void)
{
	return gp_load64(&refused) != 0;
}

struct gp_known_text *gp_ranges_kept(uint64_t handle)
{
	return gp_text_table_at(&messages, handle);
}

uint32_t gp_ranges_text_id(const struct gp_message *message)
{
	struct gp_text_key key = {GP_STRING_RANGE, 0, message->bytes, message->length_bytes};

	if (message->kept != NULL)
		return gp_text_table_define(message->kept);
	return message->bytes != NULL ? gp_text_table_id(&messages, &key) : 0;
}

/* ---- levels ---- */

static uint32_t index_of(const struct gp_known_text *domain)
{
	return domain != NULL ? domain->id : 0;
}

static int raise_level(uint32_t index)
{
	if (index >= GP_LEVEL_DOMAINS)
		return GP_LEVEL_UNKNOWN;
	return (int)open_ranges.levels[index]++;
}

static int lower_level(uint32_t index)
{
	if (index >= GP_LEVEL_DOMAINS)
		return GP_LEVEL_UNKNOWN;
	if (open_ranges.levels[index] == 0)
		return GP_LEVEL_NONE;
	return (int)--open_ranges.levels[index];
}

/* Unknown for deeper levels, and for domains whose levels are not counted. */
static bool is_in_mask(int level)
{
	return level >= 0 && level < MASK_LEVELS;
}

static void note_recorded(uint32_t index, int level, bool recorded)
{
	uint32_t bit;

	if (!is_in_mask(level))
		return;
	bit = (uint32_t)1 << level;
	if (recorded)
		open_ranges.recorded[index] |= bit;
	else
		open_ranges.recorded[index] &= ~bit;
}

static bool was_recorded(uint32_t index, int level)
{
	if (!is_in_mask(level))
		return gp_ranges_wanted();
	return (open_ranges.recorded[index] >> level & 1) != 0;
}

/* ---- events ---- */

void gp_ranges_watch(void (*function)(const struct gp_range_event *event))
{
	gp_store64_release(&watcher, (uintptr_t)function);
}

static __attribute__((noinline)) void notify_watcher(const struct gp_known_text *domain,
						     const struct gp_message *message,
						     struct gp_range_event *event)
{
	void (*function)(const struct gp_range_event *event) =
		(void (*)(const struct gp_range_event *))(uintptr_t)gp_load64_acquire(&watcher);

	event->domain = domain != NULL ? domain->bytes : "";
	if (message != NULL)
		event->message = message->kept != NULL ? message->kept->bytes : message->bytes;
	if (function != NULL)
		function(event);
}

static bool is_watched(void)
{
	return __builtin_expect(gp_load64(&watcher) != 0, 0);
}

void gp_ranges_enable(bool record)
{
	enabled = true;
	recording = record;
}

bool gp_ranges_are_enabled(void)
{
	return enabled;
}

bool gp_ranges_wanted(void)
{
	if (__builtin_expect(!recording || (gp_load32(&gp_watch) & GP_WATCH_CLOSED) != 0, 0))
		return false;
	return __builtin_expect(gp_collector_is_writing(), 1) || gp_process_trace_start();
}

static struct gp_record_range make_event(enum gp_range_op op, struct gp_known_text *domain)
{
	return (struct gp_record_range){
		.kind = GP_RECORD_RANGE,
		.slots = sizeof(struct gp_record_range) / GP_SLOT_BYTES,
		.op = (uint8_t)op,
		.domain_id = domain_id(domain),
	};
}

/* The clock is read last, so that our own work is outside the range. */
static void emit_opening(enum gp_range_op op, struct gp_known_text *domain,
			 const struct gp_message *message, const struct gp_range_details *details,
			 uint64_t range_id)
{
	struct gp_record_range range = make_event(op, domain);

	range.text_id = gp_ranges_text_id(message);
	range.range_id = range_id;
	if (details != NULL) {
		range.flags = details->flags;
		range.category = details->category;
		range.color_argb = details->color_argb;
		range.payload_kind = details->payload_kind;
		range.payload = details->payload;
		range.payload_id = details->payload_id;
	}
	range.ticks = gp_clock_ticks();
	gp_emit((const struct gp_record *)&range);
}

static void emit_closing(enum gp_range_op op, struct gp_known_text *domain, uint64_t range_id,
			 uint32_t payload_id)
{
	uint64_t ticks = gp_clock_ticks();
	struct gp_record_range range = make_event(op, domain);

	range.range_id = range_id;
	range.payload_id = payload_id;
	range.ticks = ticks;
	gp_emit((const struct gp_record *)&range);
}

int gp_ranges_push(struct gp_known_text *domain, const struct gp_message *message,
		   const struct gp_range_details *details)
{
	uint32_t index = index_of(domain);
	int level = raise_level(index);
	bool wanted;

	if (is_watched())
		notify_watcher(domain, message,
			       &(struct gp_range_event){.op = GP_RANGE_PUSH, .level = level});
	wanted = gp_ranges_wanted();
	if (wanted)
		emit_opening(GP_RANGE_PUSH, domain, message, details, 0);
	note_recorded(index, level, wanted);
	return level;
}

bool gp_ranges_records_pop(const struct gp_known_text *domain)
{
	uint32_t index = index_of(domain);

	if (index >= GP_LEVEL_DOMAINS)
		return was_recorded(index, GP_LEVEL_UNKNOWN);
	return open_ranges.levels[index] > 0 &&
	       was_recorded(index, (int)open_ranges.levels[index] - 1);
}

int gp_ranges_pop(struct gp_known_text *domain, uint32_t payload_id)
{
	uint32_t index = index_of(domain);
	int level = lower_level(index);

	if (level == GP_LEVEL_NONE)
		return level;
	if (was_recorded(index, level))
		emit_closing(GP_RANGE_POP, domain, 0, payload_id);
	if (is_watched())
		notify_watcher(domain, NULL,
			       &(struct gp_range_event){.op = GP_RANGE_POP, .level = level});
	return level;
}

/* The lowest bit of an id is set if the start was recorded. */
uint64_t gp_ranges_start(struct gp_known_text *domain, const struct gp_message *message,
			 const struct gp_range_details *details)
{
	uint64_t id = (gp_take64(&last_range_id, 1) + 1) << 1;

	if (is_watched())
		notify_watcher(domain, message,
			       &(struct gp_range_event){.op = GP_RANGE_START, .range_id = id >> 1});
	if (!gp_ranges_wanted())
		return id;
	emit_opening(GP_RANGE_START, domain, message, details, id | 1);
	return id | 1;
}

bool gp_ranges_records_end(uint64_t range_id)
{
	return (range_id & 1) != 0;
}

void gp_ranges_end(struct gp_known_text *domain, uint64_t range_id, uint32_t payload_id)
{
	if (gp_ranges_records_end(range_id))
		emit_closing(GP_RANGE_END, domain, range_id, payload_id);
	if (is_watched())
		notify_watcher(
			domain, NULL,
			&(struct gp_range_event){.op = GP_RANGE_END, .range_id = range_id >> 1});
}

void gp_ranges_mark(struct gp_known_text *domain, const struct gp_message *message,
		    const struct gp_range_details *details)
{
	if (gp_ranges_wanted())
		emit_opening(GP_RANGE_MARK, domain, message, details, 0);
}
