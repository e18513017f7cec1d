/*
 * client_kinds: which CUPTI records are ours, and which a CUPTI client inside the program gets as
 * copies.
 *
 * A kind that we record is enabled for both sides.  The client gets the records from between its
 * enabling and its disabling.  For GPU activity this is decided by the correlation id of the call,
 * because CUPTI itself decides when a call is made, not when it executes; for other records, by
 * their times.  A kind that only the client has enabled is on in CUPTI for the client alone, and
 * all its records go to the client.
 *
 * One thread at a time changes the client's state; the fetching thread checks the records.
 */
#ifndef INJECT_CLIENT_KINDS_H
#define INJECT_CLIENT_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

/* More than any libcupti has (60 in 13.4). */
#define GP_CLIENT_KINDS 128u

/*
 * Once, before the first record.  numbered: in this CUPTI version every call has its own
 * correlation id.
 */
void gp_client_kinds_init(bool numbered);

/* Whether we record this kind. */
void gp_client_kinds_set_ours(CUpti_ActivityKind kind, bool ours);
bool gp_client_kinds_is_ours(CUpti_ActivityKind kind);

/* Whether the client has ever enabled this kind, and we do not record it. */
bool gp_client_kinds_is_client_only(CUpti_ActivityKind kind);

/* The client enables or disables a kind.  now_ns: CUPTI's time. */
void gp_client_kinds_enable(CUpti_ActivityKind kind, uint64_t now_ns);
void gp_client_kinds_disable(CUpti_ActivityKind kind, uint64_t now_ns);

bool gp_client_kinds_is_enabled(CUpti_ActivityKind kind);

/* Whether the client has enabled a kind that is also ours; any kind at all. */
bool gp_client_kinds_wants_ours(void);
bool gp_client_kinds_wants_any(void);

/* Inside a callback, at the beginning of each call while there is a client. */
void gp_client_kinds_note_call(uint32_t correlation_id);

/* Calls may have begun unnoticed: windows that open from now on start at the next noticed call. */
void gp_client_kinds_forget_calls(void);

/* Whether the client gets this record of this size. */
bool gp_client_kinds_wants(const CUpti_Activity *record, size_t bytes);

#endif
