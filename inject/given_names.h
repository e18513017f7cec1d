/*
 * given_names: names that the program gives to things by their number: threads, categories of a domain.
 *
 * They are often given before there is a trace: up to GP_GIVEN_NAMES are kept, and said in each recording.  Any thread.
 */
#ifndef INJECT_GIVEN_NAMES_H
#define INJECT_GIVEN_NAMES_H

#include <stdint.h>

#include "collector/texts.h"
#include "gpuprof/record.h"

#define GP_GIVEN_NAMES 1024u

struct gp_given_name {
	enum gp_string_space space;
	uint32_t id;    /* of what is named */
	uint32_t value; /* of the definition; where it has a domain, its number takes the place */
	struct gp_known_text *domain; /* NULL = none, or the default one */
	const char *bytes;
	uint32_t length_bytes;
};

/* Say it, now or as soon as there is a trace.  A new name takes the place of the old one. */
void gp_given_names_add(const struct gp_given_name *name);

/* A recording has just begun: say all that were given before. */
void gp_given_names_say(void);

#endif
