#include "report/analysis/loop/phase_marks.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/loop/frame_marking.h"
#include "report/symbols/code_owner.h"

/* Patterns, the path's as gp_code_matches() has them; the first row that fits counts. */
struct row {
	const char *path, *function;
	enum gp_phase_kind phase;
};

/* By the path of the source. */
static const struct row python_rows[] = {
	{"*/torch/utils/data/*", "*", GP_PHASE_DATA},
	{"*/accelerate/data_loader.py", "*", GP_PHASE_DATA},
	{"*/transformers/trainer.py", "*get_batch_samples", GP_PHASE_DATA},
	{"*/transformers/data/*", "*", GP_PHASE_DATA},
	{"*/transformers/tokenization*", "*", GP_PHASE_DATA},
	{"*/loops/fetchers.py", "*", GP_PHASE_DATA}, /* Lightning */
	{"*/site-packages/datasets/*", "*", GP_PHASE_DATA},
	{"*/torchvision/transforms/*", "*", GP_PHASE_DATA},
	{"*/torchvision/datasets/*", "*", GP_PHASE_DATA},
	{"*/torchvision/io/*", "*", GP_PHASE_DATA},
	{"*/torchdata/*", "*", GP_PHASE_DATA},
	{"*/webdataset/*", "*", GP_PHASE_DATA},
	{"*/litdata/*", "*", GP_PHASE_DATA},
	{"*/nvidia/dali/*", "*", GP_PHASE_DATA},
	{"*/tensorflow/python/data/*", "*", GP_PHASE_DATA},
	{"*/grain/*", "*", GP_PHASE_DATA},
	{"*/PIL/*", "*", GP_PHASE_DATA},
	{"*/albumentations/*", "*", GP_PHASE_DATA},
	/* another thread or process prepares it */
	{"*/queue.py", "*", GP_PHASE_DATA},
	{"*/multiprocessing/queues.py", "*", GP_PHASE_DATA},
	{"*/multiprocessing/connection.py", "*", GP_PHASE_DATA},

	{"*/accelerate/utils/operations.py", "send_to_device*", GP_PHASE_TO_DEVICE},
	{"*/transformers/trainer.py", "*_prepare_input*", GP_PHASE_TO_DEVICE},
	{"*/strategies/strategy.py", "*batch_to_device", GP_PHASE_TO_DEVICE}, /* Lightning */
	{"*/jax/_src/api.py", "device_put*", GP_PHASE_TO_DEVICE},

	{"*/torch/nn/modules/module.py", "*zero_grad", GP_PHASE_OPTIMIZER},
	{"*/torch/nn/modules/module.py", "*call_impl*", GP_PHASE_FORWARD},
	{"*/torch/nn/modules/*", "*forward", GP_PHASE_FORWARD},
	{"*/torch/nn/functional.py", "*", GP_PHASE_FORWARD},
	{"*/torch/_dynamo/eval_frame.py", "*compile_wrapper", GP_PHASE_FORWARD},
	{"*/flax/linen/module.py", "*", GP_PHASE_FORWARD},

	{"*/torch/_tensor.py", "*backward", GP_PHASE_BACKWARD},
	{"*/torch/autograd/__init__.py", "*", GP_PHASE_BACKWARD},
	{"*/torch/autograd/graph.py", "_engine_run_backward", GP_PHASE_BACKWARD},
	{"*/torch/autograd/function.py", "BackwardCFunction.apply", GP_PHASE_BACKWARD},

	{"*/torch/nn/utils/clip_grad.py", "*", GP_PHASE_GRADIENTS},
	/* scaler.scale(loss).backward() */
	{"*/grad_scaler.py", "*GradScaler.scale*", GP_PHASE_BACKWARD},
	{"*/torch/amp/grad_scaler.py", "*", GP_PHASE_GRADIENTS},
	{"*/torch/cuda/amp/grad_scaler.py", "*", GP_PHASE_GRADIENTS},
	{"*/torch/distributed/fsdp/sharded_grad_scaler.py", "*", GP_PHASE_GRADIENTS},
	{"*/accelerate/accelerator.py", "*clip_grad*", GP_PHASE_GRADIENTS},

	{"*/torch/optim/*", "*", GP_PHASE_OPTIMIZER},
	{"*/torch/distributed/optim/*", "*", GP_PHASE_OPTIMIZER},
	{"*/apex/optimizers/*", "*", GP_PHASE_OPTIMIZER},
	{"*/bitsandbytes/optim/*", "*", GP_PHASE_OPTIMIZER},
	{"*/deepspeed/runtime/engine.py", "*step", GP_PHASE_OPTIMIZER},
	{"*/optax/*", "*", GP_PHASE_OPTIMIZER},

	{"*/torch/distributed/distributed_c10d.py", "*", GP_PHASE_COMMUNICATION},
	{"*/torch/distributed/_functional_collectives.py", "*", GP_PHASE_COMMUNICATION},
	{"*/horovod/*", "*", GP_PHASE_COMMUNICATION},
	{"*/mpi4py/*", "*", GP_PHASE_COMMUNICATION},

	{"*/transformers/trainer.py", "*.evaluate", GP_PHASE_EVALUATION},
	{"*/transformers/trainer.py", "*.evaluation_loop", GP_PHASE_EVALUATION},
	{"*/transformers/trainer.py", "*._evaluate", GP_PHASE_EVALUATION},
	{"*/loops/evaluation_loop.py", "*", GP_PHASE_EVALUATION}, /* Lightning */

	{"*/torch/serialization.py", "*", GP_PHASE_CHECKPOINT},
	{"*/torch/distributed/checkpoint/*", "*", GP_PHASE_CHECKPOINT},
	{"*/transformers/trainer.py", "*._save_*", GP_PHASE_CHECKPOINT},
	{"*/transformers/trainer.py", "*save_model", GP_PHASE_CHECKPOINT},
	{"*/callbacks/model_checkpoint.py", "*", GP_PHASE_CHECKPOINT}, /* Lightning */
	{"*/accelerate/checkpointing.py", "*", GP_PHASE_CHECKPOINT},
	{"*/safetensors/*", "*", GP_PHASE_CHECKPOINT},
	{"*/orbax/*", "*", GP_PHASE_CHECKPOINT},

	{"*/transformers/trainer.py", "*.log", GP_PHASE_LOGGING},
	{"*/connectors/logger_connector/*", "*", GP_PHASE_LOGGING}, /* Lightning */
	{"*/torch/utils/tensorboard/*", "*", GP_PHASE_LOGGING},
	{"*/lib/python*/logging/__init__.py", "*", GP_PHASE_LOGGING},
	{"*/wandb/*", "*", GP_PHASE_LOGGING},
	{"*/mlflow/*", "*", GP_PHASE_LOGGING},
	{"*/tqdm/*", "*", GP_PHASE_LOGGING},
	{"*/torchmetrics/*", "*", GP_PHASE_LOGGING},
	{"*/sklearn/metrics/*", "*", GP_PHASE_LOGGING},
	{"*/torcheval/*", "*", GP_PHASE_LOGGING},
};

/* PyTorch's own threads run the backward pass without Python.  By the path of the module. */
static const struct row native_rows[] = {
	{"libtorch_cpu.so", "torch::autograd::Engine::*", GP_PHASE_BACKWARD},
	{"libtorch_python.so", "torch::autograd::python::PythonEngine::*", GP_PHASE_BACKWARD},
	{"libtorch_python.so", "THPEngine_run_backward*", GP_PHASE_BACKWARD},
	{"libtorch_*.so", "c10d::ProcessGroup*", GP_PHASE_COMMUNICATION},
};

/* Functions that compute, and log nothing. */
#define LOGARITHMS                                                                                     \
	"@(prob|soft|likelihood|sum|mean|abs|det|sigm|normal|uniform|density|pdf|cdf|gamma|beta|odds|" \
	"posterior|prior|evidence|ratio|scale|space|std|var|weight|alpha|mel|cosh|add|map)"

/* The user's functions, without their classes: what others call them, too. */
static const struct row own_rows[] = {
	{"*", "*data*load*", GP_PHASE_DATA},
	{"*", "load*", GP_PHASE_DATA},
	{"*", "*get_batch*", GP_PHASE_DATA},
	{"*", "*next_batch*", GP_PHASE_DATA},
	{"*", "@(make|prepare|read|fetch|sample)_batch*", GP_PHASE_DATA},
	{"*", "__@(next|getitem)__", GP_PHASE_DATA},
	{"*", "collate*", GP_PHASE_DATA},
	{"*", "preprocess*", GP_PHASE_DATA},
	{"*", "augment*", GP_PHASE_DATA},
	{"*", "forward*", GP_PHASE_FORWARD},
	{"*", "backward*", GP_PHASE_BACKWARD},
	{"*", "*clip_grad*", GP_PHASE_GRADIENTS},
	{"*", "optimizer_step*", GP_PHASE_OPTIMIZER},
	{"*", "all_reduce*", GP_PHASE_COMMUNICATION},
	{"*", "eval*", GP_PHASE_EVALUATION},
	{"*", "valid*", GP_PHASE_EVALUATION},
	{"*", "test*", GP_PHASE_EVALUATION},
	{"*", "*checkpoint*", GP_PHASE_CHECKPOINT},
	{"*", "save*", GP_PHASE_CHECKPOINT},
	{"*", "log", GP_PHASE_LOGGING},
	{"*", "log_" LOGARITHMS "*", GP_PHASE_NONE},
	{"*", "log_*", GP_PHASE_LOGGING},
	{"*", "report*", GP_PHASE_LOGGING},
	{"*/metrics.py", "*", GP_PHASE_LOGGING},
	{"*/metrics/*", "*", GP_PHASE_LOGGING},
};

/* Ranges, without regard to case; and operators of torch.profiler, which have no file. */
static const struct row range_rows[] = {
	{"*", "enumerate(DataLoader)*", GP_PHASE_DATA},
	{"*", "*data*load*", GP_PHASE_DATA},
	{"*", "*next*batch*", GP_PHASE_DATA},
	{"*", "*load*batch*", GP_PHASE_DATA},
	{"*", "load?([ :_-]*)", GP_PHASE_DATA},
	{"*", "*wait*for*batch*", GP_PHASE_DATA},
	{"*", "h2d*", GP_PHASE_TO_DEVICE},
	{"*", "host*to*device*", GP_PHASE_TO_DEVICE},
	{"*", "*batch*to*@(device|gpu)*", GP_PHASE_TO_DEVICE},
	{"*", "?(*.)@(forward|fwd)*@(backward|bwd)*", GP_PHASE_NONE},
	{"*", "nn.Module: *", GP_PHASE_FORWARD},
	{"*", "Torch-Compiled Region*", GP_PHASE_FORWARD},
	{"*", "?(*.)@(forward|fwd)?([ :_-]*)", GP_PHASE_FORWARD},
	{"*", "*.training_step", GP_PHASE_FORWARD},
	{"*", "loss", GP_PHASE_FORWARD},
	{"*", "autograd::engine::*", GP_PHASE_BACKWARD},
	{"*", "torch::autograd::!(VariableType*)", GP_PHASE_BACKWARD},
	{"*", "*Backward*([0-9])", GP_PHASE_BACKWARD}, /* the nodes of autograd, and operators */
	{"*", "?(*.)@(backward|bwd)?([ :_-]*)", GP_PHASE_BACKWARD},
	{"*", "*grad*clip*", GP_PHASE_GRADIENTS},
	{"*", "*clip*grad*", GP_PHASE_GRADIENTS},
	{"*", "*zero_grad*", GP_PHASE_OPTIMIZER},
	{"*", "optimizer*", GP_PHASE_OPTIMIZER},
	{"*", "*optimizer[_.]step*", GP_PHASE_OPTIMIZER},
	{"*", "DeepSpeedEngine.step", GP_PHASE_OPTIMIZER},
	{"*", "*data*dist*", GP_PHASE_COMMUNICATION},
	{"*", "nccl[:A-Z]*", GP_PHASE_COMMUNICATION},
	{"*", "c10d::*", GP_PHASE_COMMUNICATION},
	{"*", "eval*", GP_PHASE_EVALUATION},
	{"*", "valid*", GP_PHASE_EVALUATION},
	{"*", "checkpoint*", GP_PHASE_CHECKPOINT},
	{"*", "save*checkpoint*", GP_PHASE_CHECKPOINT},
	{"*", "log", GP_PHASE_LOGGING},
	{"*", "logging*", GP_PHASE_LOGGING},
	{"*", "*metric*:update*", GP_PHASE_LOGGING},
};

#define IS(kind) (1u << GP_PHASE_##kind)
static const struct {
	const char *name;
	uint32_t inside; /* phases that count where it calls them */
} phases[GP_PHASE_KINDS] = {
	[GP_PHASE_NONE] = {"unknown", ~0u},
	[GP_PHASE_DATA] = {"data loading", IS(TO_DEVICE)},
	[GP_PHASE_TO_DEVICE] = {"host-to-device", 0},
	[GP_PHASE_FORWARD] = {"forward", IS(BACKWARD) | IS(GRADIENTS) | IS(OPTIMIZER) |
						 IS(COMMUNICATION) | IS(LOGGING) | IS(CHECKPOINT)},
	[GP_PHASE_BACKWARD] = {"backward", IS(GRADIENTS) | IS(OPTIMIZER) | IS(COMMUNICATION)},
	[GP_PHASE_GRADIENTS] = {"gradient clipping, scaling", IS(OPTIMIZER) | IS(COMMUNICATION)},
	[GP_PHASE_OPTIMIZER] = {"optimizer",
				IS(FORWARD) | IS(BACKWARD) | IS(GRADIENTS) | IS(COMMUNICATION)},
	[GP_PHASE_COMMUNICATION] = {"communication", 0},
	[GP_PHASE_EVALUATION] = {"evaluation", 0},
	[GP_PHASE_CHECKPOINT] = {"checkpoint", 0},
	[GP_PHASE_LOGGING] = {"logging",
			      IS(DATA) | IS(EVALUATION) | IS(CHECKPOINT) | IS(COMMUNICATION)},
	[GP_PHASE_OTHER] = {"other", ~0u},
};

const char *gp_phase_kind_name(enum gp_phase_kind kind)
{
	return phases[kind].name;
}

enum gp_phase_kind gp_phase_inside(enum gp_phase_kind outer, enum gp_phase_kind inner)
{
	return inner != GP_PHASE_NONE && (phases[outer].inside >> inner & 1u) ? inner : outer;
}

static enum gp_phase_kind find_by(const struct row *rows, size_t count, const char *path,
				  const char *function, int flags)
{
	for (size_t i = 0; i < count; i++)
		if (gp_code_matches(rows[i].path, path) &&
		    fnmatch(rows[i].function, function, flags | FNM_EXTMATCH) == 0)
			return rows[i].phase;
	return GP_PHASE_NONE;
}

static enum gp_phase_kind find_phase(const struct row *rows, size_t count, const char *path,
				     const char *function)
{
	return find_by(rows, count, path, function, 0);
}

/* "forward" of TorchRec's "## forward ##". */
enum gp_phase_kind gp_phase_of_range(const char *text)
{
	static const char frame[] = "# ";
	char name[256];
	size_t length;

	text += strspn(text, frame);
	snprintf(name, sizeof(name), "%s", text);
	for (length = strlen(name); length > 0 && strchr(frame, name[length - 1]); length--)
		name[length - 1] = '\0';
	return find_by(range_rows, COUNT(range_rows), "", name, FNM_CASEFOLD);
}

/* Paths of torch.profiler begin below the folder of packages. */
static enum gp_phase_kind find_in_library(const struct gp_place *place)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s", *place->file == '/' ? "" : "/", place->file);
	return find_phase(python_rows, COUNT(python_rows), path, place->function);
}

static const char *last_part(const char *function)
{
	const char *dot = strrchr(function, '.');

	return dot ? dot + 1 : function;
}

enum gp_phase_kind gp_phase_of_place(const struct gp_place *place, bool by_names)
{
	if (place->kind != GP_FRAME_PYTHON)
		return find_phase(native_rows, COUNT(native_rows), place->module, place->function);
	if (*place->file == '\0')
		return gp_phase_of_range(place->function);
	if (gp_code_owner_of_place(place) != GP_CODE_OWN)
		return find_in_library(place);
	return by_names ? find_phase(own_rows, COUNT(own_rows), place->file,
				     last_part(place->function))
			: GP_PHASE_NONE;
}

static void mark_place(const void *context, const struct gp_place *place, void *of)
{
	const bool *by_names = context;
	uint8_t *mark = of;

	*mark = (uint8_t)gp_phase_of_place(place, *by_names);
}

static void add_mark(void *of, const void *called)
{
	uint8_t *mark = of;
	const uint8_t *inner = called;

	*mark = (uint8_t)gp_phase_inside((enum gp_phase_kind) * mark, (enum gp_phase_kind) * inner);
}

static bool wants_module(const char *path)
{
	for (size_t i = 0; i < COUNT(native_rows); i++)
		if (gp_code_matches(native_rows[i].path, path))
			return true;
	return false;
}

void gp_phase_marks_of(const struct gp_model *model, bool by_names, uint8_t **marks)
{
	const struct gp_frame_marking marking = {.mark_bytes = sizeof(**marks),
						 .wants_module = wants_module,
						 .of_place = mark_place,
						 .add = add_mark,
						 .context = &by_names};

	*marks = calloc((size_t)model->frame_count + 1, sizeof(**marks));
	gp_frames_mark(model, &marking, *marks);
}
