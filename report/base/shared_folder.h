/*
 * shared_folder: files that the user named, in folders where others may make files, too.
 *
 * Whatever another user put there under the name, a link to a file of ours, a file or a pipe to
 * read along, is not written to; Linux does the same where fs.protected_symlinks, _fifos and
 * _regular say so.
 */
#ifndef REPORT_BASE_SHARED_FOLDER_H
#define REPORT_BASE_SHARED_FOLDER_H

/*
 * Open a file for writing; it is made, for its owner alone, if it is not there.  flags: O_APPEND,
 * O_TRUNC or 0.  Returns a descriptor, or -errno: -EPERM where what has the name is another user's.
 */
int gp_shared_folder_open(const char *path, int flags);

/* What strerror() says of -error, but for that one. */
const char *gp_shared_folder_error(int error);

#endif
