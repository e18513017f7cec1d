#include "report/advice/rules/rules.h"

#include "report/advice/rules/copies.h"
#include "report/advice/rules/next_wait.h"
#include "report/trace/cuda_names.h"

struct own {
	uint64_t calls_ns; /* of the calls */
	uint64_t idle_ns;  /* of the GPU after them, because of the host */
	uint64_t pageable; /* the copies from or to pageable memory */
	struct gp_next_wait next;
};

/* Copies that wait in parallel share the idle time after them: it counts once. */
static uint64_t new_idle_ns(const struct gp_advisor *advisor, const struct gp_call *call)
{
	const struct gp_idle_gap *after = gp_advisor_idle_gap_after(advisor, call);

	return after && after->taker != advisor->rule ? gp_advisor_host_part_ns(after) : 0;
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_call_list *copies = gp_advisor_calls(advisor, GP_API_COPY);

	for (uint32_t i = 0; i < copies->count; i++) {
		const struct gp_call *call = gp_advisor_call(advisor, copies, i);
		const struct gp_op *op = gp_host_copy(advisor, call);
		struct gp_case *found;
		struct own *own;
		struct gp_idle_gap *idle_gap;
		uint64_t saves_ns, idle_ns, waited_ns;

		if (!op || !gp_copy_waits_for_others(advisor, call, op))
			continue;
		idle_ns = new_idle_ns(advisor, call);
		waited_ns = gp_copy_waited_ns(advisor, call, op);
		saves_ns = gp_advisor_wait_saves_ns(advisor, call, waited_ns, &idle_gap);
		if (saves_ns == 0)
			continue;
		found = gp_copy_case(advisor, call, op);
		own = found->own;
		own->idle_ns += idle_ns;
		own->calls_ns += call->duration_ns;
		own->pageable += gp_copy_is_pageable(op);
		gp_advisor_add(advisor, found, call->start_ns, waited_ns, saves_ns, idle_gap);
		gp_next_wait_add(advisor, &own->next, call, saves_ns);
		gp_advisor_show_wait(advisor, found, call, gp_advisor_idle_gap_after(advisor, call),
				     saves_ns);
		found->bytes += op->bytes;
	}
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	gp_document_add_text(values, "copy_kind", gp_copy_kind_name((uint8_t)found->detail));
	gp_document_add_number(values, "calls_ns", GP_UNIT_NS, own->calls_ns);
	gp_document_add_number(values, "idle_ns", GP_UNIT_NS, own->idle_ns);
	gp_document_add_number(values, "pageable_count", GP_UNIT_COUNT, own->pageable);
	gp_next_wait_add_values(advisor, found, &own->next, values);
}

const struct gp_rule gp_rule_hidden_wait = {
	.id = "hidden-wait",
	.title = "the host waits for kernels inside copies",
	.found =
		"[{?step_count}{copy_kind} copies block the host for {step_time_ns} in each step ({step_count} time[{!step_count=1}s], {step_bytes}) while earlier kernels run" GP_NEXT_WAIT_FOUND
		"; then the GPU waits for the host"
		"|{count} {copy_kind} copies, {bytes} in all, blocked the host for {calls_ns}, {time_ns} of it while earlier kernels ran" GP_NEXT_WAIT_FOUND
		"; then the GPU waited for the host, for {idle_ns} in all: the shorter of these two times can be saved]",
	.change = GP_NEXT_WAIT_CHANGE
	"[{!copy_kind=HtoD}" GP_READ_LESS
	"|{?language=torch}copy the next data[{?pageable_count} from page-locked memory (pin_memory=True)] with .to(\"cuda\", non_blocking=True) while these kernels run, in its own stream (torch.cuda.Stream())"
	"|copy the next data with cudaMemcpyAsync[{?pageable_count} from page-locked memory (cudaMallocHost)], in its own stream and into a second buffer, while these kernels run]",
	.meaning =
		"A blocking copy starts after all earlier operations of its stream. In a profile it looks like a slow copy, but its time is the time of the kernels. After the copy the GPU is idle until the host launches the next kernels. The saving is that idle time, at most the time of the kernels within the call. The time from that launch to the start on the GPU does not count. If another blocking call of the thread follows before the next launch (cudaFree, a synchronization), it would wait for the same kernels: the finding names it, and the saving needs both changes.",
	.remedy =
		"Do not read a result in each iteration (loss.item(), a convergence flag). Read it every tenth iteration, or copy it asynchronously to page-locked memory and read it after the next launch. To the device: copy the next data with cudaMemcpyAsync from page-locked memory, in its own stream and into a second buffer (PyTorch: pin_memory=True and .to(..., non_blocking=True)).",
	.ignore =
		"The next step of the host depends on the result each time, or computes the copied data from it.",
	.threshold = {.saves_percent = 3,
		      .saves_ns = 100000,
		      .count = 8,
		      .reason = "Fewer copies are input and output of the program"},
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
