#include "report/advice/rules/own_time.h"

#include <errno.h>

#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/base/spill_memory.h"
#include "report/advice/rules/meanwhile.h"

#define TEXT_BYTES 1536

/* What is shorter is nobody's start, and no end. */
#define LEAST_NS 100000000u

/* Less of a start or an end is not what that takes long for. */
#define LEAST_SHARE 5u

/* The longest time between calls is worth a word where it is that part of all of them. */
#define LEAST_PART 10u

static void put_call(const struct gp_advisor *advisor, const struct gp_call *call, uint32_t site,
		     char *text, size_t bytes)
{
	bool is_known = gp_advisor_knows(advisor, site);

	snprintf(text, bytes, "%s%s%s", gp_model_api(advisor->model, call->api).name,
		 is_known ? " at " : "",
		 is_known ? gp_call_sites_at(advisor->sites, site).place : "");
}

/* The time in which no thread was in any call, and the longest stretch of that. */
struct pieces {
	uint64_t ns, longest_ns, pieces;
	const struct gp_call *before, *after; /* that longest one; NULL: there is none */
};

static int compare_starts(const void *a, const void *b, const void *context)
{
	const struct gp_call *calls = context;
	uint64_t left = calls[*(const uint32_t *)a].start_ns,
		 right = calls[*(const uint32_t *)b].start_ns;

	return (left > right) - (left < right);
}

/* The calls that began by then, in the order of time; NULL: there is no memory. */
static uint32_t *list_until(const struct gp_model *model, uint64_t to_ns, uint32_t *count)
{
	uint32_t *list = gp_spill_take(((size_t)model->call_count + 1) * sizeof(*list));

	*count = 0;
	for (uint32_t i = 0; list && i < model->call_count; i++)
		if (model->calls[i].start_ns <= to_ns)
			list[(*count)++] = i;
	if (list && gp_array_sort(list, *count, sizeof(*list), compare_starts, model->calls) == 0)
		return list;
	gp_spill_free(list);
	return NULL;
}

/* From then until the start of the last call that began by to_ns. */
static struct pieces find_pieces(struct gp_advisor *advisor, uint64_t from_ns, uint64_t to_ns)
{
	const struct gp_call *calls = advisor->model->calls, *last = NULL;
	struct pieces own = {0};
	uint32_t count;
	uint32_t *list = list_until(advisor->model, to_ns, &count);

	if (!list)
		advisor->error = -ENOMEM;
	for (uint32_t i = 0; list && i < count; i++) {
		const struct gp_call *call = &calls[list[i]];
		uint64_t reached_ns = last ? gp_call_end_ns(last) : call->start_ns;
		uint64_t since_ns = reached_ns > from_ns ? reached_ns : from_ns;

		if (call->start_ns > since_ns) {
			own.ns += call->start_ns - since_ns;
			own.pieces++;
			if (call->start_ns - since_ns > own.longest_ns)
				own = (struct pieces){own.ns, call->start_ns - since_ns, own.pieces,
						      last, call};
		}
		if (!last || gp_call_end_ns(call) > reached_ns)
			last = call;
	}
	gp_spill_free(list);
	return own;
}

/*
 * "; that is in 3,210 pieces between its calls, of 1.2ms at most", or "; the longest time between
 * calls is 300.1ms, from cudaFree at main (x.cu:3) to cudaMalloc at load (x.cu:7)"
 */
static uint64_t text_of_longest(struct gp_advisor *advisor, const struct pieces *own)
{
	char text[TEXT_BYTES], from[TEXT_BYTES / 3], to[TEXT_BYTES / 3];

	/* one of many small pieces is no place to look at */
	if (own->longest_ns * LEAST_PART < own->ns) {
		snprintf(text, sizeof(text),
			 "; that is in %s pieces between its calls, of %s at most",
			 gp_format_count(own->pieces).text, gp_format_ns(own->longest_ns).text);
		return gp_advisor_text(advisor, text);
	}
	put_call(advisor, own->before, gp_advisor_site(advisor, own->before), from, sizeof(from));
	put_call(advisor, own->after, gp_advisor_site(advisor, own->after), to, sizeof(to));
	snprintf(text, sizeof(text), "; the longest time between calls is %s, from %s to %s",
		 gp_format_ns(own->longest_ns).text, from, to);
	return gp_advisor_text(advisor, text);
}

bool gp_own_time_find(struct gp_advisor *advisor, const struct gp_end *end, uint64_t from_ns,
		      uint64_t to_ns, struct gp_own_time *own)
{
	struct pieces pieces = find_pieces(advisor, from_ns, to_ns);
	uint64_t nccl_ns = end->part_ns[GP_END_NCCL];

	pieces.ns -= pieces.ns < nccl_ns ? pieces.ns : nccl_ns;
	if (advisor->error != 0 || pieces.ns < LEAST_NS || pieces.ns * LEAST_SHARE < end->ns)
		return false;
	*own = (struct gp_own_time){
		.ns = pieces.ns, .whole_ns = end->ns, .calls = text_of_longest(advisor, &pieces)};
	return true;
}

void gp_own_time_put(struct gp_advisor *advisor, struct gp_case *found, const struct gp_end *end,
		     uint32_t thread, struct gp_own_time *own)
{
	gp_advisor_add(advisor, found, 0, own->ns, own->ns, NULL);
	own->has_looks = gp_meanwhile_add_time(advisor, found, thread, end->start_ns,
					       end->start_ns + end->ns);
}

void gp_own_time_tell(const struct gp_advisor *advisor, const struct gp_case *found,
		      const struct gp_own_time *own, const char *when, FILE *out)
{
	fprintf(out, "%s operation, for %s of %s, the program was in no recorded call of CUDA",
		when, gp_format_ns(own->ns).text, gp_format_ns(own->whole_ns).text);
	if (own->has_looks)
		gp_meanwhile_tell_looks(advisor, found, gp_meanwhile_tell(advisor, found, out),
					out);
	else
		fputs(gp_advisor_text_of(advisor, own->calls), out);
}
