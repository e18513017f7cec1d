/*
 * endpoints: one function for each path of the site.
 *
 * A function writes its answer to `out` with the code of the command of the same name, so that no
 * number is computed in two ways. Returns 0; -EINVAL if an argument is wrong, with the line for the
 * user in message; or another -errno.
 */
#ifndef REPORT_SERVE_ENDPOINTS_H
#define REPORT_SERVE_ENDPOINTS_H

#include "report/serve/site.h"

struct gp_call_of_endpoint {
	struct gp_site *site;
	const struct gp_request *request;
	char *message; /* GP_SITE_MESSAGE_BYTES */
};

int gp_endpoint_page(const struct gp_call_of_endpoint *call, FILE *out);
int gp_endpoint_summary(const struct gp_call_of_endpoint *call, FILE *out);
int gp_endpoint_kernels(const struct gp_call_of_endpoint *call, FILE *out);
int gp_endpoint_holistic(const struct gp_call_of_endpoint *call, FILE *out);
int gp_endpoint_compile(const struct gp_call_of_endpoint *call, FILE *out);
int gp_endpoint_advice(const struct gp_call_of_endpoint *call, FILE *out);
int gp_endpoint_flame(const struct gp_call_of_endpoint *call, FILE *out);
int gp_endpoint_memory(const struct gp_call_of_endpoint *call, FILE *out);
int gp_endpoint_timeline(const struct gp_call_of_endpoint *call, FILE *out);
int gp_endpoint_trace(const struct gp_call_of_endpoint *call, FILE *out);

#endif
