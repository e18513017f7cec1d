#include "report/analysis/idle/idle_explain.h"

#include <assert.h>
#include <string.h>

#include "report/base/text/paragraph.h"

static const struct explanation {
	const char *title;
	const char *means, *helps; /* sentences */
} explanations[] = {
	[GP_IDLE_HOST] =
		{"the host was in no recorded CUDA call",
		 "No thread was in a recorded CUDA call: the program read input, ran Python, computed, or polled the GPU (cudaEventQuery, cudaStreamQuery: --trace=api-all records these calls).",
		 "`gpuprof summary --by host FILE` shows what Python did meanwhile, `perf record -g` what native code did. Rules: data-loading, gpu-gaps, host-gaps, start-up, wind-down."},
	[GP_IDLE_LAUNCH] =
		{"the host launched operations more slowly than the GPU ran them",
		 "The thread was in a call that launches, or the next operation began within 50 us of its launch. Time in no call counts, too, between two launches at most 200 us apart, with no wait for the GPU between them: a framework prepares the next one then. The rule short-kernels is about this time.",
		 "Use CUDA graphs, or fewer and larger kernels. Rules: short-kernels, graph-launch, idle-rest."},
	[GP_IDLE_SYNC] =
		{"the host was in a call that waits, or had just returned from one",
		 "The GPU had finished. The thread that launched the next operation was still in the call that waits for the GPU, or had returned from it at most 50 us before.",
		 "Wait less often, or launch the next work before the wait. Rules: sync-in-loop, sync-calls, idle-rest."},
	[GP_IDLE_COPY] =
		{"the host was in a copy or memset call",
		 "The host moved or prepared the data itself, as copies of pageable memory require, or had just returned from a copy that waited.",
		 "Use page-locked memory, asynchronous copies, and fewer and larger copies. Rules: pageable-async, sync-copy, tiny-copies, hidden-wait, sync-memset."},
	[GP_IDLE_ALLOC] =
		{"the host was in a call that allocates or frees",
		 "cudaMalloc() and cudaFree() are slow, and can wait for the GPU.",
		 "Allocate once, or take memory from a pool. Rules: alloc-in-loop, idle-rest."},
	[GP_IDLE_SETUP] =
		{"contexts, streams, events or graphs were created, or code was loaded",
		 "The first call creates the context. Code is loaded at its first use. NCCL creates communicators.",
		 "Most of it is a one-time cost, outside of the steady state. Rules: start-up, first-use, jit-compile, graph-launch, idle-rest."},
	[GP_IDLE_DEPENDENCY] =
		{"the next operation had been launched, but did not begin",
		 "More than 50 us after its launch, the operation still waited for an event, a host function, managed memory or another device; or another process used the GPU, which serves processes alternately.",
		 "`nvidia-smi` lists the processes that use the GPU. If there are others, times say little about this program. `gpuprof summary --by queue FILE` shows how long operations waited, by stream."},
	[GP_IDLE_PROFILER] =
		{"the profiler did its own work",
		 "CUPTI reports that it did its own work (for example, it requested a record buffer), or gpuprof's Python package read the trace for the program. This was in the thread whose launch the GPU waited for, or in any thread while no thread was in a CUDA call.",
		 "No change is needed: without a profiler this time does not exist."},
	[GP_IDLE_UNUSED] =
		{"no process with work for the device was alive",
		 "Only processes without an operation on this device were alive. They may have created a context on it, or allocated memory that others use: their own summaries show it.",
		 "Look at the processes one by one: gpuprof summary FILE, or --by process."},
	[GP_IDLE_UNKNOWN] =
		{"the trace lacks work on the GPU, the call that launched the next operation, or the end of a process",
		 "A kernel or a graph was launched, but has no record, and may have run then. Or the call was lost, or was made before the recording began. Or a process was killed, and may have used the GPU after its last recorded call, for example with a kernel that did not end.",
		 "The section Records, at the end of the summary, lists the lost records and their causes."},
};
static_assert(sizeof(explanations) / sizeof(explanations[0]) == GP_IDLE_CAUSES,
	      "a cause is not explained");

enum gp_idle_cause gp_idle_cause_find(const char *name)
{
	enum gp_idle_cause cause = 0;

	while (cause < GP_IDLE_CAUSES && strcmp(gp_idle_cause_name(cause), name) != 0)
		cause++;
	return cause;
}

void gp_idle_cause_explain(FILE *out, enum gp_idle_cause cause)
{
	const struct explanation *of = &explanations[cause];

	fprintf(out, "%s, a cause of idle time: %s\n", gp_idle_cause_name(cause), of->title);
	gp_paragraph_explain(out, "What it means", of->means);
	gp_paragraph_explain(out, "What helps", of->helps);
}

void gp_idle_causes_list(FILE *out)
{
	for (enum gp_idle_cause i = 0; i < GP_IDLE_CAUSES; i++)
		fprintf(out, "%-16s  %s\n", gp_idle_cause_name(i), explanations[i].title);
}
