/*
 * call_site: where in the user's own code a call was made.
 *
 * That is the innermost frame which is of none of the libraries that stand between a user and CUDA:
 * CUDA's own, allocators and frameworks, thrust and CUB, the interpreter, the libraries of C and
 * C++.  Where there is none, that of a framework, or in PyTorch's backward pass the operator; where
 * there is none of these either, the innermost one of all.  The tables in call_site.c say which
 * files are which.
 *
 * Two stacks have the same site if the site's line is the same and the lines of the user's code
 * that called it are, GP_SITE_CALLERS of them.  Only frames that may be the user's are looked up in
 * files.
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
#define GP_SITE_SEPARATOR " < " /* between callers, the innermost first */

/* In the place of a call that has no stack. */
#define GP_SITE_WITHOUT_STACK "without a call stack"

struct gp_call_site {
	const char *place;   /* "function (file:line)"; of a call without a stack, a word on that */
	const char *callers; /* of the user's code, the innermost first; "" if there are none */
	/*
	 * who made the call for itself: a caching allocator ("PyTorch"), or what such a library
	 * uses ("cuBLAS"); else ""
	 */
	const char *owner;
	bool is_own;           /* the place is in the user's code */
	enum gp_naming naming; /* of the place */
};

struct gp_call_sites;

/* NULL if there is no memory.  Models that are asked for must outlive it. */
struct gp_call_sites *gp_call_sites_new(void);
void gp_call_sites_free(struct gp_call_sites *sites);

/* The number of a call's site; UINT32_MAX if there is no memory. */
uint32_t gp_call_sites_find(struct gp_call_sites *sites, const struct gp_model *model,
			    const struct gp_call *call);

/* The same of a stack that somebody else wrote down, the innermost place first. */
uint32_t gp_call_sites_of_places(struct gp_call_sites *sites, const struct gp_place *places,
				 size_t count);

/* The same of a site that gp_call_sites_at() of others gave. */
uint32_t gp_call_sites_of_text(struct gp_call_sites *sites, struct gp_call_site site);

/*
 * The site of that number, good until the next one is found; of another number, one that says "(no
 * memory)".
 */
struct gp_call_site gp_call_sites_at(const struct gp_call_sites *sites, uint32_t number);

/*
 * Of the callers of two sites the first that are the same, in bytes: 4 of "load < main" and "load <
 * run", 0 of "load" and "loader".
 */
size_t gp_call_site_same_callers(const char *a, const char *b);

/*
 * How much of a site's callers tells it from the other sites of its place that were found so far,
 * in bytes: through a wrapper as checked_malloc() come several, and its own line tells nothing.  0:
 * there is no other.
 */
size_t gp_call_sites_tell_apart(const struct gp_call_sites *sites, uint32_t number);

/* gp_symbols_explain() of the frames that were looked up. */
void gp_call_sites_explain(const struct gp_call_sites *sites, FILE *out);

#endif
