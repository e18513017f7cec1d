/*
 * tree: frees the nodes of a tsearch() tree.
 */
#ifndef REPORT_BASE_TREE_H
#define REPORT_BASE_TREE_H

/* Frees a tree, but not its elements. */
void gp_tree_free(void *tree);

#endif
