/*
 * bounded_call: runs CUPTI and driver calls that may block on a helper thread, so that the caller
 * can give up at a time limit.
 *
 * A flush may wait for a running kernel (docs/design/cupti-notes.md, 3), and the driver may never
 * answer a query about a hanging GPU.  The sending thread goes on meanwhile.  One call at a time.
 */
#ifndef INJECT_BOUNDED_CALL_H
#define INJECT_BOUNDED_CALL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Start the helper thread, and wait briefly until its startup makes no more system calls.  `run`
 * executes a call there; `wake` is called there after each call.  Returns 0 or -errno.
 */
int gp_bounded_call_begin(void (*run)(uint32_t call), void (*wake)(void));

/* ---- the sending thread: one ---- */

/* Pass `call` to run().  False: a call is in progress, or the helper is closed. */
bool gp_bounded_call_send(uint32_t call);

/*
 * No call is in progress, and the results of the last one are complete.  False for ever after
 * gp_bounded_call_close().
 */
bool gp_bounded_call_is_done(void);

/* ---- inside run() ---- */

/* False after gp_bounded_call_close(): a run() that makes several calls checks this before each. */
bool gp_bounded_call_is_wanted(void);

/* ---- any thread ---- */

/* Start no further call, not even a sent one.  The helper thread ends after its current call. */
void gp_bounded_call_close(void);

#endif
