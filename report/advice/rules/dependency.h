/* dependency: idle gaps in which the next operation was launched, but did not start. */
#ifndef REPORT_ADVICE_RULES_DEPENDENCY_H
#define REPORT_ADVICE_RULES_DEPENDENCY_H

#include "report/advice/rules/advisor.h"

/*
 * Whether nothing of the process itself can delay an operation while its GPU is idle: then other
 * programs use the GPU.  All operations are recorded, by gpuprof, on one GPU; no stream waits for
 * host functions, values in memory or events of other processes, and no managed memory is
 * prefetched.  Other profilers do not record the calls that begin such waits.
 */
bool gp_dependency_is_outside(const struct gp_model *model);

/* dependency: "programs", "missing", "prefetch" or "unknown"; and the details of each. */
void gp_dependency_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
			      struct gp_document *values);
/* clang-format off */
#define GP_DEPENDENCY_CHANGE \
	"{?dependency=programs}[programs alternate on a GPU, and others held up to {others_bytes} of its memory: give this one its own GPU, or share it with MPS (nvidia-cuda-mps-control)" \
	"|another process may have used the GPU (nvidia-smi lists them): processes take turns[{?may_migrate}; or managed memory migrated (--trace=default,unified shows it)]]" \
	"|{?dependency=missing}[{left_out_kernels} kernels of this process are left out by --kernels, and may have used the GPU: record without it" \
	"|{why_missing}, and an operation of this process may have used the GPU]" \
	"|{?dependency=prefetch}the process prefetches managed memory (cudaMemPrefetchAsync), and the next operation of the stream waits for that: --trace=default,unified records it; or another process used the GPU (nvidia-smi lists them)" \
	"|{?dependency}check what the operation waits for: a host function, another device, another process; or other programs used the GPU (nvidia-smi lists them)"
/* clang-format on */

#endif
