/*
 * nvml_links: the links of a GPU, by the driver's management library (NVML).
 *
 * Call it in a process of its own: the library may take long if an unused GPU has to be brought up
 * first, and it is not ours.
 */
#ifndef REPORT_MODEL_NVML_LINKS_H
#define REPORT_MODEL_NVML_LINKS_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprof/record.h"

#define GP_LINKS_OF_DEVICE 2u /* at most, one of each kind */

/*
 * The links of the GPU with that UUID, with device_id 0. Returns the number; 0 if the library is
 * not there, does not know the GPU or does not tell.
 */
size_t gp_link_facts(const uint8_t uuid[16], struct gp_record_link links[GP_LINKS_OF_DEVICE]);

#endif
