#include "inject/capture_range.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "collector/atomic.h"
#include "inject/control.h"
#include "inject/ranges.h"

#define MOST_PUSHED                                                                                \
	4u /* nested ranges on one thread; deeper ones are inside a range that counts anyway */
#define MOST_STARTED 64u

/*
 * The ranges that this thread pushed.  The pointer to a domain's name is valid for the life of the
 * process.
 */
static __thread struct {
	const char *domains[MOST_PUSHED];
	int levels[MOST_PUSHED];
	uint32_t count;
} pushed;

static uint64_t started[MOST_STARTED]; /* their ids, 0 = free */

static bool is_wanted(const struct gp_range_event *event)
{
	return event->message != NULL && gp_control_wants_range(event->message, event->domain);
}

static void on_push(const struct gp_range_event *event)
{
	if (pushed.count == MOST_PUSHED || event->level < 0 || !is_wanted(event))
		return;
	pushed.domains[pushed.count] = event->domain;
	pushed.levels[pushed.count] = event->level;
	pushed.count++;
	gp_control_begin_range();
}

/* Ranges of several domains may end in any order. */
static void on_pop(const struct gp_range_event *event)
{
	for (uint32_t i = pushed.count; i-- > 0;) {
		if (pushed.levels[i] != event->level ||
		    strcmp(pushed.domains[i], event->domain) != 0)
			continue;
		pushed.count--;
		pushed.domains[i] = pushed.domains[pushed.count];
		pushed.levels[i] = pushed.levels[pushed.count];
		gp_control_end_range();
		return;
	}
}

static void on_start(const struct gp_range_event *event)
{
	if (!is_wanted(event))
		return;
	for (uint32_t i = 0; i < MOST_STARTED; i++)
		if (gp_replace64(&started[i], 0, event->range_id)) {
			gp_control_begin_range();
			return;
		}
}

static void on_end(const struct gp_range_event *event)
{
	for (uint32_t i = 0; i < MOST_STARTED && event->range_id != 0; i++)
		if (gp_replace64(&started[i], event->range_id, 0)) {
			gp_control_end_range();
			return;
		}
}

static void watch(const struct gp_range_event *event)
{
	static void (*const handlers[])(const struct gp_range_event *) = {
		[GP_RANGE_PUSH] = on_push,
		[GP_RANGE_POP] = on_pop,
		[GP_RANGE_START] = on_start,
		[GP_RANGE_END] = on_end,
	};

	handlers[event->op](event);
}

void gp_capture_range_init(void)
{
	if (gp_control_wants_ranges())
		gp_ranges_watch(watch);
}
