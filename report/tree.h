/*
 * tree: the end of a tree of the C library (tsearch()).
 */
#ifndef REPORT_TREE_H
#define REPORT_TREE_H

/* Frees a tree whose elements belong to somebody else. */
void gp_tree_free(void *tree);

#endif
