/*
 * personal: replaces names of the user and of the machine in a text that is published. Paths of
 * installed software stay, because they say which libraries are in use.
 */
#ifndef REPORT_DOCTOR_PERSONAL_H
#define REPORT_DOCTOR_PERSONAL_H

#include <limits.h>
#include <sys/utsname.h>

struct gp_personal {
	/* NULL or "" = there is none */
	const char *homes[2]; /* becomes ~ */
	const char *users[3]; /* becomes USER, where it is a word */
	const char *host;     /* becomes HOST, where it is a word */
	const char *folder;   /* becomes . */

	struct utsname machine;
	char current[PATH_MAX];
};

/* Finds the names for this process. They are valid as long as the environment and *personal. */
void gp_personal_find(struct gp_personal *personal);

/*
 * A copy of a text with these names replaced, and with ".../NAME" in place of each absolute path
 * outside the folders of the system. Free it. Returns NULL if there is no memory.
 */
char *gp_personal_mask(const struct gp_personal *personal, const char *text);

#endif
