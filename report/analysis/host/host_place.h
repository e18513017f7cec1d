/*
 * host_place: a Python thread's activity at a sample (GP_RECORD_SAMPLE), in words, and the user's
 * line behind it.
 *
 * The activity is the module that the user's line imported ("importing torch._dynamo"; "importing
 * (finding or loading modules)" if none of its code ran yet); or the compiler that it was in
 * ("compiling (torch.compile)"); or else the innermost function, if that is a library's. The user's
 * line is the innermost one in the user's code (report/symbols/code_owner.h).
 *
 * A thread that only waits, for a lock, a queue, a socket or a process, is "waiting in Queue.get
 * (queue.py)", by the functions of Python's library that do so.
 */
#ifndef REPORT_ANALYSIS_HOST_HOST_PLACE_H
#define REPORT_ANALYSIS_HOST_HOST_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/loop/frame_marks.h"
#include "report/model/model.h"

struct gp_host_place {
	const char *what;    /* "" where the user's own line is all */
	const char *own;     /* "function (file:line)"; "" where none is the user's */
	uint32_t own_number; /* the same for equal ones */
	/* The function of own, "function (file)", for places that have one. */
	const char *own_function;
	uint32_t own_function_number; /* the same for equal ones */
	/*
	 * The key of places: "importing torch._dynamo"; else the user's function, "function
	 * (file)"; else the library's. Its number is below gp_host_places_functions().
	 */
	const char *function;
	uint32_t function_number;
	bool is_of_loader; /* it prepares data, by the functions of its stack (phase_marks.h) */
};

struct gp_host_places;

/* Models that are asked for must outlive it. */
struct gp_host_places *gp_host_places_new(void);
void gp_host_places_free(struct gp_host_places *places);

/*
 * The number of a stack's place, the same for equal ones.  stack
 * is an index in frames.
 */
uint32_t gp_host_places_find(struct gp_host_places *places, const struct gp_model *model,
			     uint32_t stack);

/* How many functions there are so far. */
uint32_t gp_host_places_functions(const struct gp_host_places *places);

/* Whether the activity is a verb: "importing", "compiling", "waiting"; a function is none. */
bool gp_host_place_has_verb(const struct gp_host_place *place);

/*
 * Whether the thread only waited there; and whether for another one of its process: for a lock, a
 * queue, its end.
 */
bool gp_host_place_waits(const struct gp_host_place *place);
bool gp_host_place_waits_for_thread(const struct gp_host_place *place);

/* The compiler that the thread was in there, or the import, or GP_COMPILER_NONE. */
enum gp_compiler gp_host_place_compiler(const struct gp_host_place *place);

/* The place of that number of gp_host_places_find(); it lives as long as places. */
struct gp_host_place gp_host_places_at(const struct gp_host_places *places, uint32_t number);

#endif
