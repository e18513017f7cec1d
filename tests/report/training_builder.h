/*
 * training_builder: training steps of PyTorch for tests of the backward pass: a thread of the
 * program launches operators from lines of a model, the engine's thread launches nodes.
 *
 * A stack is a list of functions, the outermost first, separated by " > "; "@12" is line 12 of the
 * model's forward(), "FILE@12" a line of another file.  "#7" behind a function is its address.
 */
#ifndef TESTS_REPORT_TRAINING_BUILDER_H
#define TESTS_REPORT_TRAINING_BUILDER_H

#include <stdio.h>

#include "tests/report/stack_builder.h"

#define TRAINING_STACKS 128
#define TRAINING_ENGINE "torch::autograd::Engine::evaluate_function"

enum { TRAINING_PROGRAM = 1, TRAINING_AUTOGRAD = 2 };

struct training {
	struct build b;
	struct {
		char text[256];
		uint32_t frame;
	} stacks[TRAINING_STACKS]; /* equal beginnings of stacks are the same frames */
	uint32_t stack_count;
	uint64_t at_ns;
};

static inline struct training training_begin(void)
{
	struct training t = {.b = build_begin(1), .at_ns = 1000};

	build_native(&t.b, BUILD_OUTERMOST, "/x/torch/lib/libtorch_cpu.so", 1);
	return t;
}

/* A function called by parent. */
static inline uint32_t training_frame(struct training *t, uint32_t parent, const char *text)
{
	char file[128] = "", function[128];
	const char *at = strchr(text, '@'), *address = strchr(text, '#');
	uint32_t frame;

	if (at) {
		snprintf(file, sizeof(file), "%.*s", (int)(at - text), text);
		return build_python(&t->b, parent, *file ? file : "/home/me/model.py",
				    *file ? "work" : "Model.forward", (uint8_t)atoi(at + 1));
	}
	snprintf(function, sizeof(function), "%.*s",
		 (int)(address ? (size_t)(address - text) : strlen(text)), text);
	frame = build_python(&t->b, parent, "", function, 0);
	if (address)
		t->b.model->frames[frame].address = strtoull(address + 1, NULL, 10);
	return frame;
}

static inline uint32_t training_stack(struct training *t, const char *text)
{
	const char *last = NULL;
	char callers[256];
	uint32_t parent = BUILD_OUTERMOST, frame;

	for (const char *at = strstr(text, " > "); at; at = strstr(at + 3, " > "))
		last = at;
	for (uint32_t i = 0; i < t->stack_count; i++)
		if (strcmp(t->stacks[i].text, text) == 0)
			return t->stacks[i].frame;
	if (last) {
		snprintf(callers, sizeof(callers), "%.*s", (int)(last - text), text);
		parent = training_stack(t, callers);
	}
	frame = training_frame(t, parent, last ? last + 3 : text);
	build_check(t->stack_count < TRAINING_STACKS);
	snprintf(t->stacks[t->stack_count].text, sizeof(t->stacks->text), "%s", text);
	t->stacks[t->stack_count++].frame = frame;
	return frame;
}

static inline uint32_t training_kernel(struct training *t, const char *name)
{
	for (uint32_t i = 0; i < t->b.model->name_count; i++)
		if (strcmp(t->b.model->names[i], name) == 0)
			return i;
	return build_name(&t->b, name);
}

/* The next launch, of a kernel of that name; returns its call, until the next one. */
static inline struct gp_call *training_launch(struct training *t, uint32_t thread,
					      const char *stack, const char *kernel)
{
	uint32_t correlation = t->b.model->call_count + 1;
	uint32_t frame = training_stack(t, stack);
	struct gp_call *call = build_call(&t->b, thread, BUILD_LAUNCH, t->at_ns, 5, correlation);

	build_op(&t->b, GP_OP_KERNEL, 7, t->at_ns + 10, t->at_ns + 20, correlation)->name =
		training_kernel(t, kernel);
	call->stack = frame;
	t->at_ns += 100;
	return call;
}

/* An operator of the model's forward(): "addmm" at a line. */
static inline struct gp_call *training_forward(struct training *t, uint32_t line,
					       const char *operator_name)
{
	char stack[256];

	snprintf(stack, sizeof(stack), "@%u > torch::autograd::VariableType::%s", line,
		 operator_name);
	return training_launch(t, TRAINING_PROGRAM, stack, operator_name);
}

/* Inside of the engine: "torch::autograd::AccumulateGrad::apply". */
static inline struct gp_call *training_engine(struct training *t, const char *functions)
{
	char stack[256];

	snprintf(stack, sizeof(stack), TRAINING_ENGINE " > %s", functions);
	return training_launch(t, TRAINING_AUTOGRAD, stack, functions);
}

/* A launch of a node, from a place in its code: "AddmmBackward0". */
static inline struct gp_call *training_node(struct training *t, const char *node, unsigned site)
{
	char function[128];

	snprintf(function, sizeof(function), "torch::autograd::generated::%s::apply#%u", node,
		 site);
	return training_engine(t, function);
}

static inline struct gp_model *training_end(struct training *t)
{
	build_stacks_end(&t->b);
	return build_end(&t->b);
}

/* A kernel of one time through a loop, from a line; a list of them ends with NULL. */
struct training_work {
	const char *kernel, *line;
	uint64_t us;
};

/* Launches it; the next one starts when it has ended. */
static inline struct gp_op *training_work(struct training *t, uint32_t thread, const char *stack,
					  const char *kernel, uint64_t us)
{
	struct gp_op *op;

	training_launch(t, thread, stack, kernel);
	op = &t->b.model->ops[t->b.model->op_count - 1];
	op->end_ns = op->start_ns + us * 1000;
	t->at_ns += us * 1000;
	return op;
}

static inline struct gp_model *training_loop(const struct training_work *work, uint32_t times)
{
	struct training t = training_begin();

	build_device(&t.b, 0, "GPU");
	for (uint32_t i = 0; i < times; i++)
		for (const struct training_work *at = work; at->kernel; at++)
			training_work(&t, TRAINING_PROGRAM, at->line, at->kernel, at->us);
	return training_end(&t);
}

#endif
