/*
 * traces: the trace files of a command, loaded.
 *
 * A file that cannot be read, is named twice, is an export of another one, or is not complete gets
 * one line on stderr; the command uses the others.
 */
#ifndef REPORT_LOAD_TRACES_H
#define REPORT_LOAD_TRACES_H

#include <stdbool.h>
#include <stddef.h>

#include "report/model/load_options.h"
#include "report/model/model.h"

struct gp_traces {
	struct gp_model **models;
	size_t count;
	bool any_failed; /* could not be read */
};

/*
 * warn: print a line for each model that is not complete. Call gp_traces_free() in either case.
 * Returns 0 or -ENOMEM.
 */
int gp_traces_load(struct gp_traces *traces, char *const *paths, size_t count, bool warn);
void gp_traces_free(struct gp_traces *traces);

/*
 * Loads each process of a file, in the order of gp_import_process_count(), and hands its model over
 * to take(). Returns 0, the error of a file that cannot be read, with a message, or that of take().
 */
int gp_traces_load_processes(const char *path, const struct gp_load_options *options,
			     int (*take)(void *context, struct gp_model *model), void *context,
			     char *message, size_t message_bytes);

/*
 * The same, in one pass (report/model/sums/totals.h); where one is another profiler's, with all
 * that is in them.
 */
int gp_traces_load_in_one_pass(struct gp_traces *traces, char *const *paths, size_t count);

/*
 * Whether these files are so large that one page of them is better made in one pass: as large as
 * GP_TRACES_LARGE_BYTES together, or too large for the memory that is left.
 */
#define GP_TRACES_LARGE_BYTES (UINT64_C(512) << 20)
bool gp_traces_are_large(char *const *paths, size_t count);

/*
 * Hands the model of each file over to take(), one after the other, until it returns an error.
 * Files that cannot be read get a line on stderr, and *any_failed becomes true.  Returns that error,
 * 0 or -ENOMEM.
 */
int gp_traces_each(char *const *paths, size_t count,
		   int (*take)(void *context, struct gp_model *model), void *context,
		   bool *any_failed);

/*
 * Whether the files are so many or so large that they are better read one after the other, and small
 * enough for a few of them to be loaded together.
 */
#define GP_TRACES_MANY 1024u
bool gp_traces_are_many(char *const *paths, size_t count, uint32_t together);

/*
 * Load them and warn, and call use where any could be read; it returns an exit status.  Returns the
 * command's exit status.
 */
int gp_traces_use(char *const *paths, size_t count,
		  int (*use)(const struct gp_traces *traces, void *context), void *context);

/*
 * For commands that load one trace at a time: drops repeated paths, with a line for each. Returns 0
 * or -ENOMEM.
 */
int gp_traces_name_once(char **paths, size_t *count);

/*
 * Whether an export, or another profiler's trace, is of the same run as one of the models before it:
 * then a line says that the run is counted once.
 */
bool gp_traces_have_run(struct gp_model *const *models, size_t count, const struct gp_model *model);

/* One line on stderr for each reason why a model is not complete; none where it is. */
void gp_traces_warn(const struct gp_model *model);

#endif
