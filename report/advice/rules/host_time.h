/*
 * host_time: what the host did during a long idle gap, as far as calls and ranges show it.
 *
 * A call that a compiler makes right before, within or at the end of a gap shows that it compiled,
 * or loaded compiled code: its cache is read by the same functions.  XLA's ranges show how long it
 * compiled.  An import counts only if the thread that the GPU waits for was in none before.
 */
#ifndef REPORT_ADVICE_RULES_HOST_TIME_H
#define REPORT_ADVICE_RULES_HOST_TIME_H

#include "report/advice/rules/advisor.h"

/* Where in the gap a compiler made a call: bits. */
enum gp_host_moment { GP_HOST_BEFORE = 1, GP_HOST_WITHIN = 2, GP_HOST_AFTER = 4 };

struct gp_host_time {
	uint64_t total_ns;
	uint64_t xla_ns;  /* while XLA compiled */
	uint64_t load_ns; /* in calls that load code, of the thread with most of that */
	enum gp_compiler compiler;
	unsigned moments;    /* of that compiler: enum gp_host_moment */
	enum gp_tuner tuner; /* of the call at the end */
	const char *range;   /* gp_host_range_of() the thread of that call */
};

/* Of a gap of the present process. */
struct gp_host_time gp_host_time_of(const struct gp_advisor *advisor,
				    const struct gp_idle_gap_at *at);

/*
 * The innermost range in which the thread was for 80 % of that time of its process; NULL: there is
 * none.
 */
const char *gp_host_range_of(const struct gp_model *model, uint32_t thread, uint64_t start_ns,
			     uint64_t end_ns);

/* The longest part of a time without a recorded call of the thread, and the calls around it, or NULL. */
struct gp_host_pause {
	const struct gp_call *before, *after;
	uint64_t start_ns, end_ns;
};
struct gp_host_pause gp_host_pause_of(const struct gp_model *model, uint32_t thread,
				      uint64_t start_ns, uint64_t end_ns);

/* The first call of a thread from that time on, or of a later thread: an index. */
uint32_t gp_host_first_call(const struct gp_model *model, uint32_t thread, uint64_t start_ns);

/* Whether an import, and no compiler, made the call at its end. */
bool gp_host_time_ends_in_import(const struct gp_advisor *advisor, const struct gp_idle_gap_at *at);

/* xla_ns, compiler, compiler_moment, tuner, range and load_ns, each if known and long enough. */
void gp_host_time_add_values(const struct gp_host_time *host, struct gp_document *values);
/* clang-format off */
#define GP_HOST_TIME_FOUND \
	"[; XLA compiled for {xla_ns} of [{?count=1}it|the longest]]" \
	"[; {compiler} was [{?compiler=Python}importing|compiling or loading compiled code] {compiler_moment}]" \
	"[; the next call is of {tuner}][; in range {range}]" \
	"[; loading code took {load_ns} of [{?count=1}it|the longest]]"
/* clang-format on */

/* compiled_by or tuned_by, if that is known and the host did not mostly load code. */
void gp_host_time_add_change(const struct gp_host_time *host, struct gp_document *values);
void gp_compiler_add_value(enum gp_compiler compiler, struct gp_document *values);
/* clang-format off */
#define GP_COMPILER_CHANGE \
	"{?in_loop}{?compiled_by=torch.compile}new shapes are compiled again and again: pad inputs to a few shapes, or compile for all shapes (torch.compile(dynamic=True))" \
	"|{?in_loop}{?compiled_by=JAX}new shapes are compiled again and again: pad inputs to a few shapes; use static_argnums only for arguments with few values" \
	"|{?compiled_by=torch.compile}a function is compiled at its first call with new shapes: make that call before the measured part, and if it is compiled again and again, pad inputs to a few shapes; the next run reuses the code if TORCHINDUCTOR_CACHE_DIR persists (default: /tmp/torchinductor_USER)" \
	"|{?compiled_by=Triton}a kernel is compiled at its first launch: launch it before the measured part, and keep TRITON_CACHE_DIR (default: ~/.triton/cache)" \
	"|{?compiled_by=JAX}a function is compiled at its first call with new shapes: make that call before the measured part, and if it is compiled again and again, pad inputs to a few shapes; JAX keeps the code for the next run in JAX_COMPILATION_CACHE_DIR, if set (with jax_persistent_cache_min_compile_time_secs=0 also code that compiles in less than a second)" \
	"|{?compiled_by=CuPy}a kernel is compiled at its first use: use it before the measured part, and keep CUPY_CACHE_DIR (default: ~/.cupy/kernel_cache)" \
	"|{?compiled_by=Numba}a kernel is compiled at its first call with new types: call it before the measured part; @cuda.jit(cache=True) keeps the code for the next run" \
	"|{?compiled_by=torch.utils.cpp_extension}build the extension beforehand: setup.py with CUDAExtension" \
	"|{?compiled_by=Python}import modules before the work begins, not while the GPU waits: the run becomes shorter only without the import (python3 -X importtime lists the times)" \
	"|{?tuned_by=PyTorch Inductor's benchmarks}kernels are compiled and benchmarked at their first use: do that before the measured part; the next run reuses the choice if TORCHINDUCTOR_CACHE_DIR persists (default: /tmp/torchinductor_USER)" \
	"|{?tuned_by=Triton's benchmarks}configurations are compiled and benchmarked at the first launch with new keys: do that before the measured part, try fewer, or keep the choice (triton.autotune's cache_results=True)" \
	"|{?tuned_by=cuDNN's benchmark mode}algorithms are benchmarked for each new shape: do that before the measured part, or disable it (torch.backends.cudnn.benchmark=False)" \
	"|{?tuned_by=PyTorch's TunableOp}operators are tuned for each new shape: tune once, and run with the results (torch.cuda.tunable.tuning_enable(False))"
/* clang-format on */

#endif
