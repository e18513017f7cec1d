#!/usr/bin/env python3
"""Generate functions that are difficult for an unwinder, for tests/stacks/walk_test.c.

    tests/stacks/adversary.py c|cpp NAME COUNT SEED > FILE

Each function calls random others through the table of all functions.  The same arguments generate
the same file.
"""
import random
import sys

PLAIN = """
long {name}(int depth, long x)
{{
	long a = x * {k} + depth, b = a ^ {k2}, c = b + x, d = a - c;
	adversary_visit(depth);
	if (depth > 0) a += adversary_pick()(depth - 1, b);
	if (depth > 0 && adversary_random({often}) == 0) c += adversary_pick()(depth - 2, d);
	return a + b * c - d;
}}"""

BLOCK = """
long {name}(int depth, long x)
{{
	char *block = (char *)__builtin_alloca(16 + adversary_random({often}) * 16);
	char *more;
	block[0] = (char)x;
	adversary_keep(block);
	adversary_visit(depth);
	if (depth > 0) x += adversary_pick()(depth - 1, x + {k});
	more = (char *)__builtin_alloca(16 + adversary_random(4) * 16);
	adversary_keep(more);
	if (depth > 0 && adversary_random({often}) == 0) x += adversary_pick()(depth - 2, x);
	return x + block[0];
}}"""

TAIL = """
long {name}(int depth, long x)
{{
	adversary_visit(depth);
	return depth > 0 ? adversary_pick()(depth - 1, x + {k}) : x;
}}"""

ALIGNED = """
long {name}(int depth, long x)
{{
	char wide[{align}] __attribute__((aligned({align})));
	wide[0] = (char)x;
	adversary_keep(wide);
	adversary_visit(depth);
	if (depth > 0) x += adversary_pick()(depth - 1, x ^ {k});
	adversary_keep(wide);
	return x + wide[0];
}}"""

ALIGNED_BLOCK = """
long {name}(int depth, long x)
{{
	char wide[64] __attribute__((aligned(64)));
	char *block = (char *)__builtin_alloca(16 + adversary_random({often}) * 16);
	wide[0] = block[0] = (char)x;
	adversary_keep(wide);
	adversary_keep(block);
	if (depth > 0) x += adversary_pick()(depth - 1, x ^ {k});
	adversary_visit(depth);
	return x + wide[0] + block[0];
}}"""

WIDE = """
long {name}(int depth, long x)
{{
	long values[{wide}];
	for (int i = 0; i < {wide}; i++) values[i] = x + i;
	adversary_keep(values);
	adversary_visit(depth);
	if (depth > 0) values[1] += adversary_pick()(depth - 1, values[2]);
	if (depth > 1 && adversary_random({often}) == 0) values[3] += adversary_pick()(depth - 2, values[4]);
	return values[1] + values[3] + values[5];
}}"""

JUMP = """
long {name}(int depth, long x)
{{
	volatile long sum = x;
	jmp_buf *place = adversary_push_jump();
	if (place != NULL && setjmp(*place) == 0) {{
		adversary_visit(depth);
		if (depth > 0) sum += adversary_pick()(depth - 1, x + {k});
		adversary_pop_jump();
	}}
	adversary_visit(depth);
	if (depth > 0 && adversary_random(16) == 0) adversary_jump();
	return sum;
}}"""

FIBER = """
long {name}(int depth, long x)
{{
	adversary_visit(depth);
	adversary_switch(depth);
	adversary_visit(depth);
	if (depth > 0) x += adversary_pick()(depth - 1, x + {k});
	return x;
}}"""

MANY = """
long {name}(int depth, long x)
{{
	adversary_visit(depth);
	if (depth > 0)
		x += adversary_sum(x, {k}, 3, 4, 5, 6, 7, 8, x + 9, adversary_pick()(depth - 1, x));
	return x;
}}"""

CATCH = """
long {name}(int depth, long x)
{{
	adversary_visitor visitor(depth);
	int jumps = adversary_jumps();
	try {{
		if (depth > 0) x += adversary_pick()(depth - 1, x + {k});
		if (depth > 0 && adversary_random(3) == 0) x += adversary_pick()(depth - 2, x);
	}} catch (int value) {{
		adversary_set_jumps(jumps);
		adversary_visit(depth);
		x += value;
		if (depth > 2) x += adversary_pick()(depth - 3, x);
	}}
	return x;
}}"""

THROW = """
long {name}(int depth, long x)
{{
	adversary_visitor visitor(depth);
	if (adversary_random(3) == 0) throw (int)x;
	return depth > 0 ? x + adversary_pick()(depth - 1, x + {k}) : x;
}}"""

OBJECTS = """
long {name}(int depth, long x)
{{
	std::vector<long> values({wide}, x);
	std::function<long(int)> call = [&](int less) {{
		adversary_visit(depth);
		return depth > less ? adversary_pick()(depth - less - 1, values[0]) : values.back();
	}};
	std::for_each(values.begin(), values.begin() + 2, [&](long &value) {{ value += adversary_random(2) ? 1 : call(1); }});
	return call(0);
}}"""

GUARD = """
long {name}_guard(int depth, long x)
{{
	try {{
		return adversary_pick()(depth, x);
	}} catch (int value) {{
		adversary_set_jumps(0);
		return value;
	}}
}}"""

C_SHAPES = [PLAIN, PLAIN, BLOCK, TAIL, ALIGNED, ALIGNED_BLOCK, WIDE, JUMP, FIBER, MANY]
CPP_SHAPES = [PLAIN, CATCH, CATCH, THROW, OBJECTS, BLOCK, ALIGNED, FIBER]


def main():
    language, name, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    dice = random.Random(seed)
    shapes = C_SHAPES if language == "c" else CPP_SHAPES
    print('#include "tests/stacks/adversary.h"')
    if language == "cpp":
        print("#include <algorithm>\n#include <functional>\n#include <vector>\nextern \"C\" {")
    names = [f"{name}_{i}" for i in range(count)]
    for function in names:
        print(f"static long {function}(int depth, long x);")
    for i, function in enumerate(names):
        shape = shapes[i % len(shapes)].replace("\nlong {name}", "\nstatic long {name}")
        print(shape.format(name=function, k=dice.randrange(3, 99), k2=dice.randrange(3, 99),
                           often=dice.choice((2, 3, 5, 8)), align=dice.choice((32, 64, 128)),
                           wide=dice.choice((8, 24, 100, 600))))
    if language == "cpp":
        print(GUARD.format(name=name))
    print(f"extern adversary_function *const {name}_table[];\nextern const int {name}_count;")
    print(f"adversary_function *const {name}_table[] = {{{', '.join(names)}}};")
    print(f"const int {name}_count = {count};")
    if language == "cpp":
        print("}")


main()
