/*
 * advice: what in a program costs time, and what to change: the findings of the rules of
 * report/advice/rules/, best first.
 *
 * A finding is what a rule says of one place of the program; of several processes that do the same
 * there, it is one, and all that it says is of the one that could save most: processes run side by
 * side.
 *
 * A rule says nothing where its thresholds are not reached, which stand in its file.  What a change
 * could save is the most that it could: the time that passed cannot get shorter than what the GPU
 * has to do.
 */
#ifndef REPORT_ADVICE_ADVICE_H
#define REPORT_ADVICE_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/analysis/idle/idle_cause.h"
#include "report/model/model.h"
#include "report/symbols/symbols.h"

struct gp_advisor;
struct gp_case;

/* When a rule speaks: all of them, 0 = any. */
struct gp_rule_threshold {
	/*
	 * of the time that was recorded, or, of what is not once, of the main loop what was in it
	 */
	double saves_percent;
	uint64_t saves_ns;
	uint64_t count;
	uint64_t bytes;
	/*
	 * In place of the first two: a larger share of less time, as short runs have it.  0, 0 =
	 * there is none.
	 */
	double or_percent;
	uint64_t or_ns;
};

struct gp_rule {
	const char *id;      /* a word: `gpuprof explain ID` */
	const char *title;   /* what is wrong, in a few words */
	const char *meaning; /* what it means, and how it is found; text of a few lines */
	const char *change;  /* what helps */
	const char *ignore;  /* when it may be ignored */
	struct gp_rule_threshold threshold;
	const char *few; /* what is enough, whatever the threshold's count; NULL = nothing */
	bool is_once;    /* it happens once in a run, however long that is */
	bool is_moved;   /* a change moves that time out of what is measured: no run is shorter */
	bool is_of_results; /* what is computed may be wrong: told before what costs time */
	bool is_of_gpu; /* the GPU itself would be faster: it can save more than its idle time */
	/* at idle times, too, that others before it explain: it says something else of them */
	bool looks_beside;
	size_t own_bytes; /* that it keeps of a case in its own */
	/*
	 * Gathers cases of the advisor's present process; or, called once, of all of them.  One of
	 * these is NULL.
	 */
	void (*look)(struct gp_advisor *advisor);
	void (*look_at_all)(struct gp_advisor *advisor);
	/*
	 * What was found in that case, and what to do about it: a sentence each, without its end.
	 */
	void (*tell)(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out);
	void (*advise)(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out);
	/*
	 * What stands before the place where only the beginning of that sentence does; NULL: "at".
	 */
	const char *at;
	/*
	 * Whether that sentence says in its second clause where to look, better than the call site
	 * does.  NULL: it never does.
	 */
	bool (*names_place)(const struct gp_case *found);
};

/*
 * In the order in which they look: what one has explained, those behind it do not tell again.  Ends
 * with NULL.
 */
extern const struct gp_rule *const gp_rules[];

/* NULL if none is called that. */
const struct gp_rule *gp_rule_find(const char *id);

struct gp_finding {
	const struct gp_rule *rule;
	uint64_t count;     /* of what the sentence counts */
	uint64_t time_ns;   /* that these took, of the host's or the GPU's time */
	uint64_t saves_ns;  /* of the time that passed, at most; 0 where a change only moves it */
	uint32_t processes; /* that had it: what is told is of one of them, ... */
	uint32_t pid;       /* ... this one */
	uint64_t saves_in_loop_ns; /* of that, what was in the main loop */
	uint64_t bytes;            /* 0 = it is not about any */
	uint64_t show_at_ns,
		/* its longest call or idle time, counted as a scope counts moments; 0, 0 = none */
		show_ns;
	char *found, *change;
	char *place,
		/* the call site as report/symbols/call_site.h has it; "" = there is none */
		*callers;
	size_t apart_bytes;    /* of the callers, what tells it from others of its place */
	enum gp_naming naming; /* of the place */
	bool names_place;      /* as the rule says */
	bool is_doubtful;      /* nothing may be wrong there: it stands last */
};

/* Idle time of a cause that no finding speaks of. */
struct gp_untold {
	enum gp_idle_cause cause;
	uint64_t ns;
	uint64_t before_ns,
		after_ns;           /* of it before the GPU's first operation, and after the last */
	uint64_t count, longest_ns; /* between operations, of the times that it is most of */
	/*
	 * Of host-bound ones, where most of it ends, if much does: "at main (a.cu:7)", "before
	 * scan"; NULL: it does at no place.
	 */
	char *place;
	uint64_t place_ns;
	/*
	 * Of copy-bound ones: so many copies at a place could save what is worth a word if they
	 * were more, 0 = none; or all together could save something.
	 */
	uint64_t few;
	bool is_little;
};

struct gp_advice {
	struct gp_finding *findings; /* what is worth most first */
	uint32_t count, capacity;
	size_t process_count;
	/* the time that was recorded: from the first call to the last, without pauses */
	uint64_t span_ns;
	uint64_t idle_most_ns; /* in which the busiest GPU of a process had nothing to do */
	uint64_t loop_ns;      /* of its main loop; 0 = none was found */
	uint32_t loop_passes;
	/* why operations may be missing, and idle times shorter; NULL: none are */
	const char *doubt;
	bool is_damaged; /* a part of a trace cannot be read */
	/* of a finding the calls have no stack, and gpuprof recorded: its line is not known */
	bool lacks_stacks;
	bool lacks_unified; /* managed memory is used, and what moves of it was not recorded */
	uint64_t failures;  /* of calls, as failed-calls counts them, where there is no finding */
	const char *why_no_end; /* then, of a process that did not end in order; NULL: all did */
	/* Of the GPU that worked most, as summaries have it. */
	uint64_t wall_ns, idle_ns;     /* wall_ns 0 = none worked */
	enum gp_idle_cause idle_cause; /* of most of the idle time */
	uint64_t idle_before_ns,
		idle_after_ns; /* of it before the first operation, and after the last */
	uint32_t gpus;         /* that worked */
	struct gp_untold untold[GP_IDLE_CAUSES]; /* what is a quarter of its time and 20 ms */
	uint32_t untold_count;
	bool has_looks; /* at Python's stacks: they tell what the host did meanwhile */
};

/*
 * Models without calls count as nothing.  Returns 0, -ENOMEM or -EOVERFLOW; gp_advice_free() in
 * either case.
 */
int gp_advice_of(struct gp_model *const *models, size_t model_count, struct gp_advice *advice);

/* The same from their basis, which is used up: advice notes in its idle_gaps what it explains. */
struct gp_analysis;
int gp_advice_from(struct gp_analysis *basis, struct gp_model *const *models, size_t model_count,
		   struct gp_advice *advice);

void gp_advice_free(struct gp_advice *advice);

#endif
