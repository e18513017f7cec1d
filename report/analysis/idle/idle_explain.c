#include "report/analysis/idle/idle_explain.h"

#include <assert.h>
#include <string.h>

#include "report/base/text/paragraph.h"

static const struct explanation {
	const char *title;
	const char *means, *helps; /* sentences */
} explanations[] = {
	[GP_IDLE_HOST] =
		{"the program did something else",
		 "No thread was in a recorded CUDA call: input was read, Python ran, the host computed, or asked again and again whether the GPU is done (cudaEventQuery, cudaStreamQuery: --trace=api-all records these).",
		 "`gpuprof summary --by host FILE` says what Python did meanwhile, `perf record -g` what native code did. Rules: data-loading, gpu-gaps, host-gaps, start-up, wind-down."},
	[GP_IDLE_LAUNCH] =
		{"operations are as short as what starting them takes",
		 "The thread was in a call that launches, or the next operation began within 50 us of its launch.",
		 "CUDA graphs, fewer and larger kernels. Rules: short-kernels, graph-launch, idle-rest."},
	[GP_IDLE_SYNC] =
		{"the host was in a call that waits, or came back from one",
		 "The GPU had finished, and the thread that was to give it more had not left the call that waits for it, or had left it at most 50 us ago.",
		 "Wait less often, or give the GPU the next work before waiting. Rules: sync-in-loop, sync-calls, idle-rest."},
	[GP_IDLE_COPY] =
		{"the host was in a copy or memset call",
		 "It moved or prepared data itself, as it must where its memory is pageable, or came back from a copy that waited.",
		 "Page-locked memory, asynchronous copies, fewer and larger ones. Rules: pageable-async, sync-copy, tiny-copies, hidden-wait, sync-memset."},
	[GP_IDLE_ALLOC] =
		{"the host was in a call that allocates or frees",
		 "cudaMalloc() and cudaFree() wait for the GPU, and take long.",
		 "Allocate once, or take memory from a pool. Rules: alloc-in-loop, idle-rest."},
	[GP_IDLE_SETUP] =
		{"contexts, code, streams, events or graphs were made",
		 "The first call makes the context; code is loaded when it is first used; NCCL makes communicators.",
		 "Most of it is a one-time cost, and no part of the steady state. Rules: start-up, first-use, jit-compile, graph-launch, idle-rest."},
	[GP_IDLE_DEPENDENCY] =
		{"the next operation had been launched, but did not begin",
		 "More than 50 us after its launch it waited for an event, a function of the host, managed memory or another device; or another process had the GPU, which serves them alternately.",
		 "`nvidia-smi` lists the processes that use the GPU: with others on it, times say little of the program. `gpuprof summary --by queue FILE` says how long operations waited, by stream."},
	[GP_IDLE_PROFILER] =
		{"CUPTI was at work for itself",
		 "The thread whose launch the GPU waited for, or one while none was in a CUDA call, was in CUPTI, as that says: for example for buffers of records.",
		 "Without a profiler such times are not there."},
	[GP_IDLE_UNUSED] =
		{"no process lived that had an operation on the device",
		 "Of several processes only others did. These may have made a context on it, or allocated memory that others use: their own summaries have it.",
		 "Look at the processes one by one: gpuprof summary FILE, or --by process."},
	[GP_IDLE_UNKNOWN] =
		{"the call that started the next operation is not in the trace, or what a process did that has no end",
		 "The call was lost, or made before the recording began. A process that was killed may have had the GPU from its last recorded call on: for example with a kernel that did not end.",
		 "Records, at the end of the summary, names the lost records and why they were lost."},
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
