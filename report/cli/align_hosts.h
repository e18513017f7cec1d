/* align_hosts: puts the models of several hosts on one clock. */
#ifndef REPORT_CLI_ALIGN_HOSTS_H
#define REPORT_CLI_ALIGN_HOSTS_H

#include <stddef.h>

#include "report/model/model.h"

/*
 * If the models are of several hosts, finds their clocks, and loads the models of each host whose
 * clock is found once more; a file that cannot be read any more gets a line on stderr.  Returns 0
 * or -ENOMEM.
 */
int gp_align_hosts(struct gp_model **models, size_t count);

#endif
