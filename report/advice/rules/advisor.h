/*
 * advisor: what the rules of advice read, and the cases that they make (report/advice/advice.h).
 *
 * A rule walks over the calls, operations or idle gaps of the present process.  It adds each that it
 * is about to the case of its place.  A case belongs to one process; of the cases that several
 * processes have at a place, the one with the largest saving becomes the finding.
 */
#ifndef REPORT_ADVICE_RULES_ADVISOR_H
#define REPORT_ADVICE_RULES_ADVISOR_H

#include "report/advice/advice.h"
#include "report/advice/rules/limits.h"
#include "report/advice/rules/shown.h"
#include "report/analysis/analysis.h"
#include "report/analysis/idle/startup_shutdown.h"
#include "report/analysis/memory/memory_sites.h"
#include "report/symbols/call_site.h"
#include "report/tables/breakdown_scope.h"

/* What one process did at one place, as far as one rule is concerned. */
struct gp_case {
	uint32_t rule;                 /* index in gp_rules */
	uint32_t site;                 /* for gp_call_sites_at(), or GP_NO_SITE */
	uint64_t detail, other_detail; /* the rest of its key; the rule defines them */
	size_t process;
	uint64_t count, time_ns, bytes;
	uint64_t saves_ns;         /* at most */
	uint64_t saves_in_loop_ns; /* the part of that in the process's main loop */
	uint64_t count_in_loop, time_in_loop_ns;
	bool is_grave;                 /* a finding whatever the threshold is */
	bool is_doubtful;              /* may be harmless: the finding comes last */
	uint64_t votes_ns;             /* of its site (gp_advisor_vote()) */
	void *own;                     /* own_bytes of the rule, zero at first */
	struct gp_shown longest;       /* its longest call or gap */
	struct gp_shown_sample sample; /* of those in the loop's steps; of all, if there is none */
};

#define GP_NO_SITE UINT32_MAX

/* Time of the present process of which a case could save a share. */
struct gp_stretch {
	uint64_t start_ns, end_ns;
	uint64_t until_ns; /* later idle time is not due to it */
	uint32_t number;   /* of the case */
	float share;
};

/* Indices of calls of the present process, in its order. */
struct gp_call_list {
	uint32_t *indices;
	uint32_t count, capacity;
};
#define GP_ADVISOR_CLASSES (GP_API_MODULE + 1)

struct gp_advisor {
	int error; /* 0 or the first -errno */

	/* all processes */
	struct gp_scope scope; /* models, texts, names */
	struct gp_analysis *basis;
	struct gp_call_sites *sites;
	struct gp_kinds *kinds;        /* of kernels */
	const struct gp_steps **loops; /* the main loop of each process; NULL = none */
	uint64_t span_ns;              /* the recorded time */
	/* of gp_analysis_main_process(), if it has enough steps; else NULL */
	const struct gp_steps *loop;
	uint64_t loop_ns; /* of its steps after the warm-up */
	/* operations of collectives that late-rank compared between ranks */
	uint64_t matched_collectives;
	uint64_t idle_ns; /* the longest idle time of a process's busiest GPU: a limit of savings */

	/* the present process */
	size_t process;
	bool is_outside; /* the present gap is not in the loop's steps after the warm-up */
	const struct gp_model *model;
	const struct gp_tuning *tuning;
	size_t devices[GP_DEVICE_LIMIT]; /* by its device ids: indices in the scope's list */
	struct gp_call_list calls[GP_ADVISOR_CLASSES]; /* for gp_advisor_calls() */
	uint32_t *sites_without_stack;   /* by API function, GP_NO_SITE = not looked up yet */
	struct gp_memory_sites memory;   /* for gp_advisor_memory() ... */
	struct gp_startup_shutdown ends; /* ... and gp_advisor_ends(), which make them */
	bool has_memory, has_ends;
	bool *is_claimed; /* by operation, for gp_advisor_claim(); NULL: none is */
	struct gp_measured_kernels *measured; /* report/advice/rules/measured_kernels.h */

	/* the present rule */
	uint32_t rule;
	void *state;               /* what its callbacks share while it looks */
	struct gp_idle_gap **told; /* the idle gaps that it explains */
	uint32_t told_count, told_capacity;
	struct gp_stretch *stretches; /* for gp_advisor_save_once() */
	uint32_t stretch_count, stretch_capacity;

	/* the cases */
	struct gp_tally index; /* by key; its rows and cases[] are parallel */
	struct gp_case *cases;
	uint32_t case_count, case_capacity;
	struct gp_case spare;      /* in place of a case, without memory */
	struct gp_tally host_work; /* Python samples by case (report/tables/host_work.h) */
};

/* ---- cases ---- */

/*
 * The case of the present rule and process with that key, made if necessary.  Of idle gaps within
 * and outside of the loop these are two.  It is valid until the next case is made, its own memory
 * until the end.  Never NULL: error tells.
 */
struct gp_case *gp_advisor_case(struct gp_advisor *advisor, uint32_t site, uint64_t detail,
				uint64_t other_detail);

/* The next case of the present rule and process from an index on, which it moves; NULL: no more. */
struct gp_case *gp_advisor_next_case(const struct gp_advisor *advisor, uint32_t *index);

/* In the key of a case in the index: twice its process, and 1 outside of the loop. */
#define GP_CASE_PROCESS 4

/*
 * One more call, gap or operation of a case, at a time of the process, with its duration and the
 * saving.  idle_gap, if not NULL, is explained by it if the case becomes a finding, as with
 * gp_advisor_tell().
 */
void gp_advisor_add(struct gp_advisor *advisor, struct gp_case *found, uint64_t at_ns,
		    uint64_t time_ns, uint64_t saves_ns, struct gp_idle_gap *idle_gap);
void gp_advisor_tell(struct gp_advisor *advisor, const struct gp_case *found,
		     struct gp_idle_gap *idle_gap);
#define GP_ALL_THE_TIME UINT64_MAX /* for at_ns: all of it counts as in the loop */

/* Count one more, without a saving. */
void gp_advisor_count(const struct gp_advisor *advisor, struct gp_case *found, uint64_t at_ns,
		      uint64_t time_ns);

/* A saving of a case, at a time of the process. */
void gp_advisor_save(const struct gp_advisor *advisor, struct gp_case *found, uint64_t at_ns,
		     uint64_t saves_ns);

/*
 * A share of that time could be saved.  gp_advisor_save_once() adds all such stretches of the
 * present rule and process to their cases, and counts a moment of a case once: threads and copies
 * can overlap.
 */
void gp_advisor_stretch(struct gp_advisor *advisor, const struct gp_case *found, uint64_t start_ns,
			uint64_t end_ns, double share);
void gp_advisor_save_once(struct gp_advisor *advisor);

/*
 * The same for a call that keeps the host from its next launches.  It saves no more than the longest
 * idle time of a device from its start until until_ns, or the next stretch of its case: the GPU may
 * be idle only after the call, as after a free.
 */
void gp_advisor_stretch_until(struct gp_advisor *advisor, const struct gp_case *found,
			      const struct gp_call *call, uint64_t until_ns);
void gp_advisor_save_idle_once(struct gp_advisor *advisor);

/*
 * A call, idle gap or other time of the case: one with a usual cost is shown in the timeline, if the
 * case recurs, else the longest.  Of a wait it is the time up to the end of the idle gap behind it,
 * and the cost is its saving.  If a call has no stack, Python samples of its thread can show the line
 * (gp_advisor_look_at()).
 */
void gp_advisor_show(struct gp_advisor *advisor, struct gp_case *found, const struct gp_call *call);
void gp_advisor_show_wait(struct gp_advisor *advisor, struct gp_case *found,
			  const struct gp_call *call, const struct gp_idle_gap *after,
			  uint64_t saves_ns);
void gp_advisor_show_idle_gap(const struct gp_advisor *advisor, struct gp_case *found,
			      const struct gp_idle_gap *idle_gap);
void gp_advisor_show_time(const struct gp_advisor *advisor, struct gp_case *found,
			  uint64_t start_ns, uint64_t duration_ns);
void gp_advisor_look_at(struct gp_advisor *advisor, const struct gp_case *found,
			const struct gp_call *call, uint64_t end_ns);

/*
 * The line of the program with half of these samples or more, else its function, "step (train.py)";
 * "": there are too few samples, or at too many places.
 */
struct gp_seen {
	const char *place;
	bool is_line;
	uint64_t count, all; /* samples there, and all */
};
struct gp_seen gp_advisor_seen(const struct gp_advisor *advisor, const struct gp_case *found);

/*
 * Choose by majority (Boyer and Moore): add the weight of one candidate.  The candidate with more
 * than half of the weight wins, else any with much.
 */
void gp_vote(uint64_t *winner, uint64_t *votes, uint64_t candidate, uint64_t weight);

/* The same for the site of a case. */
void gp_advisor_vote(struct gp_case *found, uint32_t site, uint64_t ns);

/*
 * Whether a case is grave or reaches its rule's threshold: with all of it for the recorded time, or
 * with its part in the loop for that loop's time, which is what recurs.  So a short run reports what
 * is mostly startup, and startup does not count against a loop.
 */
bool gp_advisor_recurs(const struct gp_advisor *advisor, const struct gp_case *found);
bool gp_advisor_is_worth(const struct gp_advisor *advisor, const struct gp_case *found);

/* ---- values of a finding ---- */

/* A number for a text, as a detail of a case; and the text of that number. */
uint64_t gp_advisor_text(struct gp_advisor *advisor, const char *text);
const char *gp_advisor_text_of(const struct gp_advisor *advisor, uint64_t number);

/* Add the name of an API function; the place of a site, if it is known; what a function prints. */
uint64_t gp_advisor_api(struct gp_advisor *advisor, const struct gp_call *call);
void gp_advisor_add_text(const struct gp_advisor *advisor, struct gp_document *values,
			 const char *id, uint64_t number);
void gp_advisor_add_place(const struct gp_advisor *advisor, struct gp_document *values,
			  const char *id, uint32_t site);

/* ---- sites ---- */

/* The site of a call of the present process. */
uint32_t gp_advisor_site(struct gp_advisor *advisor, const struct gp_call *call);

/* Whether it is a site, and its calls had stacks. */
bool gp_advisor_knows(const struct gp_advisor *advisor, uint32_t site);

/* A site of another list, in the advisor's list. */
uint32_t gp_advisor_same_site(struct gp_advisor *advisor, const struct gp_call_sites *others,
			      uint32_t site);

/* ---- the present process ---- */

/* Its time before the first and after the last operation; its memory by call site.  NULL: error. */
const struct gp_startup_shutdown *gp_advisor_ends(struct gp_advisor *advisor);
const struct gp_memory_sites *gp_advisor_memory(struct gp_advisor *advisor);

static inline uint8_t gp_advisor_class(const struct gp_advisor *advisor, const struct gp_call *call)
{
	return gp_model_api_class(advisor->model, call->api);
}

/* Whether a library tries out kernels with that call (report/analysis/host/tuning.h). */
static inline bool gp_advisor_tunes(const struct gp_advisor *advisor, const struct gp_call *call)
{
	const struct gp_tuning *tuning = advisor->tuning;

	return (call->stack != GP_NONE && tuning->marks[call->stack].tuner != GP_TUNER_NONE) ||
	       (call->first_op != GP_NONE && tuning->of[call->first_op] != GP_TUNER_NONE);
}

/*
 * The calls of one class: copies, memsets and synchronizations that are not of tuning, and calls
 * that load code.  Launches, which are most calls, need not be read for these.
 */
static inline const struct gp_call_list *gp_advisor_calls(const struct gp_advisor *advisor,
							  enum gp_api_class class)
{
	return &advisor->calls[class];
}

static inline const struct gp_call *gp_advisor_call(const struct gp_advisor *advisor,
						    const struct gp_call_list *list, uint32_t at)
{
	return &advisor->model->calls[list->indices[at]];
}

/* The first operation of a call; NULL: it has none, or it has no times. */
const struct gp_op *gp_advisor_op(const struct gp_advisor *advisor, const struct gp_call *call);

/*
 * The GPU time of an operation, by its index, counts for the present rule's finding: later rules that
 * save GPU time leave it out.
 */
void gp_advisor_claim(struct gp_advisor *advisor, uint32_t op);

static inline bool gp_advisor_is_claimed(const struct gp_advisor *advisor, uint32_t op)
{
	return advisor->is_claimed && advisor->is_claimed[op];
}

/* How long a device of the process was busy in that time. */
uint64_t gp_advisor_busy_ns(const struct gp_advisor *advisor, uint16_t device_id, uint64_t start_ns,
			    uint64_t end_ns);

/* ---- idle gaps ---- */

/* gp_idle_gaps_at() for a device and time of the process. */
struct gp_idle_gap *gp_advisor_idle_gap_at(const struct gp_advisor *advisor, uint16_t device_id,
					   uint64_t time_ns);

/* The gap at the end of a call, on the device of its operation, else of its context. */
struct gp_idle_gap *gp_advisor_idle_gap_after(const struct gp_advisor *advisor,
					      const struct gp_call *call);

/* Take up to ns of a gap for the present rule: returns how much it had not taken yet. */
uint64_t gp_advisor_take(const struct gp_advisor *advisor, struct gp_idle_gap *idle_gap,
			 uint64_t ns);

/* The part of a gap in which no launched operation was waiting: the host can have caused it. */
uint64_t gp_advisor_host_part_ns(const struct gp_idle_gap *idle_gap);

/* How long a call waited for the GPU, with its return. */
uint64_t gp_advisor_waited_ns(const struct gp_advisor *advisor, const struct gp_call *call);

/* The next gap of its device; NULL: it is the last one. */
struct gp_idle_gap *gp_advisor_next_idle_gap(const struct gp_advisor *advisor,
					     const struct gp_idle_gap *idle_gap);

/*
 * The saving if the program does not wait in a call: at most its wait, most_ns, and the idle time of
 * the GPU right after it that no other call has taken.  Ask once for each call.  *idle_gap becomes
 * that gap if this is half of it or more, else NULL.
 */
uint64_t gp_advisor_wait_saves_ns(struct gp_advisor *advisor, const struct gp_call *call,
				  uint64_t most_ns, struct gp_idle_gap **idle_gap);

/* An idle gap that ended with an operation of the present process. */
struct gp_idle_gap_at {
	struct gp_idle_gap *idle_gap;
	const struct gp_op *before, *after;
	const struct gp_call *call_before; /* NULL = not known, or of another process */
	const struct gp_call *call_after;  /* never NULL */
};

/*
 * Call take for each gap of that length or longer that no other rule explains (but see
 * gp_rule.takes_explained) and that the filter, if there is one, lets through.
 */
typedef bool gp_idle_gap_filter(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at);
typedef void gp_idle_gap_take(struct gp_advisor *advisor, const struct gp_idle_gap_at *at);
void gp_advisor_idle_gaps(struct gp_advisor *advisor, uint64_t least_ns, gp_idle_gap_filter *filter,
			  gp_idle_gap_take *take);

/* The same without gaps of more than GP_USUAL_GAPS times the median. */
void gp_advisor_usual_idle_gaps(struct gp_advisor *advisor, uint64_t least_ns,
				gp_idle_gap_filter *filter, gp_idle_gap_take *take);

/* A filter: not the gaps in which the host mostly copied, allocated or initialized. */
bool gp_advisor_waits_for_host(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at);

#endif
