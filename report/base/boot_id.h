/* boot_id: the id that the kernel gives each boot of the machine. */
#ifndef REPORT_BASE_BOOT_ID_H
#define REPORT_BASE_BOOT_ID_H

#include <stdbool.h>

#define GP_BOOT_ID_TEXT_BYTES 64

/* NUL-terminated; "" and false if it cannot be read. */
bool gp_boot_id(char id[GP_BOOT_ID_TEXT_BYTES]);

#endif
