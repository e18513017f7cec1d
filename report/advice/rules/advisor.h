/*
 * advisor: what the rules of advice work on, and where they put what they find
 * (report/advice/advice.h).
 *
 * A rule walks over the calls or operations of the present process, and for each that it is about
 * finds the case of its place and adds to it.  A case is of one process: what several did at a
 * place are as many cases, of which that with the largest savings is told for all.
 */
#ifndef REPORT_ADVICE_RULES_ADVISOR_H
#define REPORT_ADVICE_RULES_ADVISOR_H

#include "report/advice/advice.h"
#include "report/analysis/analysis.h"
#include "report/analysis/idle/startup_shutdown.h"
#include "report/tables/breakdown_scope.h"
#include "report/symbols/call_site.h"
#include "report/analysis/memory/memory_sites.h"

/* What a process did at one place. */
struct gp_case {
	uint32_t rule;                 /* index in gp_rules */
	uint32_t site;                 /* for gp_call_sites_at(); UINT32_MAX = none */
	uint64_t detail, other_detail; /* what else tells cases apart; the rule's */
	size_t process;
	uint64_t count, time_ns, bytes;
	bool is_grave;     /* one is enough, whatever the rule asks for */
	bool is_doubtful;  /* nothing may be wrong there: told last, whatever it could save */
	uint64_t votes_ns; /* of its site, where that was voted for */
	uint64_t saves_ns; /* at most */
	uint64_t saves_in_loop_ns; /* of that what was in the process's main loop */
	void *own;                 /* what else the rule keeps: its own_bytes, zero at first */
	uint64_t show_unix_ns,
		show_ns; /* its longest call or idle time; 0, 0 = it is about neither */
};

/* Time of the present process of which a case could have saved a share. */
struct gp_stretch {
	uint64_t start_ns, end_ns;
	uint32_t number; /* of the case */
	float share;
};

/* Calls of the present process, by their indices in the model, in its order. */
struct gp_call_list {
	uint32_t *indices;
	uint32_t count, capacity;
};
#define GP_ADVISOR_CLASSES (GP_API_MODULE + 1)

/* Where launches are made (report/advice/rules/launch_places.h).  Zeroed = empty. */
struct gp_launch_places {
	uint64_t *site_ns; /* by the number of the site */
	uint32_t count, capacity;
};

/*
 * The launches of a process that cannot keep up: when one followed the other, and the thread that
 * makes most of them, if any makes most.  Zeroed = none.
 */
struct gp_launch_times {
	struct gp_interval *intervals;
	uint32_t count, capacity;
	uint64_t votes; /* for the thread: Boyer and Moore's */
	uint32_t thread;
};

struct gp_advisor {
	struct gp_scope scope; /* models, texts, names */
	struct gp_call_sites *sites;
	struct gp_memory_sites memory;   /* of the present process, once it was asked for */
	struct gp_startup_shutdown ends; /* likewise */
	bool has_memory, has_ends;
	int error; /* 0 or the first -errno */
	uint64_t span_ns;
	const struct gp_iterations **loops; /* of each process: its main loop; NULL = it has none */
	uint64_t loop_ns;       /* of the process with the longest main loop; 0 = none has one */
	struct gp_kinds *kinds; /* of kernels */
	struct gp_analysis *basis;
	/*
	 * The most that nothing to do for a GPU made of a process's time: so much the host's part
	 * can save.
	 */
	uint64_t idle_ns;
	uint32_t loop_passes; /* of the process that loop_ns is of */
	/* the present process */
	bool waits_outside; /* of gpu-gaps: gp_dependency_is_outside() */
	size_t process;
	const struct gp_model *model;
	const struct gp_tuning *tuning;
	struct gp_call_list calls[GP_ADVISOR_CLASSES]; /* for gp_advisor_calls() */
	uint64_t graph_launches;                       /* its calls that launch graphs */
	uint32_t *sites_without_stack;   /* by API function; GP_NO_SITE = not asked for yet */
	size_t devices[GP_DEVICE_LIMIT]; /* as it numbers them: indices in the scope's list */
	/* what was found */
	struct gp_idle_gap **told; /* since the present rule began to look */
	uint32_t told_count, told_capacity;
	uint32_t rule;        /* that is looking */
	uint32_t rest_causes; /* of idle-rest, in the present process: bits by enum gp_idle_cause */
	size_t rest_device;   /* of idle-rest, there */
	struct gp_tally index; /* its rows and cases[] are parallel */
	struct gp_case *cases;
	uint32_t case_count, case_capacity;
	struct gp_stretch *stretches; /* until gp_advisor_save_once() */
	uint32_t stretch_count, stretch_capacity;
	struct gp_case spare;      /* what is found when there is no memory */
	struct gp_tally host_work; /* by the numbers of cases: report/tables/host_work.h */
	struct gp_tally habits;    /* of gpu-gaps and host-gaps */
	uint64_t host_gaps_ns;     /* of host-gaps, in the present process */
	uint64_t failed_calls;     /* that failed-calls counts, whatever their number */
	struct gp_launch_places launch_places; /* of short-kernels */
	struct gp_launch_times launch_times;   /* of short-kernels, in the present process */
};

/*
 * The case of the present rule and process with these, made if there is none; good until the next
 * one is asked for, but for what it owns.  Never NULL: error tells.
 */
struct gp_case *gp_advisor_case(struct gp_advisor *advisor, uint32_t site, uint64_t detail,
				uint64_t other_detail);

/* Whether a case is of the present rule and process. */
static inline bool gp_advisor_is_present(const struct gp_advisor *advisor,
					 const struct gp_case *found)
{
	return found->rule == advisor->rule && found->process == advisor->process;
}

/* The site of a call of the present process. */
uint32_t gp_advisor_site(struct gp_advisor *advisor, const struct gp_call *call);
#define GP_NO_SITE UINT32_MAX

/* In the key of a case in the advisor's index: its process. */
#define GP_CASE_PROCESS 4

/*
 * One more of a case: when it was on the process's timeline, what it took, and what it could have
 * saved.  idle_gap, if there is one: the idle time that it explains, if the case
 * turns out to be worth a word; gp_advisor_tell() notes that alone.
 */
void gp_advisor_add(struct gp_advisor *advisor, struct gp_case *found, uint64_t at_ns,
		    uint64_t time_ns, uint64_t saves_ns, struct gp_idle_gap *idle_gap);
void gp_advisor_tell(struct gp_advisor *advisor, const struct gp_case *found,
		     struct gp_idle_gap *idle_gap);
#define GP_ALL_THE_TIME UINT64_MAX /* for at_ns: in the main loop as much as outside */

/* So much more that a case could have saved, at that time. */
void gp_advisor_save(const struct gp_advisor *advisor, struct gp_case *found, uint64_t at_ns,
		     uint64_t saves_ns);

/*
 * Of a case that threads, or copies, can be about at the same time: it could have saved a share of
 * that time, on the process's timeline.  gp_advisor_save_once() then adds what all such stretches
 * of the present rule come to in the present process, each moment of a case counted once.
 */
void gp_advisor_stretch(struct gp_advisor *advisor, const struct gp_case *found, uint64_t start_ns,
			uint64_t end_ns, double share);
void gp_advisor_save_once(struct gp_advisor *advisor);

/*
 * The same of what the host did that no GPU takes part in: no more than some device had nothing to
 * do from there until the next stretch of the case, or behind that one: an allocation may show in
 * the idle time behind its free.  While all are at work, the program is no faster without it.
 */
void gp_advisor_save_idle_once(struct gp_advisor *advisor);

/*
 * One of the calls, or of the idle times, that a case is about: the longest of them is what a user
 * looks at.  Of a call without a stack looks at Python's may tell the line: gp_advisor_look_at()
 * takes those of its thread in that time.
 */
void gp_advisor_show(struct gp_advisor *advisor, struct gp_case *found, const struct gp_call *call);
void gp_advisor_look_at(struct gp_advisor *advisor, const struct gp_case *found,
			const struct gp_call *call, uint64_t end_ns);

/*
 * Where half or more of such looks found the host: the user's line, else the function, "step
 * (train.py)", where only that has half; "": there were too few, or at too many places.
 */
struct gp_seen {
	const char *place;
	bool is_line;
	uint64_t looks, all; /* there, and all of them */
};
struct gp_seen gp_advisor_seen(const struct gp_advisor *advisor, const struct gp_case *found);
void gp_advisor_show_idle_gap(struct gp_case *found, const struct gp_idle_gap *idle_gap);

/*
 * Where a case is of many sites: so much of it is due to that one.  The case gets the site with
 * most of its time: the one that has the majority, if any has (Boyer and Moore's vote), else one of
 * those with much.
 */
void gp_advisor_vote(struct gp_case *found, uint32_t site, uint64_t ns);

/*
 * Whether a case is grave, or reaches its rule's threshold: all of it, of the recorded time, or
 * what of it was in the main loop of eight iterations or more, of that loop's time.  So what a
 * short run is short for is told although it is start-up for the most part, and what start-up costs
 * is not held against the loop.  Loops that are shorter than a twentieth of the recorded time count
 * as long as that, and what is less than 0.25 % of the recorded time is never worth it for the
 * loop's sake.
 */
bool gp_advisor_is_worth(const struct gp_advisor *advisor, const struct gp_case *found);

/* A number for a text, to be a case's detail; the text of that number. */
uint64_t gp_advisor_text(struct gp_advisor *advisor, const char *text);
const char *gp_advisor_text_of(const struct gp_advisor *advisor, uint64_t number);

/*
 * What the present process took before its work and after it; NULL: there is no memory, and error
 * tells.
 */
const struct gp_startup_shutdown *gp_advisor_ends(struct gp_advisor *advisor);

/* The present process's memory by call site; NULL: there is no memory, and error tells. */
const struct gp_memory_sites *gp_advisor_memory(struct gp_advisor *advisor);

/* Whether a site says where a call was made: it is one, and its call had a stack. */
bool gp_advisor_knows(const struct gp_advisor *advisor, uint32_t site);

/* The site of those found by somebody else, as one of ours. */
uint32_t gp_advisor_same_site(struct gp_advisor *advisor, const struct gp_call_sites *others,
			      uint32_t site);

/* ---- what rules ask of calls ---- */

static inline uint8_t gp_advisor_class(const struct gp_advisor *advisor, const struct gp_call *call)
{
	return gp_model_api_class(advisor->model, call->api);
}

/*
 * Whether a library only tries kernels out there (report/analysis/host/tuning.h): what it does so,
 * no user changes.
 */
static inline bool gp_advisor_tunes(const struct gp_advisor *advisor, const struct gp_call *call)
{
	const struct gp_tuning *tuning = advisor->tuning;

	return (call->stack != GP_NONE && tuning->marks[call->stack].tuner != GP_TUNER_NONE) ||
	       (call->first_op != GP_NONE && tuning->of[call->first_op] != GP_TUNER_NONE);
}

/*
 * The present process's calls of a class: copies, sets, synchronizations, none of which is of
 * tuning, and those that load code. Launches are by far the most, and a rule that is about none of
 * them need not read them.
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

/* For how long a device, as the present process numbers it, was at work within that time. */
uint64_t gp_advisor_busy_ns(const struct gp_advisor *advisor, uint16_t device_id, uint64_t start_ns,
			    uint64_t end_ns);

/* gp_idle_gaps_at() of such a device and time. */
struct gp_idle_gap *gp_advisor_idle_gap_at(const struct gp_advisor *advisor, uint16_t device_id,
					   uint64_t time_ns);

/* The first operation of a call, or NULL: it has none, or it has no times. */
const struct gp_op *gp_advisor_op(const struct gp_advisor *advisor, const struct gp_call *call);

/* Of that much of an idle time what the present rule has not taken yet, which it has then. */
uint64_t gp_advisor_take(const struct gp_advisor *advisor, struct gp_idle_gap *idle_gap,
			 uint64_t ns);

/*
 * gp_idle_gaps_at() of the end of a call, on the device of its operation; where it has none, on
 * that of its context.
 */
struct gp_idle_gap *gp_advisor_idle_gap_after(const struct gp_advisor *advisor,
					      const struct gp_call *call);

/*
 * Of an idle time, what the host may have made: not while an operation had been launched, and did
 * not begin.
 */
uint64_t gp_advisor_host_part_ns(const struct gp_idle_gap *idle_gap);

/*
 * What the program could have saved by not waiting in a call: no more than the call took for that,
 * nor than most_ns, and no more than the GPU waited for the host right after it
 * (gp_advisor_idle_gap_after()); the rest of the call the GPU was at work, and what another call
 * took of that idle time is not there any more: to be asked once of each. *idle_gap becomes that
 * idle time if this is most of it, else NULL.
 */
uint64_t gp_advisor_wait_saves_ns(struct gp_advisor *advisor, const struct gp_call *call,
				  uint64_t most_ns, struct gp_idle_gap **idle_gap);

/*
 * Idle time that the present process ended and that no case explains, but of rules that look beside
 * others, and the calls that started the operations around it.
 */
struct gp_idle_gap_at {
	struct gp_idle_gap *idle_gap;
	const struct gp_op *before, *after;
	const struct gp_call *call_before; /* NULL = not known, or of another process */
	const struct gp_call *call_after;  /* never NULL: of others nothing can be said */
};

/*
 * Call take for each of these that is at least that long and that the filter, where there is one,
 * lets through.
 */
typedef bool gp_idle_gap_filter(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at);
void gp_advisor_idle_gaps(struct gp_advisor *advisor, uint64_t least_ns, gp_idle_gap_filter *filter,
			  void (*take)(struct gp_advisor *advisor,
				       const struct gp_idle_gap_at *at));

/*
 * A filter: not those in which the host mostly copied, allocated or made something, of which other
 * rules speak where they matter.
 */
bool gp_advisor_waits_for_host(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at);

/* The same without those that are more than ten times as long as the median: they are no habit. */
void gp_advisor_usual_idle_gaps(struct gp_advisor *advisor, uint64_t least_ns,
				gp_idle_gap_filter *filter,
				void (*take)(struct gp_advisor *advisor,
					     const struct gp_idle_gap_at *at));

#endif
