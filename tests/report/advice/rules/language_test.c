/* What a program is written in, as its trace tells. */
#include "tests/unit.h"

#include <string.h>

#include "report/advice/rules/language.h"
#include "tests/report/stack_builder.h"

#define MOST 3

/* Files of Python's code, from the outermost caller on, and the library that called CUDA. */
struct scene {
	const char *python[MOST];
	const char *module, *command, *recorder;
};

static struct gp_model *build_scene(const struct scene *scene)
{
	struct build b = build_begin(1);
	uint32_t frame = BUILD_OUTERMOST;

	for (size_t i = 0; i < MOST && scene->python[i]; i++)
		frame = build_python(&b, frame, scene->python[i], "f", 1);
	if (scene->module)
		build_native(&b, frame, scene->module, 0x100);
	if (scene->command)
		build_info(&b, GP_INFO_COMMAND, scene->command);
	b.model->recorder = scene->recorder;
	build_stacks_end(&b);
	return build_end(&b);
}

static void check(enum gp_language expected, const struct scene *scene)
{
	struct gp_model *model = build_scene(scene);

	assert_int_equal(gp_language_of(model), expected);
	gp_model_free(model);
}

static void libraries_of_python_are_known_by_their_files(void **state)
{
	static const char torch[] = "/x/site-packages/torch/nn/modules/module.py";
	static const char jax[] = "/x/site-packages/jax/_src/pjit.py";

	check(GP_LANGUAGE_PYTHON, &(struct scene){.python = {"/home/me/train.py"}});
	check(GP_LANGUAGE_TORCH, &(struct scene){.python = {"/home/me/train.py", torch}});
	check(GP_LANGUAGE_JAX, &(struct scene){.python = {"/home/me/train.py", jax}});
	check(GP_LANGUAGE_CUPY,
	      &(struct scene){.python = {"/home/me/train.py"},
			      .module = "/x/cupy/cuda/memory.cpython-311-x86_64-linux-gnu.so"});
	check(GP_LANGUAGE_PYTHON, &(struct scene){.python = {"/home/me/train.py", torch, jax}});
	check(GP_LANGUAGE_JAX,
	      &(struct scene){.python = {"/usr/lib/python3/dist-packages/jax/a.py"}});
	check(GP_LANGUAGE_TORCH,
	      &(struct scene){.python = {"/home/me/src/torch/train.py"},
			      .module = "/home/me/src/torch/lib/libc10_cuda.so"});
	/* a folder of the user's may have that name */
	check(GP_LANGUAGE_PYTHON, &(struct scene){.python = {"/home/me/jax/train.py"}});
	check(GP_LANGUAGE_TORCH, &(struct scene){.python = {"/home/me/cupy/train.py", torch},
						 .module = "/home/me/torch/ops.so"});
}

/* What is advised there are functions of Python: a program in C++ has none, whatever it links. */
static void native_programs_are_native_whatever_they_link(void **state)
{
	check(GP_LANGUAGE_NATIVE, &(struct scene){.module = "/home/me/app"});
	check(GP_LANGUAGE_NATIVE,
	      &(struct scene){.module = "/opt/torch/lib/libtorch_cuda.so", .command = "./serve"});
	check(GP_LANGUAGE_NATIVE, &(struct scene){.command = "/opt/python/bin/app train.py"});
}

static void without_stacks_the_command_and_the_recorder_tell(void **state)
{
	check(GP_LANGUAGE_PYTHON, &(struct scene){.command = "/usr/bin/python3 train.py"});
	check(GP_LANGUAGE_TORCH, &(struct scene){.module = "/x/torch/lib/libtorch_cuda.so",
						 .command = "python3 train.py"});
	check(GP_LANGUAGE_TORCH, &(struct scene){.recorder = "torch.profiler"});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(libraries_of_python_are_known_by_their_files),
		cmocka_unit_test(native_programs_are_native_whatever_they_link),
		cmocka_unit_test(without_stacks_the_command_and_the_recorder_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
