#include "report/advice/rules/rules.h"

#include "report/advice/rules/copies.h"

static bool is_pageable_async(const struct gp_op *op)
{
	return (op->flags & GP_COPY_ASYNC) && gp_copy_is_pageable(op);
}

static void look(struct gp_advisor *advisor)
{
	gp_copies_look(advisor, is_pageable_async);
}

const struct gp_rule gp_rule_pageable_async = {
	.id = "pageable-async",
	.title = "asynchronous copies with pageable memory block the host",
	.found =
		"[{?step_count}{?copy_kind=DtoH}{!language=native}each step fetches {step_count} array[{!step_count=1}s] ({step_bytes}[{!step_count=1} together]) to pageable memory, which blocks the host for {step_time_ns}"
		"|[{?step_count}asynchronous {copy_kind} copies [{?copy_kind=HtoD}from|to] pageable memory block the host for {step_time_ns} in each step ({step_count} time[{!step_count=1}s], {step_bytes})"
		"|{count} asynchronous {copy_kind} copies [{?copy_kind=HtoD}from|to] pageable memory, {bytes} in all, blocked the host for {time_ns}]: such copies are not asynchronous]" GP_COPIES_RATE,
	.change =
		"[{?copy_kind=DtoH}{?is_result}" GP_READ_LESS
		"|{?copy_kind=DtoH}{?language=jax}compute on the device what the host makes of it (jax.numpy, also in place of jax.pure_callback), and fetch the result, or fetch it in fewer steps"
		"|{?copy_kind=DtoH}{?language=torch}compute on the GPU what the host makes of it, and fetch the result, or copy to page-locked memory: torch.empty(..., pin_memory=True), copy_(..., non_blocking=True)"
		"|{?copy_kind=DtoH}{?language=cupy}copy less, by computing on the GPU, or copy to page-locked memory: get(out=cupyx.empty_pinned(...))"
		"|{?language=torch}make the host memory page-locked: pin_memory=True of a DataLoader or torch.empty, or pin_memory() of a tensor"
		"|{?language=jax}keep the data on the device: jax.device_put before the loop"
		"|{?language=cupy}make the host memory page-locked: cupyx.empty_pinned()"
		"|{?language=python}make the host memory page-locked: cudaHostRegister, pin_memory=True (PyTorch), cupyx.empty_pinned() (CuPy)"
		"|use page-locked host memory: cudaMallocHost or cudaHostRegister]",
	.meaning =
		"cudaMemcpyAsync is asynchronous only with page-locked (pinned) host memory. With pageable memory the driver copies through its own buffer. The call blocks, nothing overlaps, and the copy reaches a fraction of the link's bandwidth. Copies of {GP_STAGED_BYTES} or less to the device do not count: the driver sends these bytes with the command. The saving is at most the time in the calls, without the work that the GPU had meanwhile.",
	.remedy =
		"Allocate the buffer once with cudaMallocHost or cudaHostAlloc and reuse it, or register it with cudaHostRegister. PyTorch: pin_memory=True and non_blocking=True.",
	.ignore =
		"The data is copied once: page-locking costs as much as the copy. Or host memory is scarce: page-locked memory cannot be swapped out.",
	.threshold = {.saves_percent = 2,
		      .saves_ns = 100000,
		      .count = 4,
		      .reason = "Fewer copies are input and output of the program"},
	.is_of_gpu = true, /* of its copy engines */
	.own_bytes = sizeof(struct gp_copies),
	.look = look,
	.add_values = gp_copies_add_values,
};
