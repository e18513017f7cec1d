/*
 * shared_folder: opens files that the user named, in folders where other users may create files.
 *
 * It does not write to a link, file or pipe that another user has put there. Linux refuses the same
 * if fs.protected_symlinks, _fifos and _regular are set.
 */
#ifndef REPORT_BASE_SHARED_FOLDER_H
#define REPORT_BASE_SHARED_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

/* Root and the user; nobody else's files and links are acted upon. */
bool gp_owner_is_trusted(uid_t owner);

/*
 * Opens a file for writing. A new file is readable by its owner alone. flags: O_APPEND, O_TRUNC or
 * 0. Returns a descriptor, or -errno; -EPERM if a link on the way there, or a file in a folder that
 * others may write to, belongs to another user.
 */
int gp_shared_folder_open(const char *path, int flags);

/* As strerror(-error), with a text of its own for -EPERM. */
const char *gp_shared_folder_error(int error);

#endif
