/*
 * Copies that waited for kernels.  Speaks where copies at a call site that waited, for at least
 * half of their time, for work that came before them could save 3 % of the recorded time and 100
 * us, at least 8 of them.
 */
#include "report/advice/rules/rules.h"

#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/copies.h"
#include "report/advice/rules/language.h"
#include "report/advice/rules/next_wait.h"

struct own {
	uint64_t calls_ns; /* that the calls took */
	uint64_t idle_ns;  /* that the GPU waited for the host after them */
	uint64_t pageable; /* copies from or to such memory */
	struct gp_next_wait next;
};

/* Copies that wait at the same time share the idle time after them: it is there once. */
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
		gp_advisor_show(advisor, found, call);
		found->bytes += op->bytes;
	}
}

static void tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	fprintf(out,
		"%s %s copies, %s in all, blocked the host for %s, %s of it while kernels before them ran",
		gp_format_count(found->count).text, gp_copy_kind_name((uint8_t)found->detail),
		gp_format_bytes(found->bytes).text, gp_format_ns(own->calls_ns).text,
		gp_format_ns(found->time_ns).text);
	gp_next_wait_tell(advisor, found, &own->next, out);
	fprintf(out,
		"; then the GPU waited for the host, for %s in all: each time the shorter of these two could be saved",
		gp_format_ns(own->idle_ns).text);
}

/*
 * To the device nothing is read: what is to be copied need not wait for kernels that have other
 * data.  Of page-locked memory, and of other.
 */
static const char *const copy_ahead[][GP_LANGUAGES] = {
	{
		[GP_LANGUAGE_NATIVE] =
			"copy the next data with cudaMemcpyAsync, in a stream of its own and into a second buffer, while these kernels run",
		[GP_LANGUAGE_TORCH] =
			"copy the next data with .to(\"cuda\", non_blocking=True) while these kernels run, in a stream of its own (torch.cuda.Stream())",
	},
	{
		[GP_LANGUAGE_NATIVE] =
			"copy the next data with cudaMemcpyAsync from page-locked memory (cudaMallocHost), in a stream of its own and into a second buffer, while these kernels run",
		[GP_LANGUAGE_TORCH] =
			"copy the next data from page-locked memory (pin_memory=True) with .to(\"cuda\", non_blocking=True) while these kernels run, in a stream of its own (torch.cuda.Stream())",
	},
};

static void advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct own *own = found->own;

	gp_next_wait_advise(advisor, found, &own->next, out);
	if (found->detail == GP_COPY_HTOD)
		gp_language_advise(advisor, found, copy_ahead[own->pageable > 0], out);
	else
		gp_copies_advise_less(advisor, found, out);
}

const struct gp_rule gp_rule_hidden_wait = {
	.id = "hidden-wait",
	.title = "the host waits for kernels inside copies",
	.meaning =
		"A blocking copy starts after all earlier operations of its stream. In a profile it looks like a slow copy, but its time is the time of the kernels. After the copy the GPU is idle until the host launches the next kernels. The saving is that idle time, at most the time of the kernels within the call. The time from that launch to the start on the GPU does not count. If another blocking call of the thread follows before the next launch (cudaFree, a synchronization), it would wait for the same kernels: the finding names it, and the saving needs both changes.",
	.change =
		"Do not read a result in each iteration (loss.item(), a convergence flag). Read it every tenth iteration, or copy it asynchronously to page-locked memory and read it after the next launch. To the device: copy the next data with cudaMemcpyAsync from page-locked memory, in its own stream and into a second buffer (PyTorch: pin_memory=True and .to(..., non_blocking=True)).",
	.ignore =
		"The next step of the host depends on the result each time, or computes the copied data from it.",
	.threshold = {.saves_percent = 3, .saves_ns = 100000, .count = 8},
	.own_bytes = sizeof(struct own),
	.look = look,
	.tell = tell,
	.advise = advise,
};
