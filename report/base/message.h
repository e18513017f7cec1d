/* message: room for what went wrong, in one line. */
#ifndef REPORT_BASE_MESSAGE_H
#define REPORT_BASE_MESSAGE_H

/* The longest path (PATH_MAX), the reason, and the next step. */
#define GP_MESSAGE_BYTES 4352

#endif
