#include "report/base/tree.h"

#include <search.h>

static void leave(void *element)
{
	(void)element;
}

void gp_tree_free(void *tree)
{
	tdestroy(tree, leave);
}
