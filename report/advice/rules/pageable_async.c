/*
 * Asynchronous copies from or to pageable memory.  Speaks where such copies at a call site could
 * save 2 % of the recorded time and 100 us, at least 4 of them.  Copies to the device of 64 KiB and
 * less do not count: the driver takes these bytes along at once.
 */
#include "report/advice/rules/rules.h"

#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/copies.h"
#include "report/advice/rules/language.h"

static bool is_of_pageable(const struct gp_op *op)
{
	return (op->flags & GP_COPY_ASYNC) && gp_copy_is_pageable(op);
}

static void look(struct gp_advisor *advisor)
{
	gp_copies_look(advisor, is_of_pageable);
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	(void)advisor;
	fprintf(out,
		"%s asynchronous %s copies %s pageable memory, %s in all, blocked the host for %s: such copies are not asynchronous",
		gp_format_count(found->count).text, gp_copy_kind_name((uint8_t)found->detail),
		found->detail == GP_COPY_HTOD ? "from" : "to", gp_format_bytes(found->bytes).text,
		gp_format_ns(found->time_ns).text);
	if (!gp_copies_are_results(found))
		gp_copies_tell_rate(found, out);
}

static const char *const changes[GP_LANGUAGES] = {
	[GP_LANGUAGE_NATIVE] = "use page-locked host memory: cudaMallocHost or cudaHostRegister",
	[GP_LANGUAGE_PYTHON] =
		"make the host's memory page-locked: cudaHostRegister; in PyTorch pin_memory=True, in CuPy cupyx.empty_pinned()",
	[GP_LANGUAGE_TORCH] =
		"make the host's memory page-locked: pin_memory=True of a DataLoader or of torch.empty, pin_memory() of a tensor",
	[GP_LANGUAGE_CUPY] = "make the host's memory page-locked: cupyx.empty_pinned()",
};

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	if (found->detail == GP_COPY_DTOH && gp_copies_are_results(found))
		gp_copies_advise_less(advisor, found, out);
	else
		gp_language_advise(advisor, found, changes, out);
}

const struct gp_rule gp_rule_pageable_async = {
	.id = "pageable-async",
	.title = "asynchronous copies with pageable memory block the host",
	.meaning =
		"cudaMemcpyAsync is asynchronous only with page-locked (pinned) host memory. With pageable memory the driver copies through its own buffer. The call blocks, nothing overlaps, and the copy reaches a fraction of the link's bandwidth. The saving is at most the time in the calls, without the work that the GPU had meanwhile.",
	.change =
		"Allocate the buffer once with cudaMallocHost or cudaHostAlloc and reuse it, or register it with cudaHostRegister. PyTorch: pin_memory=True and non_blocking=True.",
	.ignore =
		"The data is copied once: page-locking costs as much as the copy. Or host memory is scarce: page-locked memory cannot be swapped out.",
	.threshold = {.saves_percent = 2, .saves_ns = 100000, .count = 4},
	.is_of_gpu = true, /* of its copy engines */
	.own_bytes = sizeof(struct gp_copies),
	.look = look,
	.tell = tell,
	.advise = advise,
};
