/*
 * secrets: masks what looks like a secret in a command line. Reports are mailed and printed in the
 * logs of CI.
 */
#ifndef REPORT_BASE_TEXT_SECRETS_H
#define REPORT_BASE_TEXT_SECRETS_H

/*
 * A copy of a command, of words as a shell reads them, with *** in place of the values of options
 * and variables that are named like a token, key, secret or password, also within a word (JSON, the
 * query of a URL), and in place of user and password in a URL. Free it. Returns NULL if there is no
 * memory.
 */
char *gp_secrets_mask(const char *command);

#endif
