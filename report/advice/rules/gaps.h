/*
 * gaps: the values and sentences of findings about long idle gaps (gpu-gaps, host-gaps, idle-rest):
 * their lengths, the calls around the longest one, and the host's activity in them.
 */
#ifndef REPORT_ADVICE_RULES_GAPS_H
#define REPORT_ADVICE_RULES_GAPS_H

#include "report/advice/rules/advisor.h"
#include "report/advice/rules/dependency.h"
#include "report/advice/rules/host_time.h"

/* The row for a gap between two such operations, if the second one is launched at that site. */
struct gp_tally_row *gp_gaps_pair(struct gp_advisor *advisor, struct gp_tally *habits,
				  const struct gp_op *before, const struct gp_op *after);

/*
 * A context that was created in a gap: the first one of its process, while others had work; one of
 * another GPU than the waiting one; another one of that GPU.
 */
enum gp_maker { GP_MAKER_NONE, GP_MAKER_FIRST, GP_MAKER_OTHER_GPU, GP_MAKER_AGAIN };

/* What such a rule keeps of a case. */
struct gp_gaps {
	/* the longest gap */
	uint64_t longest_ns;
	struct gp_host_time host;         /* the host's activity in it ... */
	uint64_t range;                   /* ... and the text of its range */
	uint64_t before, after;           /* the texts of the functions around it ... */
	uint32_t before_site, after_site; /* ... and their sites, GP_NO_SITE = none */
	bool names_ends;       /* both are known, and the host did its own work between them */
	uint8_t share;         /* of its cause, in 255ths */
	enum gp_maker kind;    /* of the context that took most of it ... */
	uint64_t maker;        /* ... the text of the function that created it, "" = none ... */
	uint64_t maker_ns;     /* ... its time in the gap ... */
	uint32_t maker_device; /* ... and its GPU */
	uint64_t call;         /* startup, allocation: the text of the longest call ... */
	uint64_t call_ns;      /* ... its time in the gap, its site, and how many there are */
	uint32_t call_site, calls;
	bool names_call; /* that site is the place to look at */

	/* all gaps */
	uint64_t new_code_ns;             /* of gaps after which code is loaded ... */
	uint64_t new_code_count;          /* ... and how many are in steps that recur */
	uint64_t imports;                 /* the number that end in an import */
	bool has_samples;                 /* there are Python samples of one */
	uint16_t device;                  /* of the first one, as idle_gaps numbers it ... */
	bool is_of_many;                  /* ... others are of other GPUs */
	bool is_outside;                  /* launched operations waited for other programs */
	uint64_t beside_ns;               /* time in which another GPU of the process worked ... */
	uint64_t beside, beside_votes_ns; /* ... mostly this one */
};

/* Add a gap to a case of the present process whose other_detail is its cause. */
void gp_gaps_add(struct gp_advisor *advisor, struct gp_case *found, const struct gp_idle_gap_at *at,
		 uint64_t saves_ns);

/*
 * After all gaps: cases of host-bound gaps in which samples found the host at the same work become
 * one, wherever the gaps end; outside of the loop they stay separate, unless they are like those
 * in it.
 */
void gp_gaps_join(struct gp_advisor *advisor);

/* For gp_rule.  Values that start with before and after are of the longest gap. */
void gp_gaps_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
			struct gp_document *values);
bool gp_gaps_names_place(const struct gp_case *found);

/* clang-format off */
#define GP_GAPS_FOUND \
	"[{?count=1}{gpu} is idle for {longest_ns}|{gpu} is idle {count} times, for {mean_ns} on average, {longest_ns} at most]" \
	": [{?is_mostly}mostly ]{cause}[{?cause=dependency} (the next operation was launched, but did not start)]" \
	"[{?is_outside}; nothing of this process blocked it]" \
	"[, while GPU {other_gpu} worked for {other_gpu_ns} of it]" \
	"[{?is_pause}; the host was in no recorded call[{!count=1}, the longest time] [from {before}[ at {before_place}] to|until] {after}[ at {after_place}]]" \
	"[{?context=first} ({context_function} created the process's context)" \
	"|{?context} ({context_function} created [{?context=again}another|a] context on GPU {context_gpu} in {context_ns} of it)" \
	"|; {longest_call} took {longest_call_ns} of it[ at {longest_call_place}][, the longest of {similar_calls} such calls]]" \
	"[; in {new_code_count} of these gaps code is loaded][{samples}]" GP_HOST_TIME_FOUND \
	"[{!is_pause}; [{!count=1}the longest ][after {before}[ at {before_place}], ]before {after}[ at {after_place}]]"
/* clang-format on */

/* clang-format off */
#define GP_GAPS_CHANGE \
	"[{?context=first}{?cause=startup}create the context earlier, while other processes have work for the GPU: cudaFree(0) as the first call creates it" \
	"|{?context=other}{?cause=startup}create the contexts of all GPUs in parallel before the work begins, each in a thread (cudaSetDevice, then cudaFree(0)): each takes longer then, so a part of the time is saved; or do without GPUs whose work is shorter" \
	"|{?context=again}{?cause=startup}use one context of a GPU from start to end: do not destroy it (cudaDeviceReset) or create another (cuCtxCreate)" \
	"|give the GPUs equal shares of the work: GPU {other_gpu} worked for {other_busy_ns}, GPU {own_gpu} for {own_busy_ns}" \
	"|" GP_DEPENDENCY_CHANGE \
	"|{?ends_late}the GPU had finished the work of this process, and the host continued to wait: the driver notices the end late if programs share a GPU, and others held up to {others_bytes} of its memory; give this one its own GPU, and do not wait if the host reads no result" \
	"|" GP_COMPILER_CHANGE "|{?cause=launch-bound}launch ahead of the GPU" \
	"|{?cause=sync-bound}do not wait if the host reads no result" \
	"|{?cause=copy-bound}copy ahead, asynchronously, from page-locked memory" \
	"|{?cause=allocation}[{?language=torch}PyTorch keeps freed memory for reuse, unless the program calls torch.cuda.empty_cache() or runs with PYTORCH_NO_CUDA_MEMORY_CACHING=1: do neither|allocate before the work begins, and free after it]" \
	"|{?cause=startup}create streams, graphs and libraries, and load code, before the work begins: a run becomes shorter only by objects that it does not create" \
	"|{?cause=profiler overhead}nothing: without a profiler this time does not exist" \
	"|{?cause=unknown}look at the timeline: gpuprof export FILE" \
	"|{?is_waiting}start the awaited work earlier, give it more threads or processes, or give the GPU other work meanwhile; more: gpuprof summary --by host FILE, gpuprof trace host FILE" \
	"|[{?new_code_count}use few shapes: libraries choose and load kernels for each new one, and compilers compile for it; pad lengths to a few sizes[{?language=torch}, or, if it is attention, choose a backend that needs no plan for each length (torch.nn.attention.sdpa_kernel)]; else " \
	"|{?is_new_code}call it once before the measured part, as code is loaded for the first time: libraries choose or compile kernels then, as cuDNN does for each new shape[{?language=torch} (torch.backends.cudnn.benchmark=False tries fewer)]; else ]" \
	"[{?is_result}compute this on the GPU, which has the values, or in fewer steps, or in another thread while the GPU works; more: gpuprof summary --by host FILE" \
	"|{?samples}[{?in_loop}do this work once before the loop, on the GPU, or in another thread or process while the GPU works|do this work before the first launch, after the last, or in another process]; more: gpuprof summary --by host FILE, gpuprof trace host FILE" \
	"|[{?is_imported}{!language=native}what Python did between CUDA calls is not in this trace of another profiler: record its functions (torch.profiler: with_stack=True), or the program with gpuprof-run, which samples Python stacks" \
	"|gpuprof records CUDA calls, not the host's computation between them: {sampler} shows it]; move work that can move before the first launch, after the last, or into another thread]]"
/* clang-format on */

#endif
