/*
 * host_samples: what Python did during the idle gaps of a case, according to its stack samples
 * (report/tables/host_work.h).
 */
#ifndef REPORT_ADVICE_RULES_HOST_SAMPLES_H
#define REPORT_ADVICE_RULES_HOST_SAMPLES_H

#include "report/advice/rules/advisor.h"

/*
 * Each of these adds the samples of a thread to a case, or those of the main thread if there is none
 * of that thread.  False: there are no samples.  advisor->error tells of errors.
 *
 * - gp_host_samples_add(): from the start of a gap to end_unix_ns, of the thread that ended it,
 *   outside of recorded calls;
 * - _time(): of a time of the present process, outside of recorded calls;
 * - _times(): of several times, in calls or not;
 * - _counts(): of one of many short times, outside of calls: the number of samples in it.
 */
bool gp_host_samples_add(struct gp_advisor *advisor, const struct gp_case *found,
			 const struct gp_idle_gap_at *at, uint64_t end_unix_ns);
bool gp_host_samples_add_time(struct gp_advisor *advisor, const struct gp_case *found,
			      uint32_t thread, uint64_t start_ns, uint64_t end_ns);
bool gp_host_samples_add_times(struct gp_advisor *advisor, const struct gp_case *found,
			       uint32_t thread, const struct gp_interval *times, uint32_t count);
bool gp_host_samples_add_counts(struct gp_advisor *advisor, const struct gp_case *found,
				uint32_t thread, uint64_t start_ns, uint64_t end_ns);

/* The line of the program with half of that time, else its function with that; "": none has. */
const char *gp_host_samples_place(const struct gp_advisor *advisor, const struct gp_case *found);

/*
 * The text, for gp_advisor_text_of(), of the function that a sentence names first, if it has half of
 * that time; "": none has.
 */
uint64_t gp_host_samples_first(struct gp_advisor *advisor, const struct gp_case *found);

/* Gives the samples of a case to another one. */
void gp_host_samples_move(struct gp_advisor *advisor, const struct gp_case *from,
			  const struct gp_case *to);

/*
 * What the thread mostly waited for: another Python thread, or a process or socket.  It polls if it
 * stays at one instruction, as in time.sleep(), while another thread is in long calls.
 */
enum gp_wait { GP_WAIT_NONE, GP_WAIT_POLLING, GP_WAIT_THREAD, GP_WAIT_OUTSIDE };
enum gp_wait gp_host_samples_wait(const struct gp_advisor *advisor, const struct gp_case *found);

/*
 * The compiler, or the imports, with half of the sampled time and 1/GP_COMPILER_PART of the case's
 * time; or with half of the samples of gp_host_samples_add_counts(), if these are enough for a share.
 */
enum gp_compiler gp_host_samples_compiler(const struct gp_advisor *advisor,
					  const struct gp_case *found);
enum gp_compiler gp_host_samples_compiler_by_count(const struct gp_advisor *advisor,
						   const struct gp_case *found);

/*
 * Whether the host mostly worked with what it had read from the GPU: most of the samples are of the
 * function that made the call before the gaps, and another one made the call after them.
 */
bool gp_host_samples_use_result(const struct gp_advisor *advisor, const struct gp_case *found,
				uint32_t before_site, uint32_t after_site);

/*
 * Whether the samples, if there are GP_SPOT_SAMPLES, find the host at work that prepares no data:
 * half of them are not in a loader, and it does not wait for another thread or process.
 */
bool gp_host_samples_are_other_work(const struct gp_advisor *advisor, const struct gp_case *found);

/*
 * Add "samples", a clause that begins with "; ": the functions with most of the time, each with its
 * time (of a cost of the loop: for each of the case's gaps or steps, on average), the number of its samples (for gp_host_samples_add_counts()), or its share of a time that is
 * longer than the gaps; then the busiest other thread, which may have blocked this one.
 */
enum gp_sample_style { GP_SAMPLE_TIMES, GP_SAMPLE_COUNTS, GP_SAMPLE_SHARES };
void gp_host_samples_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
				enum gp_sample_style style, struct gp_document *values);

#endif
