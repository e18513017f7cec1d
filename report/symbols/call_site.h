/*
 * call_site: the place in the user's own code where a call was made.
 *
 * It is the innermost frame outside the libraries between a user and CUDA: CUDA's own, allocators
 * and frameworks, thrust and CUB, the interpreter, the C and C++ libraries. Without such a frame it
 * is a frame of a framework, or the operator in PyTorch's backward pass; otherwise the innermost
 * frame of all. The tables in code_owner.c classify files.
 *
 * Two stacks have the same site if the site's line and the lines of its GP_SITE_CALLERS callers in
 * the user's code are the same. Only frames that may be the user's are looked up in files.
 */
#ifndef REPORT_SYMBOLS_CALL_SITE_H
#define REPORT_SYMBOLS_CALL_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/model/model.h"
#include "report/symbols/symbols.h"

#define GP_SITE_CALLERS   3
#define GP_SITE_SEPARATOR " < " /* between callers, innermost first */

/* In place of a site for calls without a stack. */
#define GP_SITE_WITHOUT_STACK "without a call stack"

struct gp_call_site {
	const char *place;   /* "function (file:line)", or a note for a call without a stack */
	const char *callers; /* callers in the user's code, innermost first; "" if there are none */
	/*
	 * the library that made the call for itself: a caching allocator ("PyTorch"), or a library
	 * that it uses ("cuBLAS"); else ""
	 */
	const char *owner;
	bool is_own;           /* the place is the user's code */
	enum gp_naming naming; /* of the place */
};

struct gp_call_sites;

/* The models must outlive it. */
struct gp_call_sites *gp_call_sites_new(void);
void gp_call_sites_free(struct gp_call_sites *sites);

/* The number of a call's site. */
uint32_t gp_call_sites_find(struct gp_call_sites *sites, const struct gp_model *model,
			    const struct gp_call *call);

/*
 * From now on the site of a call of the model is that of another stack, if it has one there, by
 * index in calls: of a launch of a backward pass, the one of the line that it belongs to
 * (report/analysis/backward/backward.h).  They must outlive the sites; NULL: there are none.
 */
void gp_call_sites_use_stacks(struct gp_call_sites *sites, const struct gp_model *model,
			      const uint32_t *stacks);

/* In front of the place of a single call: "~ " if its stack is estimated, else "". */
static inline const char *gp_call_site_mark(const struct gp_call *call)
{
	return call->is_estimated ? "~ " : "";
}

/* As gp_call_sites_find() for the places of a recorded stack, innermost first. */
uint32_t gp_call_sites_of_places(struct gp_call_sites *sites, const struct gp_place *places,
				 size_t count);

/* As gp_call_sites_find() for a site of another gp_call_sites. */
uint32_t gp_call_sites_of_text(struct gp_call_sites *sites, struct gp_call_site site);

/* The site with that number; valid until the next site is added. */
struct gp_call_site gp_call_sites_at(const struct gp_call_sites *sites, uint32_t number);

/*
 * The line of the place "step (train.py:40)", whose *length becomes that without ":40)"; 0: it has
 * none.
 */
uint32_t gp_call_site_line(const char *place, size_t *length);

/*
 * The length of the common first callers of two sites: 4 for "load < main" and "load < run", 0 for
 * "load" and "loader".
 */
size_t gp_call_site_same_callers(const char *a, const char *b);

/*
 * The length of a site's callers that tells it from the other sites at its place. A wrapper such as
 * checked_malloc() has several sites with the same line. 0: the place has no other site.
 */
size_t gp_call_sites_tell_apart(const struct gp_call_sites *sites, uint32_t number);

/* Prints gp_symbols_explain() for the frames that were looked up. */
void gp_call_sites_explain(const struct gp_call_sites *sites, FILE *out);

#endif
