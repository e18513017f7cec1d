/*
 * gaps: what the rules of idle times tell of a case of them: how long they were, and what is known
 * of the host meanwhile, of the calls before and after the longest of them, and of what helps.
 */
#ifndef REPORT_ADVICE_RULES_GAPS_H
#define REPORT_ADVICE_RULES_GAPS_H

#include <stdbool.h>
#include <stdio.h>

#include "report/advice/rules/advisor.h"
#include "report/advice/rules/host_time.h"

/*
 * Two such operations, one behind the other, the second started at that site, for the present rule
 * to count: a row of advisor->habits.
 */
struct gp_tally_row *gp_gaps_pair(struct gp_advisor *advisor, const struct gp_op *before,
				  const struct gp_op *after);

/*
 * The process's first context, while others had work; that of another GPU than the one whose work
 * waited; one more of that GPU.
 */
enum gp_maker { GP_MAKER_NONE, GP_MAKER_FIRST, GP_MAKER_OTHER_GPU, GP_MAKER_AGAIN };

/* What such a rule keeps of a case. */
struct gp_gaps {
	struct gp_host_time host; /* what is known of the host in its longest one ... */
	uint64_t range;           /* ... and the text of its range */
	uint64_t after;           /* the text of the call after it, and of that before it ... */
	uint64_t before;
	uint32_t before_site; /* ... and where these are; GP_NO_SITE = there is none */
	uint32_t after_site;
	/* of those behind which code is loaded: what is launched then is new */
	uint64_t new_code_ns;
	bool names_ends; /* both are known, and the host did something of its own between them */
	uint8_t share;   /* of its cause, in 255ths */
	uint64_t longest_ns;
	enum gp_maker kind;    /* of what made a context for most of the longest one, ... */
	uint64_t maker;        /* ... its text, "" = none did, ... */
	uint64_t maker_ns;     /* ... what it took of that, ... */
	uint32_t maker_device; /* ... and whose context it is */
	/* of set-up or allocation, the text of the longest call in the longest one, ... */
	uint64_t call;
	uint64_t call_ns;   /* ... what it took of that, ... */
	uint32_t call_site; /* ... and where it is */
	uint32_t calls;     /* so many such calls there are */
	bool names_call;    /* that is where to look */
	uint64_t imports;   /* how many end in an import */
	bool has_looks;     /* at Python's stacks, of any */
	uint16_t device;    /* as the advisor's idle_gaps number it: of the first one; ... */
	bool is_of_many;    /* ... others are of other GPUs */
	bool is_outside; /* of what had been launched: nothing of the process's own held it back */
	/* of all of them, while another of the process's GPUs was at work: ... */
	uint64_t beside_ns;
	uint64_t beside_votes_ns;
	uint16_t beside; /* ... mostly that one */
};

/*
 * One more idle time of the present process's case, whose other_detail is its cause, and so much
 * that could be saved.
 */
void gp_gaps_add(struct gp_advisor *advisor, struct gp_case *found, const struct gp_idle_gap_at *at,
		 uint64_t saves_ns);

/* What a gp_rule has of these names. */
void gp_gaps_tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out);
void gp_gaps_advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out);
bool gp_gaps_names_place(const struct gp_case *found);

#endif
