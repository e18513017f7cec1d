/* The phase that a call stack belongs to. */
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/loop/phase_marks.h"
#include "tests/report/stack_builder.h"
#include "tests/unit.h"

#define LIBRARY "/v/lib/python3.12/"
#define TORCH   LIBRARY "site-packages/torch/"
#define OWN     "/home/me/train.py"
#define OPTIMIZE                                                                                   \
	{                                                                                          \
		TORCH "optim/optimizer.py", "Optimizer.step"                                       \
	}
#define MODULE                                                                                     \
	{                                                                                          \
		TORCH "nn/modules/module.py", "Module._call_impl"                                  \
	}
#define LOADER                                                                                     \
	{                                                                                          \
		TORCH "utils/data/dataloader.py", "_BaseDataLoaderIter.__next__"                   \
	}

struct function {
	const char *file, *name;
};

/* A stack from the outermost function of the program inwards. */
struct stack {
	enum gp_phase_kind phase, without_names;
	struct function functions[4];
};

static const struct stack stacks[] = {
	{GP_PHASE_NONE, GP_PHASE_NONE, {{OWN, "main"}}},
	{GP_PHASE_DATA, GP_PHASE_DATA, {{OWN, "main"}, LOADER}},
	{GP_PHASE_FORWARD, GP_PHASE_FORWARD, {{OWN, "main"}, MODULE, {OWN, "Net.forward"}}},
	{GP_PHASE_BACKWARD,
	 GP_PHASE_BACKWARD,
	 {{OWN, "main"}, {TORCH "_tensor.py", "Tensor.backward"}}},
	{GP_PHASE_GRADIENTS,
	 GP_PHASE_GRADIENTS,
	 {{OWN, "main"}, {TORCH "nn/utils/clip_grad.py", "clip_grad_norm_"}}},
	{GP_PHASE_CHECKPOINT,
	 GP_PHASE_CHECKPOINT,
	 {{OWN, "main"}, {TORCH "serialization.py", "save"}}},
	/* as torch.profiler names them */
	{GP_PHASE_FORWARD, GP_PHASE_FORWARD, {{"", "nn.Module: Linear_0"}, {"", "aten::addmm"}}},
	{GP_PHASE_OPTIMIZER, GP_PHASE_OPTIMIZER, {{"torch/optim/adam.py", "step"}}},
	{GP_PHASE_BACKWARD, GP_PHASE_BACKWARD, {{"", "ConvolutionBackward0"}, {"", "aten::mm"}}},
	{GP_PHASE_BACKWARD, GP_PHASE_BACKWARD, {{"", "torch::autograd::AccumulateGrad"}}},
	{GP_PHASE_NONE, GP_PHASE_NONE, {{"", "forward_backward_func"}}},
	/* names of the user's functions */
	{GP_PHASE_DATA, GP_PHASE_NONE, {{OWN, "main"}, {OWN, "Text.load"}}},
	{GP_PHASE_EVALUATION, GP_PHASE_DATA, {{OWN, "main"}, {OWN, "evaluate"}, LOADER}},
	{GP_PHASE_EVALUATION, GP_PHASE_FORWARD, {{OWN, "main"}, {OWN, "evaluate"}, MODULE}},
	/* a phase inside another */
	{GP_PHASE_FORWARD, GP_PHASE_FORWARD, {OPTIMIZE, {OWN, "closure"}, MODULE}},
	{GP_PHASE_OPTIMIZER,
	 GP_PHASE_OPTIMIZER,
	 {{TORCH "amp/grad_scaler.py", "GradScaler.step"}, OPTIMIZE}},
	{GP_PHASE_BACKWARD,
	 GP_PHASE_BACKWARD,
	 {{TORCH "_tensor.py", "Tensor.backward"}, {TORCH "utils/checkpoint.py", "f"}, MODULE}},
	{GP_PHASE_NONE, GP_PHASE_NONE, {{"/home/me/agent.py", "Agent.log_prob"}}},
	{GP_PHASE_LOGGING, GP_PHASE_NONE, {{"/home/me/agent.py", "Agent.log_metrics"}}},
	{GP_PHASE_LOGGING, GP_PHASE_NONE, {{"/home/me/metrics.py", "MeanIoU.update"}}},
	{GP_PHASE_DATA,
	 GP_PHASE_DATA,
	 {{LIBRARY "site-packages/tqdm/std.py", "tqdm.__iter__"}, LOADER, MODULE}},
};

static void a_stack_has_a_phase(void **state)
{
	struct build b = build_begin(1);
	uint32_t frames[COUNT(stacks)];
	uint8_t *marks, *without_names;

	(void)state;
	for (size_t i = 0; i < COUNT(stacks); i++) {
		frames[i] = BUILD_OUTERMOST;
		for (size_t k = 0; k < 4 && stacks[i].functions[k].file; k++)
			frames[i] = build_python(&b, frames[i], stacks[i].functions[k].file,
						 stacks[i].functions[k].name, 7);
	}
	build_stacks_end(&b);
	gp_phase_marks_of(b.model, true, &marks);
	gp_phase_marks_of(b.model, false, &without_names);
	for (size_t i = 0; i < COUNT(stacks); i++) {
		assert_int_equal(marks[frames[i]], stacks[i].phase);
		assert_int_equal(without_names[frames[i]], stacks[i].without_names);
	}
	free(marks);
	free(without_names);
	gp_model_free(b.model);
}

static void a_phase_has_others_inside(void **state)
{
	(void)state;
	assert_int_equal(gp_phase_inside(GP_PHASE_NONE, GP_PHASE_FORWARD), GP_PHASE_FORWARD);
	assert_int_equal(gp_phase_inside(GP_PHASE_BACKWARD, GP_PHASE_COMMUNICATION),
			 GP_PHASE_COMMUNICATION);
	assert_int_equal(gp_phase_inside(GP_PHASE_EVALUATION, GP_PHASE_COMMUNICATION),
			 GP_PHASE_EVALUATION);
	assert_int_equal(gp_phase_inside(GP_PHASE_FORWARD, GP_PHASE_NONE), GP_PHASE_FORWARD);
}

static void a_range_names_a_phase(void **state)
{
	static const struct {
		const char *text;
		enum gp_phase_kind phase;
	} ranges[] = {
		{"Forward pass", GP_PHASE_FORWARD},
		{"Optimizer.zero_grad#SGD.zero_grad", GP_PHASE_OPTIMIZER},
		{"ncclAllReduce", GP_PHASE_COMMUNICATION},
		{"## forward ##", GP_PHASE_FORWARD}, /* TorchRec */
		{"## forward:sparse_arch ##", GP_PHASE_FORWARD},
		{"## sparse_data_dist ##", GP_PHASE_COMMUNICATION},
		{"## copy_batch_to_gpu ##", GP_PHASE_TO_DEVICE},
		{"## wait_for_batch ##", GP_PHASE_DATA},
		{"## RecMetricModule:update ##", GP_PHASE_LOGGING},
		{"DeepSpeedEngine.backward", GP_PHASE_BACKWARD},
		{"[pl][profile][Strategy]DDPStrategy.training_step", GP_PHASE_FORWARD},
		{"ConvolutionBackward0", GP_PHASE_BACKWARD},
		{"bwd", GP_PHASE_BACKWARD},
		{"load", GP_PHASE_DATA},
		{"loss", GP_PHASE_FORWARD},
		{"loads", GP_PHASE_NONE},
		{"forwarding", GP_PHASE_NONE},
		{"forward_backward_func", GP_PHASE_NONE},
		{"Trainer.forward_backward", GP_PHASE_NONE},
		{"schedule.forward-backward", GP_PHASE_NONE},
		{"fwd_bwd", GP_PHASE_NONE},
		{"step 3", GP_PHASE_NONE},
		{"aten::log_softmax", GP_PHASE_NONE},
		{"# #", GP_PHASE_NONE},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(ranges); i++)
		if (gp_phase_of_range(ranges[i].text) != ranges[i].phase)
			fail_msg("%s", ranges[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_has_a_phase),
		cmocka_unit_test(a_phase_has_others_inside),
		cmocka_unit_test(a_range_names_a_phase),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
