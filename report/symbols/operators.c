#include "report/symbols/operators.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/symbols/code_owner.h"

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static bool ends(const char *text, size_t length, const char *end)
{
	return length > strlen(end) && strncmp(text + length - strlen(end), end, strlen(end)) == 0;
}

/* The length of the text without overloads in small letters. */
static size_t without_words(const char *text, size_t length)
{
	static const char *const words[] = {
		"_out",     "_dim",        "_dims",          "_int",        "_self",
		"_other",   "_value",      "_values",        "_src",        "_names",
		"_dimname", "_dtype",      "_device",        "_layout",     "_vec",
		"_stable",  "_correction", "_generator",     "_grad_input", "_start",
		"_step",    "_float",      "_memory_format", "_dim_max",    "_dim_min"};

	for (size_t i = 0; i < COUNT(words); i++)
		if (ends(text, length, words[i]) && text[length - strlen(words[i]) - 1] != '_') {
			length -= strlen(words[i]);
			i = SIZE_MAX;
		}
	return length;
}

/* The length of an operator's name in a text of that length where its overload is behind it. */
static size_t without_overload(const char *text, size_t length)
{
	for (size_t i = 1; i + 1 < length; i++) {
		if (text[i] != '_')
			continue;
		if (isupper((unsigned char)text[i + 1]))
			return without_words(text, i);
		if (i > 1 && text[i - 2] != '_' && text[i - 1] == '_' && text[i + 1] != '_')
			return i;
	}
	return without_words(text, length);
}

static void put(char text[GP_OPERATOR_BYTES], const char *start, size_t length)
{
	snprintf(text, GP_OPERATOR_BYTES, "%.*s", (int)length, start);
}

/* "at::_ops::NAME::call", also ::redispatch. */
static void put_aten(struct gp_operator *op, const char *function)
{
	static const char space[] = "at::_ops::";
	const char *name = function + strlen(space), *end;

	if (!begins(function, space) || !(end = strstr(name, "::")))
		return;
	snprintf(op->name, sizeof(op->name), "aten::%.*s",
		 (int)without_overload(name, (size_t)(end - name)), name);
}

/* Helpers of the process group are passed over: its method tells the collective. */
static void put_collective(struct gp_operator *op, const char *function)
{
	if (begins(function, "c10d::") && !strpbrk(function, "<{(") &&
	    !ends(function, strlen(function), "_impl"))
		put(op->name, function, strlen(function));
}

/* "torch::autograd::generated::AddmmBackward0::apply" is "AddmmBackward0". */
static void put_node(struct gp_operator *op, const char *function)
{
	static const char generated[] = "torch::autograd::generated::", method[] = "::apply";
	size_t length = strcspn(function, "<");

	if (!gp_code_is_backward(function))
		return;
	if (ends(function, length, method))
		length -= strlen(method);
	if (begins(function, generated)) {
		function += strlen(generated);
		length -= strlen(generated);
	}
	put(op->node, function, length);
}

/* An entry of torch.profiler: an operator, or a node of the backward pass, which it has also so. */
static void put_profiled(struct gp_operator *op, const char *function)
{
	if (begins(function, "<built-in ") || begins(function, "nn.Module: "))
		return;
	if (!*op->name)
		put(op->name, function, strlen(function));
	if (!*op->node &&
	    (gp_code_matches("*Backward", function) ||
	     gp_code_matches("*Backward[0-9]", function) || begins(function, "torch::autograd::")))
		put(op->node, function, strlen(function));
}

void gp_operator_take(struct gp_operator *op, const struct gp_place *place)
{
	if (place->kind == GP_FRAME_PYTHON && *place->file == '\0')
		put_profiled(op, place->function);
	if (place->kind != GP_FRAME_NATIVE)
		return;
	if (!*op->name)
		put_aten(op, place->function);
	if (!*op->name)
		put_collective(op, place->function);
	if (!*op->node)
		put_node(op, place->function);
}

/* ---- kinds ---- */

/* The words of a name, joined. */
static bool put_kind(char kind[GP_OPERATOR_BYTES], const char *name, size_t length)
{
	static const char forward[] = "forward"; /* nll_loss_forward has NllLossBackward0 */
	size_t used = 0;

	for (size_t i = 0; i < length && used + 1 < GP_OPERATOR_BYTES; i++)
		if (name[i] != '_')
			kind[used++] = (char)tolower((unsigned char)name[i]);
	if (ends(kind, used, forward))
		used -= strlen(forward);
	kind[used] = '\0';
	return used > 0;
}

/* The kind of the operator NAME of "SPACE::NAME::more". */
static bool put_kind_in(char kind[GP_OPERATOR_BYTES], const char *function, const char *space)
{
	const char *name = function + strlen(space);
	size_t length;

	if (!begins(function, space))
		return false;
	length = strcspn(name, ":<(");
	return put_kind(kind, name, without_overload(name, length));
}

bool gp_operator_kind(const char *function, char kind[GP_OPERATOR_BYTES])
{
	return put_kind_in(kind, function, "at::_ops::") || put_kind_in(kind, function, "aten::");
}

bool gp_operator_kind_of_autograd(const char *function, char kind[GP_OPERATOR_BYTES])
{
	return put_kind_in(kind, function, "torch::autograd::VariableType::");
}

bool gp_operator_kind_of_node(const char *function, char kind[GP_OPERATOR_BYTES])
{
	static const char backward[] = "Backward";
	struct gp_operator op = {0};
	const char *name;
	size_t length;

	put_node(&op, function);
	if (!*op.node)
		put_profiled(&op, function);
	name = strrchr(op.node, ':') ? strrchr(op.node, ':') + 1 : op.node;
	length = strlen(name);
	while (length > 0 && isdigit((unsigned char)name[length - 1]))
		length--;
	if (ends(name, length, "Backwards")) /* CopyBackwards, which PyTorch does not generate */
		length--;
	return ends(name, length, backward) && put_kind(kind, name, length - strlen(backward));
}

struct gp_operator gp_operator_of_stack(struct gp_symbols *symbols, const struct gp_model *model,
					uint32_t stack)
{
	struct gp_operator op = {0};

	for (uint32_t at = stack; at != GP_NONE; at = model->frames[at].parent) {
		size_t count;
		const struct gp_place *places = gp_symbols_find(symbols, model, at, &count);

		for (size_t i = 0; i < count; i++)
			gp_operator_take(&op, &places[i]);
	}
	if (!*op.name)
		put(op.name, op.node, strlen(op.node));
	return op;
}
