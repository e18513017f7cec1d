#include "tests/rules/rule.h"

#include <cuda.h>
#include <unistd.h>

const int PIECES = 60;

/* Code that nobody compiled before: no cache has it. */
static void load_new_code(int piece)
{
	char text[512];
	CUmodule module;

	snprintf(text, sizeof(text),
		 ".version 7.0\n.target sm_75\n.address_size 64\n"
		 ".visible .entry piece_%d_%ld_%d()\n{\n\tret;\n}\n",
		 (int)getpid(), (long)now_us(), piece);
	if (cuModuleLoadData(&module, text)) /* sin */
		exit(1);
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	double start = warm_up();

	for (int i = 0; i < PIECES; i++) {
		if (sin)
			load_new_code(i);
		launch_spin(100);
	}
	return end_loop(start);
}
