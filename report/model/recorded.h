/*
 * recorded: the recorded part of a process: when, the words of --trace, and whether all of it is
 * there.
 */
#ifndef REPORT_MODEL_RECORDED_H
#define REPORT_MODEL_RECORDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/base/text/format.h"
#include "report/model/model.h"

#define GP_RECORDED_WORDS_BYTES 1024 /* of an option, with the final 0 */

/* A time in which was recorded; gates are NULL where it is the trace that begins or ends. */
struct gp_recorded_part {
	const struct gp_gate *resumed, *paused;
	uint64_t start_ns, end_ns; /* end >= start */
};

/*
 * The parts in order; *next is 0 for the first one.  False: no more.  Where nothing paused the
 * recording there is one, the whole trace.
 */
bool gp_recorded_part(const struct gp_model *model, uint32_t *next, struct gp_recorded_part *part);

/*
 * Whether --trace had that word, or one that includes it: "gpu", "memory", ...; of another
 * recorder's trace: whether it has that kind.
 */
bool gp_recorded_kind(const struct gp_model *model, const char *word);

/*
 * False: CUPTI made no kernel records, because --counters counted instructions by opcode. Only the
 * measured kernels are there, without times.
 */
bool gp_recorded_has_kernels(const struct gp_model *model);

/* The list of --ranks, by which only some ranks of the job were recorded; empty = all were. */
struct gp_recorded_ranks {
	char text[GP_RECORDED_WORDS_BYTES];
};
struct gp_recorded_ranks gp_recorded_ranks(const struct gp_model *model);

/* Whether --stacks chose some launches for a stack, not all or none of them. */
bool gp_recorded_samples_launches(const struct gp_model *model);

/*
 * Whether --sample chose its windows at random: sums of events are those of the windows, and what
 * was allocated is unknown.
 */
bool gp_recorded_is_sampled(const struct gp_model *model);
bool gp_recorded_any_sampled(struct gp_model *const *models, size_t model_count);

/* Whether it tells what was allocated at any time. */
bool gp_recorded_knows_memory(const struct gp_model *model);

/* Whether a part of the file cannot be read: its content and times are not known. */
bool gp_recorded_is_damaged(const struct gp_model *model);

/*
 * Whether records are missing that the process made: dropped, not written, or in a damaged part of
 * the file.
 */
bool gp_recorded_has_lost(const struct gp_model *model);

/*
 * Whether the trace has only the last part of the recording (--keep-last): no figure includes the
 * earlier part.
 */
bool gp_recorded_is_last_part(const struct gp_model *model);
bool gp_recorded_any_last_part(struct gp_model *const *models, size_t model_count);

/* Whether the trace has its end: the process closed it, and nothing was cut off since. */
bool gp_recorded_is_whole(const struct gp_model *model);

/* The reason why a trace has no end, though its process has ended, as far as it is known. */
const char *gp_recorded_why_no_end(const struct gp_model *model);

/* The same of any trace that is not whole, for an export of it. */
const char *gp_recorded_tell_no_end(const struct gp_model *model);

/*
 * How the process ended: "exit 3", "SIGSEGV", "exec", "killed or crashed"; "running"; "-": it is
 * not known.
 */
struct gp_figure gp_recorded_how_ended(const struct gp_model *model);

/*
 * The last that is known of the process: of one that lives, when its rings were read; of a dead
 * one, the last that was heard of it.
 */
uint64_t gp_recorded_last_known_ns(const struct gp_model *model);

/* Whether its recorder takes a few steps of a loop, which stand for all: torch.profiler does. */
bool gp_recorded_few_steps(const struct gp_model *model);

/* Whether it is an export of a trace that gpuprof recorded. */
bool gp_recorded_is_own_export(const struct gp_model *model);

/* Whether another profiler recorded it, also if this is gpuprof's export of that. */
bool gp_recorded_by_another(const struct gp_model *model);

/* Whether every operation on the GPU is in the model that ran while recording was on. */
bool gp_recorded_has_all_operations(const struct gp_model *model);

/* The kinds of operations that the model lacks, after "; "; NULL if it has all. */
const char *gp_recorded_why_not_all(const struct gp_model *model);

#endif
