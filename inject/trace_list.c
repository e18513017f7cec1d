#include "inject/trace_list.h"

#include <stddef.h>

#include "inject/options.h"

static const struct {
	const char *word;
	uint32_t bits;
} words[] = {
	{"gpu", GP_TRACE_GPU},
	{"memory", GP_TRACE_MEMORY},
	{"sync", GP_TRACE_SYNC | GP_TRACE_WAITS},
	{"event", GP_TRACE_EVENT},
	{"module", GP_TRACE_MODULE},
	{"nvtx", GP_TRACE_NVTX},
	{"overhead", GP_TRACE_OVERHEAD},
	{"unified", GP_TRACE_UNIFIED},
	{"default", GP_TRACE_DEFAULT},
	{"api-all", GP_TRACE_DEFAULT | GP_TRACE_API_ALL},
};

uint32_t gp_trace_list_bits(const char *list)
{
	uint32_t bits = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (gp_option_list_has(list, words[i].word))
			bits |= words[i].bits;
	return bits;
}

uint32_t gp_trace_list(void)
{
	return gp_trace_list_bits(gp_option_text(GP_OPTION_ID_TRACE));
}
