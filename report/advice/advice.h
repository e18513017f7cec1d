/*
 * advice: the findings of the rules of report/advice/rules/.  Costs that recur in the main loop come
 * before one-time costs, and of these those that save most.
 *
 * A finding is what a rule found at one place of the program.  If several processes do the same
 * there, it is one finding with the values of the process that could save most: processes run in
 * parallel.
 *
 * The saving of a finding is an upper bound: a program cannot become faster than its GPU work.
 */
#ifndef REPORT_ADVICE_ADVICE_H
#define REPORT_ADVICE_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/analysis/idle/idle_cause.h"
#include "report/document/document.h"
#include "report/model/process_name.h"
#include "report/symbols/symbols.h"

struct gp_advisor;
struct gp_case;

/* A limit of a rule: an integer constant of its code, and a row of `gpuprof explain`. */
struct gp_limit {
	const char *id; /* NULL ends a table */
	uint64_t value;
	enum gp_unit unit;
	const char *reason;
};

/*
 * A table of limits is a macro that calls its argument with (id, value, unit without GP_UNIT_,
 * reason) for each row.  GP_LIMITS() makes the constants, and the array limits[] for gp_rule.
 */
#define GP_LIMIT_VALUE(id, value, unit, reason) id = (value),
#define GP_LIMIT_ROW(id, value, unit, reason)   {#id, (value), GP_UNIT_##unit, reason},
#define GP_LIMITS(table)                                                                           \
	enum { table(GP_LIMIT_VALUE) };                                                            \
	static const struct gp_limit limits[] = {table(GP_LIMIT_ROW){.id = NULL}}

/* A case becomes a finding if it reaches all of these; 0 = any value does. */
struct gp_rule_threshold {
	double saves_percent; /* of the recorded time; of the main loop, for its part of the case */
	uint64_t saves_ns;
	uint64_t count;
	uint64_t bytes;
	/* In place of the first two, for short runs: more percent of less time.  0, 0 = nothing. */
	double or_percent;
	uint64_t or_ns;
	const char *reason;
};

struct gp_rule {
	const char *id; /* one word: `gpuprof explain ID` */
	const char *title;
	/* The sentences of a finding (report/advice/sentence.h), without a full stop at the end. */
	const char *found, *change;
	/* The texts of `gpuprof explain`: sentences over the rule's limits. */
	const char *meaning, *remedy, *ignore;
	struct gp_rule_threshold threshold;
	const char *exception; /* which cases the threshold does not hold back; NULL: none */
	const struct gp_limit *limits;
	const char *at;     /* the preposition before the place in brief output; NULL: "at" */
	bool is_once;       /* a cost that a run has once, however long it is */
	bool is_moved;      /* a change takes the time out of the measurement, not out of the run */
	bool is_of_results; /* results may be wrong: such findings come first */
	bool is_of_gpu;     /* the GPU work becomes shorter: more than its idle time can be saved */
	bool takes_explained;      /* also takes idle gaps that an earlier rule has explained */
	bool is_placed_by_samples; /* a case without a site has the place of its samples */
	size_t own_bytes;          /* the size of gp_case.own */
	/* One of these: makes the cases of the present process, or of all processes at once. */
	void (*look)(struct gp_advisor *advisor);
	void (*look_at_all)(struct gp_advisor *advisor);
	/* Adds the rule's own values that found and change use.  NULL: there are none. */
	void (*add_values)(const struct gp_advisor *advisor, const struct gp_case *found,
			   struct gp_document *values);
	/* Whether the second clause of found names the place to look at.  NULL: it never does. */
	bool (*names_place)(const struct gp_case *found);
};

/* In the order in which they look: an idle gap belongs to the first that explains it.  Ends with NULL. */
extern const struct gp_rule *const gp_rules[];

/* NULL if none is called that. */
const struct gp_rule *gp_rule_find(const char *id);

struct gp_finding {
	const struct gp_rule *rule;
	uint64_t count;                 /* of the calls, gaps or kernels of the finding */
	uint64_t time_ns;               /* of the host or the GPU, in all of them */
	uint64_t saves_ns;              /* of the run time, at most; 0 if a change only moves it */
	uint32_t processes;             /* that have the finding ... */
	uint32_t pid;                   /* ... and the one whose values these are */
	struct gp_process_name process; /* its name */
	uint64_t saves_in_loop_ns;      /* the part of saves_ns in its steps after the warm-up */
	uint64_t step_ns;               /* the average of these steps */
	uint32_t loop_steps;            /* their number; 0 = the advice has no loop */
	uint64_t bytes;                 /* 0 = the finding has none */
	uint64_t show_at_ns,
		show_ns; /* a usual or its longest call or gap, from the scope's start; 0, 0 = none */
	struct gp_document values; /* the values that its sentences use; of the rule from */
	uint32_t common_values;    /* ... this index on */
	char *found, *change;
	char *place, *callers; /* the call site (report/symbols/call_site.h); "" = none */
	size_t apart_bytes;    /* the part of callers that distinguishes it from equal places */
	enum gp_naming naming; /* of the place */
	bool names_place;      /* gp_rule.names_place() */
	bool is_doubtful;      /* it may be harmless: such findings come last */
	bool recurs;           /* no one-time cost, as far as is known */
};

/* Idle time of one cause that no finding explains. */
struct gp_unexplained {
	enum gp_idle_cause cause;
	uint64_t ns;
	uint64_t before_ns, after_ns; /* before the GPU's first operation, after its last one */
	uint64_t count, longest_ns;   /* of the gaps between operations with mostly this cause */
	char *place; /* of host-bound time: where most of it ends ("at main (a.cu:7)"), or NULL */
	uint64_t place_ns; /* ... and how much does */
	uint64_t few;      /* copy-bound: a place with so many copies would need more; 0 = none */
	bool is_little;    /* copy-bound: each place could save something, but too little */
};

/* From the start of a process to its first call, which is before the recorded time. */
struct gp_before {
	uint64_t ns; /* 0: it is not the largest one-time cost */
	bool is_python;
	struct gp_process_name process; /* the one that took longest */
};

/* The line with most GPU time of the steps. */
struct gp_largest {
	char *place;        /* NULL: none has much */
	uint64_t ns, of_ns; /* of all operations of the steps */
};

struct gp_advice {
	struct gp_finding *findings; /* what recurs first; then by saving */
	uint32_t count, capacity;
	uint32_t once_count; /* the last ones: one-time costs of a program with a main loop */
	size_t process_count;
	uint64_t span_ns;      /* the recorded time: first call to last call, without pauses */
	uint64_t idle_most_ns; /* the most that the busiest GPU of a process was idle */
	/* The steps of the main process after their warm-up; 0 = there are too few. */
	uint64_t loop_ns;
	uint32_t loop_steps;
	struct gp_largest largest; /* if no finding recurs */
	struct gp_before before;
	const char
		*doubt; /* why operations may be missing, and gaps shorter; NULL: none is missing */
	struct gp_process_name
		doubtful;      /* the first process of several of which that is true, ... */
	size_t doubtful_count; /* ... and how many there are */
	bool is_damaged;       /* a part of a trace cannot be read */
	bool lacks_stacks;     /* a finding lacks its line, and gpuprof could record it */
	bool lacks_unified;    /* managed memory is used, and its migrations were not recorded */
	uint64_t failures;     /* failed calls, if there is no finding */
	const char *
		why_no_end; /* if there is no finding: of a process without an end; NULL: all end */
	/* Of the GPU that worked most. */
	uint64_t wall_ns, idle_ns;              /* wall_ns 0 = no GPU worked */
	enum gp_idle_cause idle_cause;          /* of most of its idle time */
	uint64_t idle_before_ns, idle_after_ns; /* before its first operation, after its last one */
	uint32_t gpus;                          /* that worked */
	struct gp_unexplained
		unexplained[GP_IDLE_CAUSES]; /* a quarter of its time and 20 ms, or more */
	uint32_t unexplained_count;
	bool has_samples; /* there are Python samples: they show the host's activity */
};

/*
 * Models without calls count as nothing.  Returns 0, -ENOMEM or -EOVERFLOW; gp_advice_free() in
 * either case.
 */
int gp_advice_of(struct gp_model *const *models, size_t model_count, struct gp_advice *advice);

/* The same from their analysis, whose idle gaps are marked as explained. */
struct gp_analysis;
void gp_advice_from(struct gp_analysis *basis, struct gp_model *const *models, size_t model_count,
		    struct gp_advice *advice);

void gp_advice_free(struct gp_advice *advice);

#endif
