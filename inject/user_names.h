/*
 * given_names: names that the program gives to things by their number: threads, categories of a domain.
 *
 * They are often given before there is a trace: up to GP_USER_NAMES_MAX are kept, and said in each recording.  Any thread.
 */
#ifndef INJECT_GIVEN_NAMES_H
#define INJECT_GIVEN_NAMES_H

#include <stdint.h>

#include "collector/text_table.h"
#include "gpuprof/record.h"

#define GP_USER_NAMES_MAX 1024u

struct gp_user_name {
	enum gp_string_space space;
	uint32_t id;    /* of what is named */
	uint32_t value; /* of the definition; where it has a domain, its number takes the place */
	struct gp_known_text *domain; /* NULL = none, or the default one */
	const char *bytes;
	uint32_t length_bytes;
};

/* Say it, now or as soon as there is a trace.  A new name takes the place of the old one. */
void gp_user_names_add(const struct gp_user_name *name);

/* A recording has just begun: say all that were given before. */
void gp_user_names_emit(void);

#endif
