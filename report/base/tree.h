/*
 * tree: the end of a tree of the C library (tsearch()).
 */
#ifndef REPORT_BASE_TREE_H
#define REPORT_BASE_TREE_H

/* Frees a tree whose elements belong to somebody else. */
void gp_tree_free(void *tree);

#endif
