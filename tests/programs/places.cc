/* The same in C++: templates, namespaces, functions that the compiler inlines. */
#include <stdexcept>
#include <vector>

#include "places.h"

namespace net {

static void *kernel;

template <typename T> struct Layer {
	T weight;

	FUNCTION void forward(int times) const
	{
		run([times](void *what) {
			for (int i = 0; i < times; i++)
				CHECK(cuLaunchKernel(what, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
		});
		END();
	}

private:
	template <typename Body> __attribute__((always_inline)) void run(const Body &body) const
	{
		body(kernel);
	}
};

struct Model {
	std::vector<Layer<double>> layers{{1.0}, {2.0}};

	FUNCTION void step() const
	{
		for (const auto &layer : layers)
			layer.forward(3);
		END();
	}

	FUNCTION void fail() const
	{
		layers[0].forward(1);
		throw std::runtime_error("as it should");
	}
};

} // namespace net

int main()
{
	void *context, *module;
	net::Model model;

	CHECK(cuInit(0));
	CHECK(cuCtxCreate_v2(&context, 0, 0));
	CHECK(cuModuleLoadData(&module, step_ptx));
	CHECK(cuModuleGetFunction(&net::kernel, module, "step_kernel"));
	model.step();
	try {
		model.fail();
	} catch (const std::runtime_error &) {
		model.step();
	}
	CHECK(cuCtxSynchronize());
	return 0;
}
