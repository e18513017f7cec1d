/*
 * product_precision: the numbers that a matrix product or convolution of a library multiplies, by the
 * name of its kernel.
 */
#ifndef REPORT_ADVICE_RULES_PRODUCT_PRECISION_H
#define REPORT_ADVICE_RULES_PRODUCT_PRECISION_H

enum gp_product_precision {
	GP_PRODUCT_UNKNOWN,
	GP_PRODUCT_FLOAT32, /* not on tensor cores */
	GP_PRODUCT_TF32,
	GP_PRODUCT_HALF, /* float16 or bfloat16 */
};

enum gp_product_precision gp_product_precision_of(const char *name);

#endif
