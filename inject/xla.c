#include "inject/xla.h"

#include <stddef.h>
#include <string.h>

#include "stacks/loader.h"

static struct {
	unsigned long long loaded; /* number of modules ever loaded, at the last check */
	bool is_here;
} seen;

/*
 * Name parts of the libraries that contain XLA: those of JAX, new and old, of TensorFlow and of
 * PyTorch/XLA.
 */
static bool has_xla(const char *path)
{
	static const char *const words[] = {"xla_cuda_plugin", "xla_extension", "libtensorflow_cc",
					    "_pywrap_tensorflow", "_XLAC"};
	const char *name = strrchr(path, '/');

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(name != NULL ? name : path, words[i]) != NULL)
			return true;
	return false;
}

/* Each entry contains the total count. */
static int visit_module(struct dl_phdr_info *info, size_t bytes, void *loaded)
{
	(void)bytes;
	*(unsigned long long *)loaded = info->dlpi_adds;
	seen.is_here = seen.loaded != info->dlpi_adds && has_xla(info->dlpi_name);
	return seen.is_here || seen.loaded == info->dlpi_adds;
}

bool gp_xla_is_loaded(void)
{
	unsigned long long loaded = seen.loaded;

	if (!seen.is_here && gp_loader_iterate(visit_module, &loaded))
		seen.loaded = loaded;
	return seen.is_here;
}
