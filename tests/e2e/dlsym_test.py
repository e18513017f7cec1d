"""The preloaded library defines dlsym(): who looks something up finds what it finds without us, whoever asks, and when."""
import os
import unittest

import support
from support import BARE, LAUNCHED, PLAIN, Case

# Each library has a function of the same name, and asks for the next one behind itself.
LINK_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

void link_in_chain(char *text)
{
	void (*next)(char *) = (void (*)(char *))dlsym(RTLD_NEXT, "link_in_chain");

	strcat(text, NAME);
	if (next)
		next(text);
}
"""
# Names of all kinds, by handles of all kinds; where a function lies is said by its library.
PROGRAM_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int cuptiOfTheProgram(void) { return 0; }
int in_program(void) { return 0; }
void link_in_chain(char *text);

static int early_found;

static void look_early(void)
{
	early_found = dlsym(RTLD_DEFAULT, "in_program") == (void *)in_program && dlsym(RTLD_NEXT, "malloc");
}
__attribute__((section(".preinit_array"), used)) static void (*const before_all)(void) = look_early;

static void say(const char *what, void *found)
{
	Dl_info information = {0};
	const char *name = "";

	if (found && dladdr(found, &information) && information.dli_fname)
		name = strrchr(information.dli_fname, '/') ? strrchr(information.dli_fname, '/') + 1 : information.dli_fname;
	printf("%s: %s\n", what, found ? name : dlerror());
}

int main(int argc, char **argv)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW), *self = dlopen(NULL, RTLD_NOW), *other = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	static const char *const names[] = {"strlen", "in_program", "in_other", "cuptiOfTheProgram", "cuptiOfNobody", "cupti", "", "execve"};
	char text[64] = "";

	printf("early %d\n", early_found);
	link_in_chain(text);
	printf("chain %s\n", text);
	for (int i = 0; i < 7; i++) {
		say(names[i], dlsym(RTLD_DEFAULT, names[i]));
		say(names[i], dlsym(RTLD_NEXT, names[i]));
		say(names[i], dlsym(libc, names[i]));
		say(names[i], dlsym(self, names[i]));
		say(names[i], dlsym(other, names[i]));
	}
	((void (*)(void))dlsym(other, "in_other"))();
	return 0;
}
"""
# Loaded for itself alone: its default scope has its own functions, which nobody else finds.
OTHER_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

void cuptiInOther(void) {}
void in_other(void)
{
	printf("own %d %d\n", dlsym(RTLD_DEFAULT, "cuptiInOther") == (void *)cuptiInOther, dlsym(RTLD_DEFAULT, "cuptiOfTheProgram") != NULL);
}
"""
# An allocator that looks up what it wraps at its first call, whoever makes it.
ALLOCATOR_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

static char reserve[65536];
static size_t used;
static int depth;

void *malloc(size_t bytes)
{
	static void *(*next)(size_t);

	if (!next && !depth) {
		depth = 1;
		next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
		depth = 0;
	}
	if (next)
		return next(bytes);
	used += (bytes + 15) & ~(size_t)15;
	return reserve + used - ((bytes + 15) & ~(size_t)15);
}
void free(void *memory)
{
	static void (*next)(void *);

	if ((char *)memory >= reserve && (char *)memory < reserve + sizeof(reserve))
		return;
	if (!next)
		next = (void (*)(void *))dlsym(RTLD_NEXT, "free");
	next(memory);
}
"""
# Another tool that has a dlsym() of its own, as those have that share a GPU among containers.
WRAPPER_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

static char hidden;

void *dlsym(void *handle, const char *name)
{
	static void *(*real)(void *, const char *);

	if (!real)
		real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	return !strcmp(name, "of_the_wrapper") ? &hidden : real(handle, name);
}
"""
ASKER_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	printf("%d %d\n", dlsym(RTLD_DEFAULT, "of_the_wrapper") != NULL, dlsym(RTLD_DEFAULT, "strlen") != NULL);
	return 0;
}
"""


class Dlsym(Case):

    def program(self):
        """The program and its arguments: it is linked to two libraries and loads a third."""
        for name in ("first", "second"):
            self.compile(f"{name}.so", LINK_SOURCE, f'-DNAME="{name} "', "-shared", "-fPIC", f"-Wl,-soname,{name}.so", "-ldl")
        other = self.compile("other.so", OTHER_SOURCE, "-shared", "-fPIC", "-ldl")
        program = self.compile("program", PROGRAM_SOURCE, "-rdynamic", "-Wl,--no-as-needed", "-L" + self.folder, "-l:first.so",
                               "-l:second.so", "-Wl,-rpath," + self.folder, "-ldl")
        return [program, other]

    def check(self, program, preload=()):
        """What it prints with other preloaded libraries is the same without us and with us, before and behind them."""
        plain = self.run_program(program, PLAIN, LD_PRELOAD=":".join(preload))
        self.assertEqual((plain.returncode, plain.stderr), (0, ""))
        for libraries in ([support.LIBRARY, *preload], [*preload, support.LIBRARY]):
            with self.subTest(libraries):
                result = self.run_program(program, PLAIN, LD_PRELOAD=":".join(libraries))
                self.assertEqual((result.returncode, result.stdout), (0, plain.stdout), result.stderr)
        return plain.stdout

    def test_every_look_up_finds_what_it_finds_without_us(self):
        program = self.program()
        plain = self.run_program(program, PLAIN)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        self.assertIn("early 1\nchain first second \n", plain.stdout)
        for way in (BARE, LAUNCHED):
            with self.subTest(way):
                result = self.run_program(program, way)
                self.assertEqual((result.returncode, result.stdout), (0, plain.stdout), result.stderr)

    def test_an_allocator_that_looks_up_what_it_wraps(self):
        allocator = self.compile("allocator.so", ALLOCATOR_SOURCE, "-shared", "-fPIC", "-fno-builtin", "-ldl")
        self.check(self.program(), [allocator])

    def test_another_library_that_defines_it(self):
        wrapper = self.compile("wrapper.so", WRAPPER_SOURCE, "-shared", "-fPIC", "-ldl")
        asker = self.compile("asker", ASKER_SOURCE, "-ldl")
        self.assertEqual(self.check([asker], [wrapper]), "1 1\n")

    def test_a_program_of_cuda_beside_both(self):
        """Its CUDA is recorded all the same."""
        wrapper = self.compile("wrapper.so", WRAPPER_SOURCE, "-shared", "-fPIC", "-ldl")
        program = [os.path.join(support.BUILD, "programs", "launch")]
        plain = self.run_program(program, PLAIN)
        for libraries in ([support.LIBRARY, wrapper], [wrapper, support.LIBRARY]):
            with self.subTest(libraries):
                result = self.run_program(program, PLAIN, LD_PRELOAD=":".join(libraries), GPUPROF_OUTPUT="t")
                self.assertEqual((result.returncode, result.stdout), (0, plain.stdout), result.stderr)
                self.assertEqual(len(self.files(".gpuprof")), 1)
                for file in self.files(".gpuprof") + self.files(".json"):
                    os.unlink(self.path(file))


if __name__ == "__main__":
    support.main()
