/* Launches of a backward pass: the lines of the model that they belong to, and how sure these are. */
#include "tests/unit.h"

#include "gpuprof/count.h"
#include "report/analysis/backward/backward.h"
#include "report/analysis/backward/runs.h"
#include "report/symbols/symbols.h"
#include "tests/report/training_builder.h"

struct found {
	struct gp_model *model;
	struct gp_backward backward;
	struct gp_symbols *symbols;
};

static struct found find(struct training *t)
{
	struct found found = {.model = training_end(t), .symbols = gp_symbols_new()};

	assert_non_null(found.symbols);
	gp_backward_of(&found.backward, found.model);
	return found;
}

static void close_found(struct found *found)
{
	gp_backward_free(&found->backward);
	gp_symbols_free(found->symbols);
	gp_model_free(found->model);
}

/* The innermost line of a file on a stack; 0: there is none. */
static uint32_t line_of(const struct found *found, uint32_t stack)
{
	for (uint32_t at = stack; at != GP_NONE; at = found->model->frames[at].parent) {
		size_t count;
		const struct gp_place *place =
			gp_symbols_find(found->symbols, found->model, at, &count);

		if (*place->file)
			return place->line;
	}
	return 0;
}

/* The launches of the engine's thread, from the first one on, are of these lines, so sure. */
static void assert_lines(const struct found *found, enum gp_backward_answer answer,
			 const uint32_t *lines, uint32_t count)
{
	uint32_t seen = 0;

	for (uint32_t i = 0; i < found->model->call_count; i++) {
		const struct gp_call *call = &found->model->calls[i];
		uint32_t stack;
		enum gp_backward_answer is =
			gp_backward_answer_of(&found->backward, found->model, call, &stack);

		if (call->thread_id == TRAINING_PROGRAM) {
			assert_int_equal(is, GP_BACKWARD_NOT);
			continue;
		}
		if (seen >= count)
			continue;
		assert_int_equal(line_of(found, stack), lines[seen]);
		assert_int_equal(is, answer);
		seen++;
	}
	assert_int_equal(seen, count);
}

#define ASSERT_LINES(found, answer, ...)                                                           \
	assert_lines(found, answer, (const uint32_t[]){__VA_ARGS__},                               \
		     sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static enum gp_backward_answer answer_at(const struct found *found, uint32_t number, uint32_t *line)
{
	for (uint32_t i = 0; i < found->model->call_count; i++) {
		const struct gp_call *call = &found->model->calls[i];
		enum gp_backward_answer answer;
		uint32_t stack;

		if (call->thread_id == TRAINING_PROGRAM || number-- > 0)
			continue;
		answer = gp_backward_answer_of(&found->backward, found->model, call, &stack);
		*line = line_of(found, stack);
		return answer;
	}
	fail();
	return GP_BACKWARD_NOT;
}

static void assert_answer(const struct found *found, uint32_t number,
			  enum gp_backward_answer answer, uint32_t line)
{
	uint32_t found_line;

	assert_int_equal(answer_at(found, number, &found_line), answer);
	assert_int_equal(found_line, line);
}

/* The products of a linear layer's node. */
static void put_products(struct training *t)
{
	training_node(t, "AddmmBackward0", 10);
	training_node(t, "AddmmBackward0", 20);
}

static void neighbors_of_one_kind_are_told_apart(void **state)
{
	struct training t = training_begin();

	training_forward(&t, 10, "addmm");
	training_forward(&t, 11, "addmm");
	training_forward(&t, 12, "addmm");
	for (int i = 0; i < 3; i++)
		put_products(&t);

	struct found found = find(&t);

	ASSERT_LINES(&found, GP_BACKWARD_CERTAIN, 12, 12, 11, 11, 10, 10);
	close_found(&found);
}

/* The layer at line 10 runs three times; names have overloads. */
static void a_line_can_run_several_times(void **state)
{
	struct training t = training_begin();

	for (int i = 0; i < 3; i++) {
		training_forward(&t, 10, "addmm");
		training_forward(&t, 11, "add_Tensor");
		training_forward(&t, 12, "relu_");
	}
	for (int i = 0; i < 3; i++) {
		training_node(&t, "ReluBackward0", 1);
		training_node(&t, "AddmmBackward0", 1);
	}

	struct found found = find(&t);

	ASSERT_LINES(&found, GP_BACKWARD_CERTAIN, 12, 10, 12, 10, 12, 10);
	close_found(&found);
}

/* One of two layers is frozen: which one, nothing tells. */
static void several_lines_are_none(void **state)
{
	struct training t = training_begin();

	training_forward(&t, 10, "addmm");
	training_forward(&t, 11, "addmm");
	training_forward(&t, 12, "relu");
	training_node(&t, "ReluBackward0", 1);
	put_products(&t);

	struct found found = find(&t);

	assert_answer(&found, 0, GP_BACKWARD_CERTAIN, 12);
	assert_answer(&found, 1, GP_BACKWARD_SEVERAL, 0);
	assert_answer(&found, 2, GP_BACKWARD_SEVERAL, 0);
	close_found(&found);
}

/* The first layer is compiled, the second is not: only that one has a node of its kind. */
static void compiled_operators_make_no_nodes(void **state)
{
	struct training t = training_begin();

	training_launch(
		&t, TRAINING_PROGRAM,
		"@9 > /tmp/torchinductor_me/ab/cab.py@77 > torch::autograd::VariableType::mm",
		"mm");
	training_forward(&t, 10, "mm");
	training_node(&t, "MmBackward0", 1);
	training_engine(&t, "torch::autograd::PyNode::apply > "
			    "/tmp/torchinductor_me/ab/dab.py@88 > at::_ops::mm::call");

	struct found found = find(&t);

	assert_answer(&found, 0, GP_BACKWARD_CERTAIN, 10);
	assert_answer(&found, 1, GP_BACKWARD_FUNCTION, 0);
	close_found(&found);
}

/* Metrics behind the loss, and an optimizer before the forward pass. */
static void other_operators_do_not_disturb(void **state)
{
	struct training t = training_begin();

	training_launch(
		&t, TRAINING_PROGRAM,
		"@40 > /x/site-packages/torch/optim/adam.py@9 > torch::autograd::VariableType::mul_",
		"mul");
	training_forward(&t, 10, "mul_Tensor");
	training_forward(&t, 11, "nll_loss_forward");
	training_forward(&t, 12, "argmax");
	training_node(&t, "NllLossBackward0", 1);
	training_node(&t, "MulBackward0", 1);

	struct found found = find(&t);

	ASSERT_LINES(&found, GP_BACKWARD_CERTAIN, 11, 10);
	close_found(&found);
}

/* The second kernel of a product in parts; other kernels of one call. */
static void an_operator_can_launch_several_kernels(void **state)
{
	struct training t = training_begin();
	static const char stack[] = "@10 > torch::autograd::VariableType::addmm";

	training_launch(&t, TRAINING_PROGRAM, stack, "gemm");
	training_launch(&t, TRAINING_PROGRAM, stack, "cublasLt::splitKreduce_kernel");
	training_forward(&t, 11, "addmm");
	put_products(&t);
	put_products(&t);

	struct found found = find(&t);

	ASSERT_LINES(&found, GP_BACKWARD_CERTAIN, 11, 11, 10, 10);
	close_found(&found);
}

/* retain_graph=True: two losses at lines 20 and 21. */
static void passes_can_share_operators(void **state)
{
	struct training t = training_begin();

	training_forward(&t, 10, "addmm");
	training_forward(&t, 11, "tanh");
	training_forward(&t, 20, "mse_loss");
	training_forward(&t, 21, "sum");
	training_node(&t, "MseLossBackward0", 1);
	training_node(&t, "TanhBackward0", 1);
	put_products(&t);
	training_launch(&t, TRAINING_PROGRAM, "@50 > at::_ops::ones_like::call", "fill");
	training_node(&t, "SumBackward0", 1);
	training_node(&t, "TanhBackward0", 1);
	put_products(&t);

	struct found found = find(&t);

	ASSERT_LINES(&found, GP_BACKWARD_CERTAIN, 20, 11, 10, 10, 21, 11, 10, 10);
	close_found(&found);
}

static void put_judgement(struct training *t)
{
	training_forward(t, 20, "addmm");
	training_forward(t, 21, "leaky_relu");
	training_forward(t, 22, "addmm");
	training_forward(t, 23, "binary_cross_entropy_with_logits");
}

static void put_nodes_of_judgement(struct training *t)
{
	training_node(t, "BinaryCrossEntropyWithLogitsBackward0", 1);
	put_products(t);
	training_node(t, "LeakyReluBackward0", 1);
	put_products(t);
}

/*
 * A GAN: the generator at lines 10 to 13 is trained through the second run of the discriminator.  In
 * the pass of that alone, its first layer could be one of the generator's as well.
 */
static void a_pass_can_need_operators_before_another(void **state)
{
	struct training t = training_begin();

	training_forward(&t, 10, "addmm");
	training_forward(&t, 11, "relu");
	training_forward(&t, 12, "addmm");
	training_forward(&t, 13, "tanh");
	put_judgement(&t);
	put_nodes_of_judgement(&t);
	put_judgement(&t);
	put_nodes_of_judgement(&t);
	training_node(&t, "TanhBackward0", 1);
	put_products(&t);
	training_node(&t, "ReluBackward0", 1);
	put_products(&t);

	struct found found = find(&t);

	static const uint32_t lines[] = {23, 22, 22, 21, 0,  0,  23, 22, 22,
					 21, 20, 20, 13, 12, 12, 11, 10, 10};

	for (uint32_t i = 0; i < COUNT(lines); i++)
		assert_answer(&found, i, lines[i] > 0 ? GP_BACKWARD_CERTAIN : GP_BACKWARD_SEVERAL,
			      lines[i]);
	close_found(&found);
}

/* A thread that prepares data uses operators, too. */
static void other_threads_may_prepare_data(void **state)
{
	struct training t = training_begin();

	for (uint32_t line = 10; line < 30; line++)
		training_forward(&t, line, line % 2 ? "mul_Tensor" : "addmm");
	training_launch(&t, TRAINING_PROGRAM, "@50 > torch::autograd::VariableType::mul_Tensor",
			"mul")
		->thread_id = 77;
	for (uint32_t line = 30; line-- > 10;)
		training_node(&t, line % 2 ? "MulBackward0" : "AddmmBackward0", 1);

	struct found found = find(&t);

	for (uint32_t i = 0; i < 20; i++)
		assert_answer(&found, i, GP_BACKWARD_CERTAIN, 29 - i);
	close_found(&found);
}

#define FIT       "torch::autograd::validate_outputs > at::_ops::sum_dim_IntList::call"
#define SUM       "torch::autograd::InputBuffer::add > at::_ops::add_Tensor::call"
#define PARAMETER "torch::autograd::AccumulateGrad::apply > at::_ops::add__Tensor::call"

/* x @ w + b at line 10, where + launches nothing backward; x.split() at line 11 nothing forward. */
static void work_between_nodes_has_the_lines_of_its_neighbors(void **state)
{
	struct training t = training_begin();

	training_forward(&t, 9, "native_layer_norm");
	training_forward(&t, 10, "mm");
	training_forward(&t, 10, "add_Tensor");
	training_forward(&t, 12, "gelu");
	training_node(&t, "GeluBackward0", 1);
	training_node(&t, "SplitBackward0", 1);
	training_engine(&t, FIT);
	training_engine(&t, PARAMETER);
	training_node(&t, "MmBackward0", 1);
	training_engine(&t, PARAMETER);
	training_node(&t, "NativeLayerNormBackward0", 1);
	training_engine(&t, SUM);

	struct found found = find(&t);

	assert_answer(&found, 0, GP_BACKWARD_CERTAIN, 12);
	assert_answer(&found, 1, GP_BACKWARD_WITHOUT_OPERATOR, 0);
	assert_answer(&found, 2, GP_BACKWARD_CERTAIN, 10);
	assert_answer(&found, 3, GP_BACKWARD_LIKELY, 10);
	assert_answer(&found, 4, GP_BACKWARD_CERTAIN, 10);
	assert_answer(&found, 5, GP_BACKWARD_LIKELY, 10);
	assert_answer(&found, 6, GP_BACKWARD_CERTAIN, 9);
	assert_answer(&found, 7, GP_BACKWARD_LIKELY, 9);
	close_found(&found);
}

/* Between two operators of one line, a view is likely of that line, too. */
static void a_view_in_a_line_is_likely_of_it(void **state)
{
	struct training t = training_begin();

	training_forward(&t, 10, "addmm");
	training_forward(&t, 10, "gelu");
	training_node(&t, "GeluBackward0", 1);
	training_node(&t, "SliceBackward0", 1);
	put_products(&t);

	struct found found = find(&t);

	assert_answer(&found, 1, GP_BACKWARD_LIKELY, 10);
	assert_answer(&found, 2, GP_BACKWARD_CERTAIN, 10);
	close_found(&found);
}

/* Custom functions, checkpointing, DDP, torch.compile. */
static void other_work_of_the_engine(void **state)
{
	struct training t = training_begin();

	training_forward(&t, 10, "addmm");
	training_engine(
		&t,
		"torch::autograd::PyNode::apply > /home/me/model.py@30 > at::_ops::mul_Tensor::call");
	training_engine(&t, "torch::autograd::generated::AddmmBackward0::apply > "
			    "/x/site-packages/torch/utils/checkpoint.py@5 > @10 > "
			    "torch::autograd::VariableType::addmm");
	put_products(&t);
	training_engine(&t, "c10d::Reducer::autograd_hook > at::_ops::copy_::call");
	training_launch(&t, TRAINING_AUTOGRAD,
			"torch::autograd::Engine::thread_main > c10d::Reducer::finalize_backward > "
			"torch::autograd::VariableType::copy_",
			"copy");
	training_engine(&t, "torch::autograd::PyNode::apply > "
			    "/tmp/torchinductor_me/ab/cab.py@77 > triton_launcher");
	training_engine(&t, "torch::autograd::PyNode::apply > at::_ops::mul_Tensor::call");

	struct found found = find(&t);

	assert_answer(&found, 0, GP_BACKWARD_CERTAIN, 30);
	assert_answer(&found, 1, GP_BACKWARD_CERTAIN, 10);
	assert_answer(&found, 2, GP_BACKWARD_CERTAIN, 10);
	assert_answer(&found, 3, GP_BACKWARD_CERTAIN, 10);
	assert_answer(&found, 4, GP_BACKWARD_COMMUNICATION, 0);
	assert_answer(&found, 5, GP_BACKWARD_COMMUNICATION, 0);
	assert_answer(&found, 6, GP_BACKWARD_FUNCTION, 0);
	assert_answer(&found, 7, GP_BACKWARD_FUNCTION, 0);
	close_found(&found);
}

/* The outermost operator counts, also if there are nodes of the inner one's kind. */
static void operators_within_others(void **state)
{
	struct training t = training_begin();

	training_launch(&t, TRAINING_PROGRAM,
			"@10 > torch::autograd::VariableType::addmm > at::_ops::relu::call",
			"gemm");
	training_forward(&t, 11, "relu");
	training_node(&t, "ReluBackward0", 1);
	training_node(&t, "AddmmBackward0", 1);

	struct found found = find(&t);

	ASSERT_LINES(&found, GP_BACKWARD_CERTAIN, 11, 10);
	close_found(&found);
}

/* The launches of a node are told apart in the inner part of its function. */
static void nodes_of_two_functions(void **state)
{
	struct training t = training_begin();

	training_forward(&t, 10, "addmm");
	training_forward(&t, 11, "addmm");
	training_forward(&t, 12, "relu");
	training_node(&t, "ReluBackward0", 1);
	training_engine(&t, "torch::autograd::AccumulateGrad::apply");
	for (int layer = 0; layer < 2; layer++) {
		training_engine(&t,
				"torch::autograd::generated::AddmmBackward0::apply#7 > "
				"torch::autograd::generated::AddmmBackward0_apply_functional#10");
		training_engine(&t,
				"torch::autograd::generated::AddmmBackward0::apply#7 > "
				"torch::autograd::generated::AddmmBackward0_apply_functional#20");
	}

	struct found found = find(&t);

	assert_answer(&found, 0, GP_BACKWARD_CERTAIN, 12);
	assert_answer(&found, 1, GP_BACKWARD_LIKELY, 12);
	assert_answer(&found, 2, GP_BACKWARD_CERTAIN, 11);
	assert_answer(&found, 3, GP_BACKWARD_CERTAIN, 11);
	assert_answer(&found, 4, GP_BACKWARD_CERTAIN, 10);
	assert_answer(&found, 5, GP_BACKWARD_CERTAIN, 10);
	close_found(&found);
}

/* As long as each other, but of other kernels: each has its own stacks. */
static void steps_of_equal_length(void **state)
{
	struct training t = training_begin();

	training_forward(&t, 10, "addmm");
	training_forward(&t, 11, "relu");
	training_node(&t, "ReluBackward0", 1);
	training_node(&t, "AddmmBackward0", 1);
	training_forward(&t, 20, "gelu");
	training_forward(&t, 21, "mul");
	training_node(&t, "MulBackward0", 1);
	training_node(&t, "GeluBackward0", 1);

	struct found found = find(&t);

	ASSERT_LINES(&found, GP_BACKWARD_CERTAIN, 11, 10, 21, 20);
	close_found(&found);
}

/* Nodes in an order that the operators cannot have had. */
static void a_contradiction_has_no_lines(void **state)
{
	struct training t = training_begin();

	training_forward(&t, 10, "addmm");
	training_forward(&t, 11, "relu");
	put_products(&t);
	training_node(&t, "ReluBackward0", 1);

	struct found found = find(&t);

	for (uint32_t i = 0; i < 3; i++)
		assert_answer(&found, i, GP_BACKWARD_UNMATCHED, 0);
	close_found(&found);
}

/* Two GPUs in one process have two threads, whose nodes are in no common order. */
static void nodes_of_several_threads_have_no_lines(void **state)
{
	struct training t = training_begin();

	training_forward(&t, 10, "addmm");
	training_forward(&t, 11, "relu");
	training_node(&t, "ReluBackward0", 1);
	training_node(&t, "AddmmBackward0", 1)->thread_id = TRAINING_AUTOGRAD + 1;

	struct found found = find(&t);

	for (uint32_t i = 0; i < 2; i++)
		assert_answer(&found, i, GP_BACKWARD_UNMATCHED, 0);
	close_found(&found);
}

/* Without the symbols of libtorch_cpu.so: casts of autocast lie in linear, not in addmm. */
static void operators_stand_for_missing_symbols(void **state)
{
	struct training t = training_begin();

	training_launch(
		&t, TRAINING_PROGRAM,
		"@10 > at::_ops::linear::call > at::_ops::_to_copy::call > at::_ops::copy_::call",
		"copy");
	training_launch(&t, TRAINING_PROGRAM,
			"@10 > at::_ops::linear::call > at::_ops::addmm::call", "gemm");
	training_launch(&t, TRAINING_PROGRAM, "@11 > at::_ops::gelu::call", "gelu");
	training_node(&t, "GeluBackward0", 1);
	put_products(&t);
	training_node(&t, "ToCopyBackward0", 1);

	struct found found = find(&t);

	ASSERT_LINES(&found, GP_BACKWARD_CERTAIN, 11, 10, 10, 10);
	close_found(&found);
}

/*
 * A step of two layers and their backward pass, all stacks estimated as line 10's but those of the
 * launches whose bit is set.
 */
static void put_sampled_step(struct training *t, unsigned recorded)
{
	uint32_t wrong = training_stack(t, "@10 > torch::autograd::VariableType::addmm");
	unsigned bit = 1;

	for (uint32_t line = 10; line < 12; line++, bit <<= 1) {
		struct gp_call *call = training_forward(t, line, "addmm");

		call->is_estimated = !(recorded & bit);
		call->stack = recorded & bit ? call->stack : wrong;
	}
	for (unsigned site = 20; site > 0; site -= 10, bit <<= 1)
		training_node(t, "AddmmBackward0", site)->is_estimated = !(recorded & bit);
}

static void stacks_of_equal_steps_are_put_together(void **state)
{
	struct training t = training_begin();

	for (unsigned i = 0; i < 4; i++)
		put_sampled_step(&t, 1u << i);

	struct found found = find(&t);

	ASSERT_LINES(&found, GP_BACKWARD_CERTAIN, 11, 10, 11, 10, 11, 10, 11, 10);
	/* of the forward pass, the estimated stacks are replaced */
	for (uint32_t i = 0, forward = 0; i < found.model->call_count; i++) {
		const struct gp_call *call = &found.model->calls[i];

		if (call->thread_id == TRAINING_PROGRAM && call->is_estimated)
			assert_int_equal(line_of(&found, found.backward.stacks[i]),
					 10 + forward % 2);
		forward += call->thread_id == TRAINING_PROGRAM;
	}
	close_found(&found);
}

/* Of several recorded stacks, most equal steps have the one that counts. */
static void the_stack_of_most_steps(void **state)
{
	static const uint32_t lines[] = {20, 10, 10, 10, 20};
	struct training t = training_begin();

	for (size_t i = 0; i < COUNT(lines); i++) {
		training_forward(&t, lines[i], "addmm");
		training_forward(&t, 11, "relu");
		training_node(&t, "ReluBackward0", 1);
		training_node(&t, "AddmmBackward0", 1);
	}

	struct found found = find(&t);

	ASSERT_LINES(&found, GP_BACKWARD_CERTAIN, 11, 10, 11, 10, 11, 10, 11, 10, 11, 10);
	close_found(&found);
}

/* Six operators of a block, each at a line of its own. */
static void put_operators(struct training *t, const char *block)
{
	for (uint32_t i = 0; i < 6; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s%u", block, i);
		training_forward(t, 100 + i, name);
	}
}

/* The same, then a product. */
static struct gp_call *put_block(struct training *t, const char *block, uint32_t line)
{
	put_operators(t, block);
	return training_forward(t, line, "addmm");
}

/* A product that was never sampled is like the one among the same launches, not the nearest one. */
static void a_stack_that_was_never_recorded(void **state)
{
	struct training t = training_begin();

	put_block(&t, "gelu", 20);
	put_block(&t, "norm", 10);
	put_block(&t, "norm", 20)->is_estimated = true;
	put_block(&t, "drop", 30);
	for (unsigned site = 4; site > 0; site--)
		training_node(&t, "AddmmBackward0", site);

	struct found found = find(&t);

	assert_answer(&found, 0, GP_BACKWARD_CERTAIN, 30);
	assert_answer(&found, 1, GP_BACKWARD_LIKELY, 10);
	assert_answer(&found, 2, GP_BACKWARD_CERTAIN, 10);
	assert_answer(&found, 3, GP_BACKWARD_CERTAIN, 20);
	close_found(&found);
}

/* The same where the launches after it are equal, not those before. */
static void a_stack_before_equal_launches(void **state)
{
	static const char *const blocks[] = {"gelu", "norm", "norm"};
	struct training t = training_begin();

	for (uint32_t i = 0; i < COUNT(blocks); i++) {
		training_forward(&t, 30 + i, i == 0 ? "relu" : i == 1 ? "silu" : "tanh");
		training_forward(&t, i == 1 ? 10 : 20, "addmm")->is_estimated = i == 2;
		put_operators(&t, blocks[i]);
	}
	for (unsigned site = 3; site > 0; site--)
		training_node(&t, "AddmmBackward0", site);

	struct found found = find(&t);

	assert_answer(&found, 0, GP_BACKWARD_LIKELY, 10);
	assert_answer(&found, 1, GP_BACKWARD_CERTAIN, 10);
	assert_answer(&found, 2, GP_BACKWARD_CERTAIN, 20);
	close_found(&found);
}

/* A matrix product in parts is one operator, also if its second kernel runs twice. */
static void products_in_parts(void **state)
{
	static const char *const kernels[] = {"gemm", "cublasLt::splitKreduce_kernel",
					      "cublasLt::splitKreduce_kernel"};
	struct training t = training_begin();

	for (size_t i = 0; i < COUNT(kernels); i++)
		training_launch(&t, TRAINING_PROGRAM, "@10 > torch::autograd::VariableType::addmm",
				kernels[i]);
	training_forward(&t, 11, "addmm");
	training_node(&t, "AddmmBackward0", 2);
	training_node(&t, "AddmmBackward0", 1);

	struct found found = find(&t);

	ASSERT_LINES(&found, GP_BACKWARD_CERTAIN, 11, 10);
	close_found(&found);
}

/* Several operators of two kernels each at a line: where one begins, its first kernel comes again. */
static void operators_of_several_kernels_at_a_line(void **state)
{
	struct training t = training_begin();

	for (uint32_t i = 0; i < 4; i++)
		training_launch(&t, TRAINING_PROGRAM, "@10 > torch::autograd::VariableType::addmm",
				i % 2 ? "bias" : "gemm");
	training_forward(&t, 11, "addmm");
	for (unsigned site = 3; site > 0; site--)
		training_node(&t, "AddmmBackward0", site);

	struct found found = find(&t);

	ASSERT_LINES(&found, GP_BACKWARD_CERTAIN, 11, 10, 10);
	close_found(&found);
}

/* Nothing is known of it, and the others keep their lines. */
static void a_node_without_a_stack(void **state)
{
	struct training t = training_begin();

	training_forward(&t, 10, "addmm");
	training_forward(&t, 11, "relu");
	training_forward(&t, 12, "gelu");
	training_node(&t, "GeluBackward0", 1);
	training_node(&t, "ReluBackward0", 1)->stack = GP_NONE;
	training_node(&t, "AddmmBackward0", 1);

	struct found found = find(&t);
	uint32_t line;

	assert_answer(&found, 0, GP_BACKWARD_CERTAIN, 12);
	assert_int_not_equal(answer_at(&found, 1, &line), GP_BACKWARD_CERTAIN);
	assert_answer(&found, 2, GP_BACKWARD_CERTAIN, 10);
	close_found(&found);
}

/* A launch of a memset of so many bytes. */
static void put_memset(struct training *t, uint64_t bytes)
{
	struct gp_op *op;

	training_launch(t, TRAINING_PROGRAM, "@13", "memset");
	op = &t->b.model->ops[t->b.model->op_count - 1];
	op->kind = GP_OP_SET;
	op->bytes = bytes;
}

/*
 * A step is a forward and a backward pass, to which launches without a stack belong by their
 * threads. Steps are alike if they launch the same, with memsets of equal sizes.
 */
static void steps_are_alike_by_what_they_launch(void **state)
{
	static const uint64_t bytes[] = {8, 8, 16};
	struct training t = training_begin();
	struct gp_autograd_stacks stacks;
	struct gp_launch_runs runs;
	struct gp_model *model;

	(void)state;
	for (size_t i = 0; i < COUNT(bytes); i++) {
		training_forward(&t, 10, "addmm");
		training_forward(&t, 11, "relu")->stack = GP_NONE;
		put_memset(&t, bytes[i]);
		training_node(&t, "ReluBackward0", 1);
		training_node(&t, "AddmmBackward0", 1)->stack = GP_NONE;
		training_node(&t, "AddmmBackward0", 2);
	}
	model = training_end(&t);
	gp_autograd_stacks_open(&stacks, model);
	gp_launch_runs_of(&runs, &stacks);
	assert_int_equal(runs.run_count, COUNT(bytes));
	for (uint32_t i = 0; i < runs.run_count; i++) {
		assert_int_equal(runs.runs[i].first, 6 * i);
		assert_int_equal(runs.runs[i].backward, 6 * i + 3);
		assert_int_equal(runs.runs[i].end, 6 * i + 6);
	}
	assert_int_equal(runs.runs[0].like, runs.runs[1].like);
	assert_int_not_equal(runs.runs[0].like, runs.runs[2].like);
	gp_launch_runs_free(&runs);
	gp_autograd_stacks_close(&stacks);
	gp_model_free(model);
}

/* Two operators of one kind at each line; a captured launch has no kernel. */
static void launches_into_a_graph_have_lines(void **state)
{
	struct training t = training_begin();

	for (uint32_t line = 10; line < 13; line++)
		for (uint32_t i = 0; i < 2; i++) {
			training_forward(&t, line, "addmm")->captured = true;
			t.b.model->op_count--;
		}
	for (unsigned site = 6; site > 0; site--)
		training_node(&t, "AddmmBackward0", site);

	struct found found = find(&t);

	ASSERT_LINES(&found, GP_BACKWARD_CERTAIN, 12, 12, 11, 11, 10, 10);
	close_found(&found);
}

/* The node of line 10 was never sampled. */
static void estimated_nodes_are_likely_at_most(void **state)
{
	struct training t = training_begin();

	put_sampled_step(&t, 1);
	put_sampled_step(&t, 2);
	put_sampled_step(&t, 4);

	struct found found = find(&t);

	for (uint32_t i = 0; i < 6; i++) {
		uint32_t line;

		assert_int_not_equal(answer_at(&found, i, &line), GP_BACKWARD_NOT);
		assert_true(answer_at(&found, i, &line) != GP_BACKWARD_CERTAIN || i % 2 == 0);
	}
	close_found(&found);
}

static void programs_without_pytorch_have_none(void **state)
{
	struct build b = build_begin(1);
	struct gp_backward backward;
	struct gp_model *model;
	uint32_t stack;

	build_call(&b, 1, BUILD_LAUNCH, 5, 5, 1);
	build_op(&b, GP_OP_KERNEL, 7, 20, 30, 1);
	model = build_end(&b);
	gp_backward_of(&backward, model);
	assert_null(backward.answers);
	assert_int_equal(gp_backward_answer_of(&backward, model, model->calls, &stack),
			 GP_BACKWARD_NOT);
	assert_int_equal(stack, GP_NONE);
	gp_backward_free(&backward);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbors_of_one_kind_are_told_apart),
		cmocka_unit_test(a_line_can_run_several_times),
		cmocka_unit_test(several_lines_are_none),
		cmocka_unit_test(compiled_operators_make_no_nodes),
		cmocka_unit_test(other_operators_do_not_disturb),
		cmocka_unit_test(an_operator_can_launch_several_kernels),
		cmocka_unit_test(passes_can_share_operators),
		cmocka_unit_test(a_pass_can_need_operators_before_another),
		cmocka_unit_test(other_threads_may_prepare_data),
		cmocka_unit_test(work_between_nodes_has_the_lines_of_its_neighbors),
		cmocka_unit_test(a_view_in_a_line_is_likely_of_it),
		cmocka_unit_test(other_work_of_the_engine),
		cmocka_unit_test(a_contradiction_has_no_lines),
		cmocka_unit_test(nodes_of_several_threads_have_no_lines),
		cmocka_unit_test(operators_stand_for_missing_symbols),
		cmocka_unit_test(stacks_of_equal_steps_are_put_together),
		cmocka_unit_test(the_stack_of_most_steps),
		cmocka_unit_test(operators_within_others),
		cmocka_unit_test(nodes_of_two_functions),
		cmocka_unit_test(steps_of_equal_length),
		cmocka_unit_test(a_stack_that_was_never_recorded),
		cmocka_unit_test(a_stack_before_equal_launches),
		cmocka_unit_test(products_in_parts),
		cmocka_unit_test(operators_of_several_kernels_at_a_line),
		cmocka_unit_test(a_node_without_a_stack),
		cmocka_unit_test(steps_are_alike_by_what_they_launch),
		cmocka_unit_test(launches_into_a_graph_have_lines),
		cmocka_unit_test(estimated_nodes_are_likely_at_most),
		cmocka_unit_test(programs_without_pytorch_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
