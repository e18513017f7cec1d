/*
 * operators: the operator of a framework in a call stack: "aten::mm", within "AddmmBackward0".
 *
 * PyTorch calls each of its operators by a function at::_ops::NAME::call or ::redispatch; NAME is
 * the operator's name and the name of its overload, joined ("div_Tensor", "sum_dim_IntList").  The
 * overload begins at the first word with a capital letter, behind the underscore of an operator in
 * place, or at the last words that are known as names of overloads ("out", "dim").  Traces of
 * torch.profiler have operators as frames without a file.
 */
#ifndef REPORT_SYMBOLS_OPERATORS_H
#define REPORT_SYMBOLS_OPERATORS_H

#include <stdbool.h>

#include "report/symbols/symbols.h"

#define GP_OPERATOR_BYTES 128u

struct gp_operator {
	/*
	 * as torch.profiler calls the innermost one: "aten::addmm", without the overload;
	 * "c10d::ProcessGroupNCCL::allreduce"; without such a frame the node; "" = none
	 */
	char name[GP_OPERATOR_BYTES];
	/* the innermost node of a backward pass: "AddmmBackward0"; "" = none */
	char node[GP_OPERATOR_BYTES];
};

/* A stack's next place, from the innermost outwards; a name stays that was found before. */
void gp_operator_take(struct gp_operator *op, const struct gp_place *place);

/*
 * The kind that an operator and its node of the backward pass have in common: "addmm" of
 * at::_ops::addmm_out::call, torch::autograd::VariableType::addmm and AddmmBackward0.  False: the
 * function is none.
 */
bool gp_operator_kind(const char *function, char kind[GP_OPERATOR_BYTES]);
bool gp_operator_kind_of_autograd(const char *function, char kind[GP_OPERATOR_BYTES]);
bool gp_operator_kind_of_node(const char *function, char kind[GP_OPERATOR_BYTES]);

/* Of a stack, an index in frames, or GP_NONE. */
struct gp_operator gp_operator_of_stack(struct gp_symbols *symbols, const struct gp_model *model,
					uint32_t stack);

#endif
