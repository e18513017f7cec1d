/*
 * meanwhile: what Python did while a case's idle times let the GPU wait, by looks at its stacks
 * (report/tables/host_work.h).
 */
#ifndef REPORT_ADVICE_RULES_MEANWHILE_H
#define REPORT_ADVICE_RULES_MEANWHILE_H

#include "report/advice/rules/advisor.h"

/*
 * Add to the case what the thread that ended an idle time did from its start to end_unix_ns, in no
 * recorded call of CUDA.  False: nothing is known of that.  advisor->error tells of errors.
 */
bool gp_meanwhile_add(struct gp_advisor *advisor, const struct gp_case *found,
		      const struct gp_idle_gap_at *at, uint64_t end_unix_ns);

/*
 * The same of a thread and a time on the present process's timeline; of the main thread, where no
 * look in it is at that one.
 */
bool gp_meanwhile_add_time(struct gp_advisor *advisor, const struct gp_case *found, uint32_t thread,
			   uint64_t start_ns, uint64_t end_ns);

/* The same of such times, in calls or not. */
bool gp_meanwhile_add_times(struct gp_advisor *advisor, const struct gp_case *found,
			    uint32_t thread, const struct gp_interval *times, uint32_t count);

/*
 * The same of a time that is short and one of many, in no call: of the looks alone that fell into
 * it.  For gp_meanwhile_tell_counts().
 */
bool gp_meanwhile_add_looks(struct gp_advisor *advisor, const struct gp_case *found,
			    uint32_t thread, uint64_t start_ns, uint64_t end_ns);

/*
 * "; meanwhile the host was in load (data.py:7) for 1.9s; importing numpy at load (data.py:9) for
 * 1.1s": each a part of its own, the last ones go first where there is no room.  Then what another
 * thread did, which may have kept this one from running where neither waits.  Returns how many
 * looks tell of all of it.
 */
uint64_t gp_meanwhile_tell(const struct gp_advisor *advisor, const struct gp_case *found,
			   FILE *out);

/*
 * The same of looks: "; meanwhile, by 39 looks, the host was in load (data.py:7) 21 times (25 with
 * other lines); in save (data.py:9) 10 times".
 */
void gp_meanwhile_tell_counts(const struct gp_advisor *advisor, const struct gp_case *found,
			      FILE *out);

/*
 * For what the thread waited for most of that time: for another one of Python's, or for a process,
 * a socket.  It may be polling where it stays at one instruction, as in time.sleep(), while another
 * thread is in calls that take long.
 */
enum gp_wait { GP_WAIT_NONE, GP_WAIT_POLLING, GP_WAIT_THREAD, GP_WAIT_OUTSIDE };
enum gp_wait gp_meanwhile_wait(const struct gp_advisor *advisor, const struct gp_case *found);

/*
 * The compiler, or the imports, that took half of what is known of it, and a fifth of the case's
 * time; else GP_COMPILER_NONE.
 */
enum gp_compiler gp_meanwhile_compiler(const struct gp_advisor *advisor,
				       const struct gp_case *found);

/* That of half of the looks within times (gp_meanwhile_add_looks()); of fewer than ten none. */
enum gp_compiler gp_meanwhile_compiler_by_looks(const struct gp_advisor *advisor,
						const struct gp_case *found);

/*
 * The same of times that hold more than the case's idle ones, as shares: "; by 145 looks while
 * these were launched the host was in step (train.py:40) for 63.0 % of the time; in load
 * (data.py:7) for 20.1 %".  when: "while ...".  Of fewer than ten looks without the shares; nothing
 * of no looks.
 */
void gp_meanwhile_tell_shares(const struct gp_advisor *advisor, const struct gp_case *found,
			      const char *when, FILE *out);

/* "; told by 63 looks at Python's stack (82 of the process's 145 found none)"; nothing of none. */
void gp_meanwhile_tell_looks(const struct gp_advisor *advisor, const struct gp_case *found,
			     uint64_t looks, FILE *out);

#endif
