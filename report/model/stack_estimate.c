#include "report/model/stack_estimate.h"

#include <stdio.h>

#include "report/base/text/format.h"

void gp_stack_estimate_add(struct gp_stack_estimate *sum, const struct gp_stack_estimate *one)
{
	sum->sampled_calls += one->sampled_calls;
	sum->estimated_calls += one->estimated_calls;
	sum->unknown_calls += one->unknown_calls;
	sum->sampled_ns += one->sampled_ns;
	sum->estimated_ns += one->estimated_ns;
	sum->checked_calls += one->checked_calls;
	sum->wrong_calls += one->wrong_calls;
	sum->checked_ns += one->checked_ns;
	sum->wrong_ns += one->wrong_ns;
}

double gp_stack_estimate_error(const struct gp_stack_estimate *estimate)
{
	if (estimate->estimated_calls == 0)
		return 0;
	if (estimate->checked_calls == 0)
		return -1;
	if (estimate->checked_ns == 0)
		return (double)estimate->wrong_calls / (double)estimate->checked_calls *
		       (double)estimate->estimated_calls /
		       (double)(estimate->sampled_calls + estimate->estimated_calls);
	return (double)estimate->wrong_ns / (double)estimate->checked_ns *
	       (double)estimate->estimated_ns /
	       (double)(estimate->sampled_ns + estimate->estimated_ns);
}

bool gp_stack_estimate_text(const struct gp_stack_estimate *estimate,
			    char text[GP_STACK_ESTIMATE_BYTES])
{
	uint64_t calls = estimate->sampled_calls + estimate->estimated_calls;
	double error = gp_stack_estimate_error(estimate);
	int used;

	if (estimate->estimated_calls == 0)
		return false;
	used = snprintf(
		text, GP_STACK_ESTIMATE_BYTES,
		"the call stacks of %s %% of the launches, copies, memsets and waits are estimated from the others; ",
		gp_format_percent((double)estimate->estimated_calls, (double)calls).text);
	if (error < 0)
		snprintf(text + used, GP_STACK_ESTIMATE_BYTES - (size_t)used,
			 "their error is not known");
	else
		snprintf(text + used, GP_STACK_ESTIMATE_BYTES - (size_t)used,
			 "about %s %% of the GPU time has a wrong frame in its stack",
			 error > 0 ? gp_format_percent(error, 1).text : "0");
	return true;
}
