/*
 * function_samples: reads the stack samples of a trace that has each call of Python's functions.
 *
 * Such a trace tells exactly where a thread was at any time. All that gpuprof says about the host's
 * work rests on stack samples, so the stacks are read at equal distances. Their number depends on
 * the recorded time, not on the number of calls.
 */
#include <errno.h>
#include <stdio.h>

#include "report/base/text/format.h"
#include "report/import/importing.h"

/*
 * 1/50 of the interval at which gpuprof samples a program, so that steps of a millisecond have some
 * samples; a thread that changes its stack all the time has 10,000 a second, of 40 bytes each.
 */
#define INTERVAL_NS 100000u

/* A walk over the functions of a thread, in order of time. */
struct reading {
	struct gp_importing *im;
	struct {
		uint64_t end_ns;
		uint32_t frame;
	} open[GP_FRAME_DEPTH];
	uint32_t count;
	uint32_t thread_id;
	uint64_t until_ns; /* samples before are read */
	/* samples of one stack that follow each other, not yet written: [first, end) intervals */
	uint32_t frame; /* 0 = none */
	uint64_t first, end;
};

/* Writes the pending samples. */
static int put(struct reading *r)
{
	union gp_any_record record = {0};
	uint64_t count = r->end - r->first;

	if (r->frame == 0)
		return 0;
	record.sample = (struct gp_record_sample){
		.thread_id = r->thread_id,
		.start_ticks = r->first * INTERVAL_NS,
		.duration_ticks = (count - 1) * INTERVAL_NS,
		.stack_id = r->frame,
		.count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX,
	};
	r->frame = 0;
	r->im->builder->model->function_interval_ns = INTERVAL_NS;
	gp_import_note_time(r->im, record.sample.start_ticks,
			    record.sample.start_ticks + record.sample.duration_ticks);
	return gp_import_record(r->im, GP_RECORD_SAMPLE, &record);
}

static uint64_t first_interval_from(uint64_t time_ns)
{
	return (time_ns + INTERVAL_NS - 1) / INTERVAL_NS;
}

/* Reads the innermost function's samples up to a time. */
static int read_until(struct reading *r, uint64_t time_ns)
{
	uint64_t first = first_interval_from(r->until_ns), end = first_interval_from(time_ns);
	uint32_t frame = r->count > 0 ? r->open[r->count - 1].frame : 0;
	int result = 0;

	if (time_ns > r->until_ns)
		r->until_ns = time_ns;
	if (first >= end || frame == 0)
		return 0;
	if (r->frame != frame || r->end != first) {
		result = put(r);
		r->frame = frame;
		r->first = first;
	}
	r->end = end;
	return result;
}

/* Leaves the functions that end by then. */
static int leave(struct reading *r, uint64_t time_ns)
{
	int result = 0;

	for (; result == 0 && r->count > 0 && r->open[r->count - 1].end_ns <= time_ns; r->count--)
		result = read_until(r, r->open[r->count - 1].end_ns);
	return result;
}

/* A function without an end lasts as long as its caller, or to the last record. */
static uint64_t end_of(const struct reading *r, const struct gp_import_span *span)
{
	if (span->end_ns != GP_IMPORT_OPEN)
		return span->end_ns;
	if (r->count > 0)
		return r->open[r->count - 1].end_ns;
	return r->im->last_ns > span->start_ns ? r->im->last_ns : span->start_ns;
}

static int enter(struct reading *r, const struct gp_import_span *span)
{
	struct gp_record_frame frame = {.frame_kind = GP_FRAME_PYTHON, .origin_id = span->text};
	int result = leave(r, span->start_ns);

	if (result == 0)
		result = read_until(r, span->start_ns);
	if (result != 0 || r->count == GP_FRAME_DEPTH)
		return result;
	frame.parent_id = r->count > 0 ? r->open[r->count - 1].frame : 0;
	r->open[r->count].end_ns = end_of(r, span);
	r->open[r->count].frame = gp_import_frame(r->im, &frame);
	return r->open[r->count++].frame != 0 ? 0 : -ENOMEM;
}

static int end_thread(struct reading *r)
{
	int result = leave(r, UINT64_MAX);

	return result == 0 ? put(r) : result;
}

static int take(struct reading *r, const struct gp_import_span *span)
{
	int result = r->thread_id != span->thread_id ? end_thread(r) : 0;

	if (r->thread_id != span->thread_id)
		r->until_ns = span->start_ns;
	r->thread_id = span->thread_id;
	return result == 0 ? enter(r, span) : result;
}

static int tell(struct gp_importing *im)
{
	char *note;

	if (im->builder->model->function_interval_ns == 0)
		return 0;
	if (asprintf(
		    &note,
		    "host work is read from the recorded Python functions, every %s; a function's line is the one where it was first recorded",
		    gp_format_ns(INTERVAL_NS).text) < 0)
		return -ENOMEM;
	return gp_model_builder_note(im->builder, note);
}

int gp_import_function_samples(struct gp_importing *im)
{
	struct reading reading = {.im = im};
	int result = 0;

	for (uint32_t i = 0; i < im->functions.count && result == 0; i++)
		if (im->functions.spans[i].is_python)
			result = take(&reading, &im->functions.spans[i]);
	if (result == 0)
		result = end_thread(&reading);
	return result == 0 ? tell(im) : result;
}
