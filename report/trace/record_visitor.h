/*
 * record_visitor: the one dispatch over record kinds.
 *
 * A module that reads records names all kinds of GP_RECORD_KINDS (gpuprof/record.h): for each it has
 * a function PREFIX_KIND(), or says that it ignores the kind.  A kind that it forgets, and a new one,
 * does not compile.
 *
 *     static int live_kernel(struct gp_live *live, const struct gp_record_view *seen) ...
 *     GP_RECORD_IGNORE(live, shape)
 *     ...
 *     GP_RECORD_VISITOR(gp_live_take, live, struct gp_live)
 *
 * makes gp_live_take(), a gp_record_visit whose owner is a struct gp_live; behind `static`, a static
 * one.
 */
#ifndef REPORT_TRACE_RECORD_VISITOR_H
#define REPORT_TRACE_RECORD_VISITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/record.h"

union gp_any_record {
	struct gp_record head;
#define X(number, NAME, name) struct gp_record_##name name;
	GP_RECORD_KINDS(X)
#undef X
};

/* A record for a visitor; valid until the visitor returns. */
struct gp_record_view {
	const union gp_any_record *record; /* of a known kind */
	const char *text;   /* of a string record: string.length_bytes bytes, not terminated */
	uint32_t thread_id; /* thread that made the record; 0 = unknown */
};

/* Returns 0, or a negative value to stop decoding. */
typedef int gp_record_visit(void *owner, const struct gp_record_view *seen);

#define GP_RECORD_IGNORE(prefix, name)                                                             \
	static int prefix##_##name(const void *owner, const struct gp_record_view *seen)           \
	{                                                                                          \
		(void)owner;                                                                       \
		(void)seen;                                                                        \
		return 0;                                                                          \
	}

#define GP_RECORD_VISITOR(visit, prefix, owner_type)                                               \
	int visit(void *owner, const struct gp_record_view *seen);                                 \
	typedef owner_type prefix##_owner;                                                         \
	GP_RECORD_KINDS_FOR(GP_RECORD_VISIT_ONE, prefix)                                           \
	int visit(void *owner, const struct gp_record_view *seen)                                  \
	{                                                                                          \
		static gp_record_visit *const visits[] = {                                         \
			GP_RECORD_KINDS_FOR(GP_RECORD_VISIT_ROW, prefix)};                         \
                                                                                                   \
		return visits[seen->record->head.kind](owner, seen);                               \
	}

#define GP_RECORD_VISIT_ONE(prefix, number, NAME, name, ROLE)                                      \
	static int prefix##_visit_##name(void *owner, const struct gp_record_view *seen)           \
	{                                                                                          \
		prefix##_owner *own = owner;                                                       \
                                                                                                   \
		return prefix##_##name(own, seen);                                                 \
	}
#define GP_RECORD_VISIT_ROW(prefix, number, NAME, name, ROLE) [number] = prefix##_visit_##name,

/* The role of a record of a known kind in a part of a trace. */
static inline enum gp_record_role gp_record_role(const union gp_any_record *record)
{
	static const uint8_t roles[] = {
#define X(none, number, NAME, name, ROLE) [number] = GP_ROLE_##ROLE,
		GP_RECORD_KINDS_FOR(X, none)
#undef X
	};

	return (enum gp_record_role)roles[record->head.kind];
}

static inline bool gp_record_is_event(const union gp_any_record *record)
{
	return gp_record_role(record) == GP_ROLE_EVENT;
}

#endif
