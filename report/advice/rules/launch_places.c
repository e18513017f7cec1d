#include "report/advice/rules/launch_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/base/group_by.h"

#define PLACES_BYTES 1024
#define TEXT_BYTES   512
#define MOST_PERCENT 55u /* of the time: a function with less has not most of it */

static bool is_nearly_all(uint64_t ns, uint64_t all_ns)
{
	return ns * 10 >= all_ns * 9;
}

void gp_launch_places_add(struct gp_launch_places *places, uint32_t site, uint64_t ns)
{
	if (site == GP_NO_SITE)
		return;
	while (places->count <= site) {
		gp_array_grow(&places->site_ns, &places->capacity, places->count,
			      sizeof(*places->site_ns));
		places->site_ns[places->count++] = 0;
	}
	places->site_ns[site] += ns;
}

void gp_launch_places_free(struct gp_launch_places *places)
{
	free(places->site_ns);
	*places = (struct gp_launch_places){0};
}

/* A frame of a site: its place, or one of the callers. */
struct part {
	const char *text;
	size_t length;    /* 0: there is no frame */
	const char *rest; /* its callers */
};

static struct part next_part(struct part part)
{
	const char *end = strstr(part.rest, GP_SITE_SEPARATOR);
	size_t length = end ? (size_t)(end - part.rest) : strlen(part.rest);

	return (struct part){part.rest, length,
			     end ? end + strlen(GP_SITE_SEPARATOR) : part.rest + length};
}

/* The innermost frame without so many helpers. */
static struct part first_part(const struct gp_advisor *advisor, uint32_t site, uint32_t helpers)
{
	struct gp_call_site at = gp_call_sites_at(advisor->sites, site);
	struct part part = {at.place, strlen(at.place), at.callers};

	for (; helpers > 0 && part.length > 0; helpers--)
		part = next_part(part);
	return part;
}

static bool is_same(const struct part *a, const struct part *b)
{
	return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* Whether all sites have that frame, and a caller of it. */
static bool is_helper(const struct gp_advisor *advisor, const struct gp_launch_places *places,
		      uint32_t most, uint32_t number)
{
	struct part helper = first_part(advisor, most, number);

	for (uint32_t i = 0; i < places->count; i++) {
		struct part part = first_part(advisor, i, number);

		if (places->site_ns[i] > 0 && (!is_same(&part, &helper) || *part.rest == '\0'))
			return false;
	}
	return true;
}

/* How many functions common to all sites lie between the interesting places and the call. */
static uint32_t count_helpers(const struct gp_advisor *advisor,
			      const struct gp_launch_places *places, uint32_t most)
{
	uint32_t count = 0;

	while (is_helper(advisor, places, most, count))
		count++;
	return count;
}

uint64_t gp_launch_places_functions(struct gp_advisor *advisor, uint32_t site)
{
	char text[TEXT_BYTES];
	int used = 0;

	text[0] = '\0';
	for (struct part part = first_part(advisor, site, 0);
	     part.length > 0 && used >= 0 && used < TEXT_BYTES; part = next_part(part)) {
		size_t length = part.length;
		bool has_line = gp_call_site_line(part.text, &length) > 0;

		used += snprintf(text + used, (size_t)(TEXT_BYTES - used), "%s%.*s%s",
				 used > 0 ? GP_SITE_SEPARATOR : "", (int)length, part.text,
				 has_line ? ")" : "");
	}
	return gp_advisor_text(advisor, text);
}

/* ---- functions that call them ---- */

/* A function with its time, whichever of its lines. */
struct caller {
	uint64_t ns;
	uint32_t least_line, most_line;
	uint32_t depth;     /* the largest number of frames below it */
	uint32_t last_site; /* counts a recursive function once */
};

struct callers {
	struct gp_groups functions; /* "step (train.py", or all of a place that has no line */
	struct caller *rows;        /* by their numbers */
	uint32_t count, capacity;
};

static struct caller *find_caller(struct callers *callers, const char *function)
{
	uint32_t number = gp_groups_find(&callers->functions, function);

	while (callers->count <= number) {
		gp_array_grow(&callers->rows, &callers->capacity, callers->count,
			      sizeof(*callers->rows));
		callers->rows[callers->count++] =
			(struct caller){.least_line = UINT32_MAX, .last_site = GP_NO_SITE};
	}
	return &callers->rows[number];
}

static void note_caller(struct callers *callers, const char *place, size_t length, uint32_t site,
			uint32_t depth, uint64_t ns)
{
	uint32_t line = gp_call_site_line(place, &length);
	struct caller *caller;
	char function[TEXT_BYTES];

	snprintf(function, sizeof(function), "%.*s", (int)length, place);
	caller = find_caller(callers, function);
	if (caller->last_site == site)
		return;
	caller->last_site = site;
	caller->ns += ns;
	if (depth > caller->depth)
		caller->depth = depth;
	if (line < caller->least_line)
		caller->least_line = line;
	if (line > caller->most_line)
		caller->most_line = line;
}

static void note_callers(struct gp_advisor *advisor, struct callers *callers, uint32_t site,
			 uint32_t helpers, uint64_t ns)
{
	struct part part = first_part(advisor, site, helpers);

	for (uint32_t depth = 0; part.length > 0; depth++, part = next_part(part))
		note_caller(callers, part.text, part.length, site, depth, ns);
}

/* The innermost function with most of the time, or NULL. */
static const struct caller *find_common(const struct callers *callers, uint64_t all_ns)
{
	const struct caller *best = NULL;

	for (uint32_t i = 0; i < callers->count; i++)
		if (callers->rows[i].ns * 100 >= all_ns * MOST_PERCENT &&
		    (!best || callers->rows[i].depth < best->depth))
			best = &callers->rows[i];
	return best;
}

static uint32_t site_of_common(struct gp_advisor *advisor, const struct callers *callers,
			       uint64_t all_ns)
{
	const struct caller *caller = find_common(callers, all_ns);
	const char *function;
	char place[TEXT_BYTES + 32];
	uint32_t site;

	if (!caller)
		return GP_NO_SITE;
	function = callers->functions.rows[caller - callers->rows].key;
	if (caller->least_line == 0)
		snprintf(place, sizeof(place), "%s", function);
	else if (caller->least_line == caller->most_line)
		snprintf(place, sizeof(place), "%s:%u)", function, caller->least_line);
	else
		snprintf(place, sizeof(place), "%s:%u-%u)", function, caller->least_line,
			 caller->most_line);
	site = gp_call_sites_of_text(advisor->sites,
				     (struct gp_call_site){place, "", "", true, GP_NAMED});
	return site;
}

/* ---- places ---- */

static uint32_t find_most(const struct gp_launch_places *places)
{
	uint32_t best = GP_NO_SITE;

	for (uint32_t i = 0; i < places->count; i++)
		if (places->site_ns[i] > (best == GP_NO_SITE ? 0 : places->site_ns[best]))
			best = i;
	return best;
}

/* "37 places WHAT: forward (model.py:12) 31 %, ..."; "" if one has nearly all. */
static void put_shares(const struct gp_groups *named, const uint32_t *order, uint64_t all_ns,
		       const char *what, char text[PLACES_BYTES])
{
	int used;

	if (is_nearly_all(named->rows[order[0]].total_ns, all_ns))
		return;
	used = snprintf(text, PLACES_BYTES, "%s places %s:", gp_format_count(named->count).text,
			what);
	for (unsigned i = 0; i < GP_PLACES_NAMED && i < named->count; i++) {
		const struct gp_group *place = &named->rows[order[i]];

		if (used < 0 || used >= PLACES_BYTES)
			return;
		used += snprintf(text + used, (size_t)(PLACES_BYTES - used), "%s %s %s %%",
				 i > 0 ? "," : "", place->key,
				 gp_format_percent((double)place->total_ns, (double)all_ns).text);
	}
}

/* A place can have several sites, with other callers. */
static void name_shares(const struct gp_advisor *advisor, const struct gp_launch_places *places,
			uint32_t helpers, uint64_t all_ns, const char *what,
			char text[PLACES_BYTES])
{
	struct gp_groups named = {0};
	uint32_t *order;

	for (uint32_t i = 0; i < places->count; i++) {
		struct part part = first_part(advisor, i, helpers);
		char name[TEXT_BYTES];

		if (places->site_ns[i] == 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)part.length, part.text);
		gp_groups_add(&named, gp_groups_find(&named, name), places->site_ns[i]);
	}
	order = gp_groups_by_time(&named);
	put_shares(&named, order, all_ns, what, text);
	free(order);
	gp_groups_free(&named);
}

/* Calls without a stack are of no place. */
static void leave_out_unknown(const struct gp_advisor *advisor, struct gp_launch_places *places)
{
	for (uint32_t i = 0; i < places->count; i++)
		if (places->site_ns[i] > 0 && !gp_advisor_knows(advisor, i))
			places->site_ns[i] = 0;
}

static uint32_t sum_up(struct gp_advisor *advisor, struct gp_launch_places *places,
		       const char *what, char text[PLACES_BYTES])
{
	uint32_t most, helpers, site;
	struct callers callers = {0};
	uint64_t all_ns = 0;

	text[0] = '\0';
	leave_out_unknown(advisor, places);
	most = find_most(places);
	for (uint32_t i = 0; i < places->count; i++)
		all_ns += places->site_ns[i];
	if (most == GP_NO_SITE || is_nearly_all(places->site_ns[most], all_ns))
		return most;
	helpers = count_helpers(advisor, places, most);
	name_shares(advisor, places, helpers, all_ns, what, text);
	for (uint32_t i = 0; i < places->count; i++)
		if (places->site_ns[i] > 0)
			note_callers(advisor, &callers, i, helpers, places->site_ns[i]);
	site = site_of_common(advisor, &callers, all_ns);
	gp_groups_free(&callers.functions);
	free(callers.rows);
	return site;
}

void gp_launch_places_put(struct gp_advisor *advisor, struct gp_launch_places *places,
			  struct gp_case *found, const char *what, uint64_t *places_text)
{
	char text[PLACES_BYTES];
	uint32_t site = sum_up(advisor, places, what, text);

	*places_text = gp_advisor_text(advisor, text);
	if (site != GP_NO_SITE)
		found->site = site;
}
