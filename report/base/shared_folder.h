/*
 * shared_folder: opens files that the user named, in folders where other users may create files.
 *
 * It does not write to a link, file or pipe that another user has put there. Linux refuses the same
 * if fs.protected_symlinks, _fifos and _regular are set.
 */
#ifndef REPORT_BASE_SHARED_FOLDER_H
#define REPORT_BASE_SHARED_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* Root and the user; nobody else's files and links are acted upon. */
bool gp_owner_is_trusted(uid_t owner);

/*
 * Opens a folder, to create files there by openat(). It follows links of root and of the user.
 * Another user's link may lead only to a folder of that other user, where the caller meant to write
 * anyway. Returns a descriptor (O_PATH), or -errno; -EPERM for any other link, whose path is then
 * in link.
 */
int gp_shared_folder_enter(const char *folder, char link[PATH_MAX]);

/*
 * Opens a file for writing. A new file is readable by its owner alone. flags: O_APPEND, O_TRUNC or
 * 0. Returns a descriptor, or -errno; -EPERM if gp_shared_folder_enter() refuses the folder, or if
 * a link at the name, or a file in a folder that others may write to, belongs to another user.
 */
int gp_shared_folder_open(const char *path, int flags);

#define GP_SHARED_FOLDER_TEXT (PATH_MAX + 100)

/* The reason of such an error: strerror(-error), or for -EPERM a text of this module. */
const char *gp_shared_folder_error(int error, const char *path, char text[GP_SHARED_FOLDER_TEXT]);

#endif
