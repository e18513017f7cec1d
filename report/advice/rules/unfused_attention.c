#include "report/advice/rules/rules.h"

#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/advice/rules/advisor.h"
#include "report/advice/rules/op_function.h"
#include "report/advice/rules/product_precision.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(PRODUCT_PERCENT, 75, PERCENT,                                                        \
	      "of its products: these wait for scores in memory, and a causal mask needs half")    \
	LIMIT(TF32_PERCENT, 87, PERCENT,                                                           \
	      "of its products in TF32 among others in 16 bit: these take half of the rest")       \
	LIMIT(FLOAT32_PERCENT, 98, PERCENT,                                                        \
	      "of its products in float32 among others in 16 bit: these take a 14th of the rest")  \
	LIMIT(LEAST_HALF_PERCENT, 50, PERCENT,                                                     \
	      "of the time of the other products: the program computes in 16 bit")                 \
	LIMIT(LINE_PERCENT, 50, PERCENT,                                                           \
	      "of a line's time in the forward pass: its backward pass is that of attention, too")
GP_LIMITS(LIMITS);

/* What an operation can be in: product, softmax, product. */
enum role { OTHER, PRODUCT, SOFTMAX, BETWEEN, COPY };

static const struct gp_kind_role role_of_kind[] = {
	{"GEMM", PRODUCT},   {"GEMV", PRODUCT}, {"softmax", SOFTMAX}, {"elementwise", BETWEEN},
	{"random", BETWEEN}, {"copy", COPY},    {NULL, OTHER},
};

/* A site of launches. */
struct site {
	uint64_t function;     /* as in struct gp_op_function */
	uint64_t forward_ns;   /* of its operations ... */
	uint64_t attention_ns; /* ... in the forward pass, and of those in attention */
};

/* The state of a look. */
struct attention {
	uint8_t *kinds;                /* by name */
	uint8_t *precisions;           /* by name: enum gp_product_precision */
	uint8_t roles[GP_KINDS_LIMIT]; /* enum role */
	bool *is_part;                 /* by operation: it is in attention */
	struct gp_op_functions functions;
	struct gp_launch_places places; /* time in attention by site, of all functions */
	struct site *sites;
	uint32_t site_count, site_capacity;
	bool is_half; /* most of the other products are in 16 bit */
};

struct own {
	uint64_t all_ns; /* of all operations of the process */
	uint64_t products_ns, backward_ns;
	uint64_t precise_ns; /* of its products in float32 or TF32, among others in 16 bit */
};

/* ---- operations ---- */

static enum role role_of(const struct gp_advisor *advisor, const struct attention *attention,
			 uint32_t op)
{
	const struct gp_op *one = &advisor->model->ops[op];

	if (advisor->tuning->of[op] != GP_TUNER_NONE)
		return OTHER;
	if (one->kind == GP_OP_COPY && one->copy_kind != GP_COPY_DTOD)
		return OTHER;
	return (enum role)attention->roles[gp_kinds_of_op(attention->kinds, advisor->model, one)];
}

static enum gp_product_precision precision_of(const struct gp_advisor *advisor,
					      const struct attention *attention, uint32_t op)
{
	uint32_t name = advisor->model->ops[op].name;

	return name < advisor->model->name_count
		       ? (enum gp_product_precision)attention->precisions[name]
		       : GP_PRODUCT_UNKNOWN;
}

static struct site *site_at(struct attention *attention, uint32_t number)
{
	while (attention->site_count <= number) {
		gp_array_grow(&attention->sites, &attention->site_capacity, attention->site_count,
			      sizeof(*attention->sites));
		attention->sites[attention->site_count++] =
			(struct site){.function = GP_NO_FUNCTION};
	}
	return &attention->sites[number];
}

/* Of the line of the user's that an operation belongs to, or NULL. */
static struct site *site_of(struct gp_advisor *advisor, struct attention *attention, uint32_t op,
			    bool *is_backward)
{
	struct gp_op_function found = gp_op_function_of(advisor, &attention->functions, op);
	struct site *site = found.site == GP_NO_SITE ? NULL : site_at(attention, found.site);

	*is_backward = found.is_backward;
	if (site)
		site->function = found.text;
	return site;
}

/* ---- the forward pass ---- */

/* The operations of one function, in a stream, that may become attention. */
struct window {
	uint64_t function;
	uint32_t first;  /* the product, or a copy that it needs; GP_NONE = there is no product */
	uint32_t copies; /* the first one of the copies just before; GP_NONE = there are none */
	bool has_softmax;
};

static const struct window no_window = {
	.function = GP_NO_FUNCTION, .first = GP_NONE, .copies = GP_NONE};

static void mark(struct gp_advisor *advisor, struct attention *attention, uint32_t first,
		 uint32_t last)
{
	bool is_backward;

	for (uint32_t i = first; i <= last; i++) {
		struct site *site = site_of(advisor, attention, i, &is_backward);

		attention->is_part[i] = true;
		if (site)
			site->attention_ns += gp_op_gpu_ns(&advisor->model->ops[i]);
	}
}

static void take_product(struct gp_advisor *advisor, struct attention *attention,
			 struct window *window, uint32_t op)
{
	if (window->has_softmax) {
		mark(advisor, attention, window->first, op);
		*window = no_window;
		return;
	}
	window->first = window->copies != GP_NONE ? window->copies : op;
}

static void extend(struct gp_advisor *advisor, struct attention *attention, struct window *window,
		   uint32_t op)
{
	enum role role = role_of(advisor, attention, op);
	bool is_backward;
	struct site *site = site_of(advisor, attention, op, &is_backward);
	uint64_t function = site && !is_backward ? site->function : GP_NO_FUNCTION;

	if (site && !is_backward)
		site->forward_ns += gp_op_gpu_ns(&advisor->model->ops[op]);
	if (function == GP_NO_FUNCTION || function != window->function || role == OTHER)
		*window = no_window;
	if (function == GP_NO_FUNCTION || role == OTHER)
		return;
	window->function = function;
	if (role == PRODUCT)
		take_product(advisor, attention, window, op);
	if (role == SOFTMAX)
		window->has_softmax = window->first != GP_NONE;
	if (role != COPY)
		window->copies = GP_NONE;
	else if (window->copies == GP_NONE)
		window->copies = op;
}

static void find_forward(struct gp_advisor *advisor, struct attention *attention)
{
	const struct gp_model *model = advisor->model;

	for (uint32_t first = 0, end; first < model->op_count; first = end) {
		struct window window = no_window;

		end = gp_model_stream_end(model, first);
		for (uint32_t i = first; i < end; i++)
			extend(advisor, attention, &window, i);
	}
}

/* The operations that the lines of attention have in the backward pass. */
static void find_backward(struct gp_advisor *advisor, struct attention *attention)
{
	for (uint32_t i = 0; i < advisor->model->op_count; i++) {
		bool is_backward;
		const struct site *site = site_of(advisor, attention, i, &is_backward);

		if (site && is_backward && site->attention_ns > 0 &&
		    site->attention_ns * 100 >= site->forward_ns * LINE_PERCENT)
			attention->is_part[i] = true;
	}
}

/* ---- what it costs ---- */

static bool computes_in_half(const struct gp_advisor *advisor, const struct attention *attention)
{
	uint64_t half_ns = 0, all_ns = 0;

	for (uint32_t i = 0; i < advisor->model->op_count; i++) {
		uint64_t ns = gp_op_gpu_ns(&advisor->model->ops[i]);

		if (attention->is_part[i] || role_of(advisor, attention, i) != PRODUCT)
			continue;
		all_ns += ns;
		half_ns += precision_of(advisor, attention, i) == GP_PRODUCT_HALF ? ns : 0;
	}
	return half_ns > 0 && half_ns * 100 >= all_ns * LEAST_HALF_PERCENT;
}

static unsigned product_percent(const struct gp_advisor *advisor, const struct attention *attention,
				uint32_t op)
{
	enum gp_product_precision precision = precision_of(advisor, attention, op);

	if (attention->is_half && precision == GP_PRODUCT_FLOAT32)
		return FLOAT32_PERCENT;
	return attention->is_half && precision == GP_PRODUCT_TF32 ? TF32_PERCENT : PRODUCT_PERCENT;
}

static void take(struct gp_advisor *advisor, struct attention *attention, uint32_t op)
{
	const struct gp_op *one = &advisor->model->ops[op];
	enum role role = role_of(advisor, attention, op);
	unsigned percent = role == PRODUCT ? product_percent(advisor, attention, op) : 100;
	uint64_t ns = gp_op_gpu_ns(one);
	bool is_backward;
	struct site *site = site_of(advisor, attention, op, &is_backward);
	struct gp_case *found;
	struct own *own;

	if (!site)
		return;
	found = gp_advisor_case(advisor, GP_NO_SITE, site->function, 0);
	own = found->own;
	gp_launch_places_add(&attention->places, (uint32_t)(site - attention->sites), ns);
	found->count += role == SOFTMAX && !is_backward;
	found->time_ns += ns;
	own->products_ns += role == PRODUCT ? ns : 0;
	own->precise_ns += role == PRODUCT && percent != PRODUCT_PERCENT ? ns : 0;
	own->backward_ns += is_backward ? ns : 0;
	gp_advisor_save(advisor, found, one->start_ns, ns * percent / 100);
	gp_advisor_show_time(advisor, found, one->start_ns, ns);
}

static bool is_worth(struct gp_advisor *advisor, uint64_t function)
{
	return gp_advisor_is_worth(advisor, gp_advisor_case(advisor, GP_NO_SITE, function, 0));
}

/* Operations of a finding are claimed. */
static void claim(struct gp_advisor *advisor, struct attention *attention)
{
	for (uint32_t i = 0; i < advisor->model->op_count; i++) {
		bool is_backward;
		const struct site *site =
			attention->is_part[i] ? site_of(advisor, attention, i, &is_backward) : NULL;

		if (site && is_worth(advisor, site->function))
			gp_advisor_claim(advisor, i);
	}
}

static void sum_up(struct gp_advisor *advisor, struct attention *attention)
{
	struct gp_case *found;
	uint64_t all_ns = 0;

	attention->is_half = computes_in_half(advisor, attention);
	for (uint32_t i = 0; i < advisor->model->op_count; i++) {
		all_ns += gp_op_gpu_ns(&advisor->model->ops[i]);
		if (attention->is_part[i])
			take(advisor, attention, i);
	}
	claim(advisor, attention);
	for (uint32_t i = 0; (found = gp_advisor_next_case(advisor, &i)) != NULL;) {
		((struct own *)found->own)->all_ns = all_ns;
		gp_op_functions_place(advisor, &attention->functions, &attention->places, found);
	}
}

/* ---- all together ---- */

/* Whether any kernel is a softmax. */
static bool find_roles(const struct gp_advisor *advisor, struct attention *attention)
{
	bool has_softmax = false;

	gp_kinds_roles(advisor->kinds, role_of_kind, attention->roles);
	for (uint32_t i = 0; i < advisor->model->name_count; i++)
		has_softmax |= attention->roles[attention->kinds[i]] == SOFTMAX;
	return has_softmax;
}

static void look(struct gp_advisor *advisor)
{
	const struct gp_model *model = advisor->model;
	struct attention attention = {
		.kinds = gp_kinds_of_names(advisor->kinds, model),
		.precisions = calloc((size_t)model->name_count + 1, 1),
		.is_part = gp_spill_take_zeroed((size_t)model->op_count + 1, sizeof(bool)),
	};

	if (find_roles(advisor, &attention)) {
		for (uint32_t i = 0; i < model->name_count; i++)
			attention.precisions[i] = (uint8_t)gp_product_precision_of(model->names[i]);
		find_forward(advisor, &attention);
		find_backward(advisor, &attention);
		sum_up(advisor, &attention);
	}
	free(attention.kinds);
	free(attention.precisions);
	gp_spill_free(attention.is_part);
	free(attention.sites);
	gp_op_functions_free(&attention.functions);
	gp_launch_places_free(&attention.places);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct own *own = found->own;

	(void)advisor;
	gp_document_add(values, "percent", GP_UNIT_PERCENT,
			gp_value_percent((double)found->time_ns, (double)own->all_ns));
	gp_document_add_number(values, "others_ns", GP_UNIT_NS, found->time_ns - own->products_ns);
	gp_document_add_number(values, "products_ns", GP_UNIT_NS, own->products_ns);
	gp_document_add_number(values, "precise_ns", GP_UNIT_NS, own->precise_ns);
	gp_document_add_number(values, "backward_ns", GP_UNIT_NS, own->backward_ns);
}

const struct gp_rule gp_rule_unfused_attention = {
	.id = "unfused-attention",
	.title = "attention is computed in several kernels that write and read all scores",
	.found =
		"{count} times, attention is computed as separate operations, {percent} % of the GPU time[{?backward_ns} with their backward pass]: its products take {products_ns}, scaling, masks, softmax and copies of the scores {others_ns}[{?precise_ns}; its products are in float32, most others in 16 bit]",
	.change =
		"use one fused kernel[: {?language=torch}torch.nn.functional.scaled_dot_product_attention (is_causal=True in place of a causal mask)|: {?language=jax}jax.nn.dot_product_attention (is_causal=True in place of a causal mask)| (FlashAttention, or scaled dot product attention of cuDNN)][{?precise_ns}, in 16 bit: it sums up in float32]",
	.meaning =
		"Attention is a matrix product, a softmax, and another product. As separate operations, each of them writes all scores to memory and reads them again: the product, a scale, a mask, the softmax, dropout, conversions. A fused kernel keeps the scores on the chip. gpuprof finds such operations in the order of a stream: a product, a softmax and a product, with nothing in between but elementwise operations and copies, which all come from one function of the program. It adds the operations of these lines in the backward pass. The saving is an upper bound: all of the time besides the products, and {PRODUCT_PERCENT} % of that of the products, which wait for the scores in memory, and of which a causal mask needs half. If most of the other products are in 16 bit, it is {TF32_PERCENT} % of the products in TF32, and {FLOAT32_PERCENT} % of those in float32; full-precision does not claim these a second time.",
	.remedy =
		"Fused kernels compute the softmax and their sums in float32, whatever the type of their inputs: conversions of query, key and value to float32 are not needed for stability. Transformers: attn_implementation=\"sdpa\".",
	.ignore = "The program needs the scores themselves, or a mask that no fused kernel has.",
	.threshold = {.saves_percent = 3,
		      .saves_ns = 1000000,
		      .count = 16,
		      .reason = "Short attention costs little as separate operations"},
	.limits = limits,
	.is_of_gpu = true,
	.own_bytes = sizeof(struct own),
	.look = look,
	.add_values = add_values,
};
