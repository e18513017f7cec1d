#include "report/rules/dependency.h"

/* Then there is nothing of its own that an operation could wait for. */
static bool has_one_stream(const struct gp_model *model)
{
	return model->op_count > 0 &&
	       gp_ops_share_stream(&model->ops[0], &model->ops[model->op_count - 1]);
}

void gp_dependency_advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out)
{
	const struct gp_model *model = advisor->scope.models[found->process];

	if (has_one_stream(model))
		fprintf(out,
			"the process has no other stream that it could wait for: another process "
			"may have had the GPU (nvidia-smi lists them)%s",
			gp_model_may_have_managed_memory(model)
				? ", or managed memory was moved (--trace=default,unified tells)"
				: "");
	else
		fputs("see what the operation waits for: an event, a host function, another "
		      "device; or another process had the GPU (nvidia-smi lists them)",
		      out);
}
