#!/bin/sh
# Fail unless each kind of records must be named by a visitor (report/trace/record_visitor.h) for it
# to compile.
#
#   tests/lint/visitor.sh
set -u

CC="${CC:-cc} -std=c11 -D_GNU_SOURCE -Werror=implicit-function-declaration -fsyntax-only -xc -I. -Iinclude"
KINDS=$(sed -n 's/.*X(user, [0-9]*, [A-Z_]*, \([a-z_]*\), [A-Z]*).*/\1/p' include/gpuprof/record.h)
problems=0

# A visitor that ignores all kinds but the one that is given.
compiles() {
	{
		echo '#include "report/trace/record_visitor.h"'
		for kind in $KINDS; do
			[ "$kind" = "$1" ] || echo "GP_RECORD_IGNORE(some, $kind)"
		done
		echo 'GP_RECORD_VISITOR(visit_some, some, int)'
	} | $CC - 2>/dev/null
}

if [ "$(echo "$KINDS" | wc -l)" -lt 34 ]; then
	echo "include/gpuprof/record.h: found too few kinds of records"
	problems=1
fi
if ! compiles none; then
	echo "report/trace/record_visitor.h: a visitor that names all kinds does not compile"
	problems=1
fi
for kind in $KINDS; do
	if compiles "$kind"; then
		echo "report/trace/record_visitor.h: a visitor that forgets \"$kind\" compiles"
		problems=1
	fi
done
exit $problems
