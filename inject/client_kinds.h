/*
 * share_kinds: which of CUPTI's records are ours, and which a client of CUPTI inside the program is to get a copy of.
 *
 * A kind that we record is on for both; the client gets what belongs to the times between its enabling and its disabling.
 * For what the device does, these are the numbers of the calls that started it, as CUPTI itself decides when a call is
 * made, not when it is carried out; for the rest, the times of the records.  A kind that only the client has enabled is
 * on in CUPTI for it alone, and all of its records are the client's.
 *
 * The client's part is changed by one thread at a time; records are looked at by the fetching thread.
 */
#ifndef INJECT_SHARE_KINDS_H
#define INJECT_SHARE_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

/* More than any libcupti has (60 in 13.4). */
#define GP_CLIENT_KINDS 128u

/* Once, before the first record.  numbered: calls have numbers of their own in this version of CUPTI. */
void gp_client_kinds_init(bool numbered);

/* We record this kind, or not. */
void gp_client_kinds_ours(CUpti_ActivityKind kind, bool ours);
bool gp_client_kinds_is_ours(CUpti_ActivityKind kind);

/* The client has enabled it once, and we do not record it. */
bool gp_client_kinds_is_clients_alone(CUpti_ActivityKind kind);

/* The client enables or disables a kind.  now_ns: CUPTI's time. */
void gp_client_kinds_enable(CUpti_ActivityKind kind, uint64_t now_ns);
void gp_client_kinds_disable(CUpti_ActivityKind kind, uint64_t now_ns);

bool gp_client_kinds_is_enabled(CUpti_ActivityKind kind);

/* Whether the client has enabled one that is ours; anything at all. */
bool gp_client_kinds_wants_ours(void);
bool gp_client_kinds_wants_any(void);

/* Inside a callback, at the beginning of each call, from when there is a client. */
void gp_client_kinds_call(uint32_t correlation_id);

/* Calls have begun unseen: what is enabled from now on begins with the next one that is seen. */
void gp_client_kinds_forget_calls(void);

/* Whether the client is to get this record of so many bytes. */
bool gp_client_kinds_wants(const CUpti_Activity *record, size_t bytes);

#endif
