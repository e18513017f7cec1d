/*
 * user_names: names that the program gives to objects by their id: threads, categories of a domain.
 *
 * They often come before there is a trace: up to GP_USER_NAMES_MAX are kept, and emitted in each
 * recording.  Any thread.
 */
#ifndef INJECT_USER_NAMES_H
#define INJECT_USER_NAMES_H

#include <stdint.h>

#include "collector/text_table.h"
#include "gpuprof/record.h"

#define GP_USER_NAMES_MAX 1024u

struct gp_user_name {
	enum gp_string_space space;
	uint32_t id;    /* of the named object */
	uint32_t value; /* of the definition; the domain's id replaces it if there is a domain */
	struct gp_known_text *domain; /* NULL = none, or the default one */
	const char *bytes;
	uint32_t length_bytes;
};

/* Emit a name, now or as soon as there is a trace.  A new name replaces the old one. */
void gp_user_names_add(const struct gp_user_name *name);

/* A recording has just begun: emit all names given before. */
void gp_user_names_emit(void);

#endif
