#include "report/advice/rules/product_precision.h"

#include <fnmatch.h>
#include <stddef.h>

#include "gpuprof/count.h"

/* The first that matches counts.  nvjet names the types of both inputs, the sum and the output. */
static const struct {
	const char *pattern;
	enum gp_product_precision precision;
} rows[] = {
	{"*tf32*", GP_PRODUCT_TF32},
	{"*f16*", GP_PRODUCT_HALF}, /* bf16, too */
	{"*16816*", GP_PRODUCT_HALF},
	{"*hgemm*", GP_PRODUCT_HALF},
	{"*h1688*", GP_PRODUCT_HALF},
	{"*h884*", GP_PRODUCT_HALF},
	{"nvjet_*_[ht]s[hst]_*", GP_PRODUCT_HALF},
	{"*tensorop_s1688gemm*", GP_PRODUCT_TF32},
	{"*tensorop*", GP_PRODUCT_UNKNOWN},
	{"*simt_sgemm*", GP_PRODUCT_FLOAT32},
	{"*_sgemm_*", GP_PRODUCT_FLOAT32},
	{"*sgemm_largek*", GP_PRODUCT_FLOAT32},
	{"*gemm_f32f32_f32f32_f32*_ffma_*", GP_PRODUCT_FLOAT32},
	{"*fprop*f32f32_f32f32_f32*_ffma_*", GP_PRODUCT_FLOAT32},
	{"*dgrad*f32f32_f32f32_f32*_ffma_*", GP_PRODUCT_FLOAT32},
	{"*wgrad*f32f32_f32f32_f32*_ffma_*", GP_PRODUCT_FLOAT32},
};

enum gp_product_precision gp_product_precision_of(const char *name)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (fnmatch(rows[i].pattern, name, FNM_CASEFOLD) == 0)
			return rows[i].precision;
	return GP_PRODUCT_UNKNOWN;
}
