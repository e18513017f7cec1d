# gpuprof.  `make demo` builds everything and profiles a program, `make check` tests; see README.md.
#
#   make            libgpuprof.so and gpuprof in build/
#   make deps       install missing packages
#   make demo       profile a sample program
#   make unit       unit tests
#   make check      tests that need no GPU
#   make check-all  the same with the slow tests
#   make lint       layers, exports, page, words, format, shellcheck, clang-tidy
#   make bench      benchmarks that need no GPU
#   make soak       tests that take hours
#   make arm64-check  build for arm64 and run the tests under an emulator
#   make fuzz       random input for the readers
#   make coverage   coverage of the readers by their tests
#   make mutate     small changes of the sources that no unit test notices
#   make page       rebuild the page of `gpuprof html`, after a change in report/html/web/
#   make reference  regenerate parts of docs/reference/, after a change of their definitions
#   make screenshots  draw the pictures of the documents with Chromium
#   make install    PREFIX=/usr/local, DESTDIR=; make uninstall removes the files
#   make packages   tarball, Debian package, wheel and list of contents, in build/packages/
#   make arm64-packages  the same for arm64, with a cross compiler, in build-arm64/packages/
#   make site       the documents as a site with search, in build/site/
#   make release    test everything, and make the files of a release in build/release/
#   make clean      remove build/
#
# Variables: O build folder, CC compiler, CUDA_HOME the CUDA Toolkit, SAN sanitizers
# (address,undefined or thread; for `make unit`), V=1 prints commands.

O         ?= build
CUDA_HOME ?= /usr/local/cuda
NVCC      ?= $(CUDA_HOME)/bin/nvcc
SAN       ?=
V         ?= 0
ifeq ($(strip $(O)),)
$(error O is empty: name the folder to build in, as in make O=build)
endif

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
CFLAGS   ?= -O2 -g
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(WARNINGS) -I. -Iinclude -isystem $(CUDA_HOME)/include \
	-isystem $(CUDA_HOME)/extras/CUPTI/include -MMD -MP $(CFLAGS)
ifneq ($(SAN),)
ALL_CFLAGS += -DGP_SANITIZED -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all
endif

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-5s %s\n' $(1) '$(patsubst $(O)/%,%,$@)')

COLLECTOR := $(patsubst %.c,$(O)/%.o,$(wildcard collector/*.c))
STACKS    := $(patsubst %.c,$(O)/%.o,$(wildcard stacks/*.c))
HARDWARE  := $(patsubst %.c,$(O)/%.o,$(wildcard hardware/*.c))
INJECT    := $(patsubst %.c,$(O)/%.o,$(wildcard inject/*.c)) $(HARDWARE)
REPORT    := $(patsubst %.c,$(O)/%.o,$(wildcard report/*.c report/*/*.c report/*/*/*.c)) $(O)/report/html/page.o $(HARDWARE) $(O)/collector/encode.o

COMPLETIONS := $(patsubst package/%,$(O)/%,$(wildcard package/completion/gpuprof.*))

# A sanitizer has functions of its own for these.
OLD_LIBC    := $(if $(SAN),,$(O)/package/old_libc.o)
$(O)/package/old_libc.o: ALL_CFLAGS += -Wno-missing-prototypes -fno-builtin

.PHONY: all deps demo check unit lint format clean install uninstall
all: $(O)/libgpuprof.so $(O)/gpuprof $(O)/report/html/page.compared $(O)/gpuprof-run loader-path $(O)/gpuprof.1 $(O)/gpuprof-run.1 $(COMPLETIONS)

# Keep generated files between builds, but delete incomplete ones.
.SECONDARY:
.DELETE_ON_ERROR:

# The objects for tests and benchmarks: without the library's constructors, and with the usual C
# library functions.
INJECT_PARTS := $(filter-out $(addprefix $(O)/inject/,init.o attach.o libc_direct.o),$(INJECT))

# A preloaded object cannot contain the sanitizer's runtime: the unit tests test the record side
# under sanitizers.
LIBRARY_CFLAGS := -fPIC -fvisibility=hidden -ftls-model=initial-exec $(if $(SAN),,-include collector/libc_versions.h)
# A program's threads may have small stacks.
LIBRARY_CFLAGS += $(if $(SAN),,-Wframe-larger-than=16384)
$(O)/collector/%.o $(O)/stacks/%.o $(O)/hardware/%.o $(O)/inject/%.o: ALL_CFLAGS += $(LIBRARY_CFLAGS)
# Without -fno-builtin, the compiler would turn these functions into calls of themselves.
$(O)/inject/libc_direct.o: ALL_CFLAGS += -fno-builtin
# dlsym() is called by a sanitizer's own initialization.
$(O)/inject/dlsym.o: ALL_CFLAGS += -fno-sanitize=all
$(O)/libgpuprof.so $(O)/stripped/libgpuprof.so: $(COLLECTOR) $(STACKS) $(INJECT) inject/libgpuprof.map
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) -shared $(CFLAGS) -Wl,-soname,libgpuprof.so -Wl,--version-script=inject/libgpuprof.map \
		-Wl,-z,now -Wl,-z,nodelete -Wl,-z,defs -Wl,-Bsymbolic -Wl,--as-needed $(LDFLAGS) \
		-o $@ $(COLLECTOR) $(STACKS) $(INJECT) -Wl,--no-as-needed -l:libdl.so.2 -l:libpthread.so.0

# ---- the folder through which the loader's $LIB reaches the library (report/run/library.h) ----
# 64-bit programs of Debian, Fedora and Arch find the library there, 32-bit programs an empty one of their own class.
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
LIB64 := lib/$(MACHINE)-linux-gnu lib64 lib
LIB32 := $(if $(filter x86_64,$(MACHINE)),lib/i386-linux-gnu lib32)
.PHONY: loader-path
loader-path: $(LIB64:%=$(O)/gpuprof-preload/%/libgpuprof.so) $(LIB32:%=$(O)/gpuprof-preload/%/libgpuprof.so)
$(LIB64:%=$(O)/gpuprof-preload/%/libgpuprof.so):
	@mkdir -p $(@D)
	$(Q)ln -sfrT $(O)/libgpuprof.so $@
$(LIB32:%=$(O)/gpuprof-preload/%/libgpuprof.so):
	@mkdir -p $(@D)
	$(Q)$(CC) -m32 -nostdlib -shared -x c /dev/null -o $@

$(O)/gpuprof-run: gpuprof-run
	@mkdir -p $(@D)
	$(Q)install -m 755 $< $@

# ---- the read side ----
# Every command has a stack of 8 MiB (report/base/big_stack.h).
$(O)/report/%.o: ALL_CFLAGS += $(if $(SAN),,-Wframe-larger-than=65536)
# Static archives, so that a copy of the program on another machine needs only libc.
STATIC_LIBS := -lsqlite3 -liberty -ljansson -ldw -lelf -lz -llzma -lbz2
REPORT_LIBS ?= -Wl,-Bstatic $(STATIC_LIBS) -Wl,-Bdynamic -lm -ldl -lpthread
$(O)/gpuprof $(O)/stripped/gpuprof: $(REPORT) $(OLD_LIBC)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(REPORT) $(OLD_LIBC) $(REPORT_LIBS) -Wl,--no-as-needed -l:libdl.so.2 -l:libpthread.so.0

# For packages: with a build id that does not depend on the debug information, which names folders.
.PHONY: stripped
stripped: $(O)/stripped/libgpuprof.so $(O)/stripped/gpuprof
$(O)/stripped/%: private LDFLAGS += -s

# For tests: from an archive, a test links only the modules that it needs.
$(O)/libreport.a: $(filter-out $(O)/report/main.o,$(REPORT))
	$(call say,AR)
	$(Q)rm -f $@ && ar rcsT $@ $^

# The built page of `gpuprof html` is committed, so that a build needs no extra tools. After a
# change of its source, the build prints the command to run.
BUILT_PAGE  := report/html/page.built.html
PAGE_SOURCE := report/html/page.sh $(wildcard report/html/web/*)
$(O)/report/html/page.o: report/html/page.S $(BUILT_PAGE)
	@mkdir -p $(@D)
	$(call say,AS)
	$(Q)$(CC) -c -o $@ $<
$(O)/report/html/page.compared: $(BUILT_PAGE) $(PAGE_SOURCE) tests/lint/page.sh
	@mkdir -p $(@D)
	$(Q)if tests/lint/page.sh; then touch $@; fi
.PHONY: page
page:
	@mkdir -p $(O)
	$(Q)report/html/page.sh >$(O)/page.html && cp $(O)/page.html $(BUILT_PAGE)

# Parts of docs/reference/ are generated from definitions, and committed.
.PHONY: reference
reference: $(O)/gpuprof
	$(Q)tests/lint/reference.py $(O) --write

# The program that prints the options. A build for another machine uses one of a build for this one.
NATIVE ?= $(O)/gpuprof
$(O)/%.1: docs/man/%.1 docs/man/man.awk $(NATIVE)
	$(Q)awk -v gpuprof=$(NATIVE) -f docs/man/man.awk $< >$@.tmp && mv $@.tmp $@

$(O)/completion/%: package/completion/% package/completion/completion.awk $(NATIVE)
	@mkdir -p $(@D)
	$(Q)awk -v gpuprof=$(NATIVE) -f package/completion/completion.awk $< >$@.tmp && mv $@.tmp $@

# A change of the flags recompiles everything. `make install` installs the existing build.
COMPILED_WITH := $(CC) $(ALL_CFLAGS) $(LIBRARY_CFLAGS) $(LDFLAGS)
.PHONY: compiled-with
ifeq ($(filter install uninstall,$(MAKECMDGOALS)),)
$(O)/compiled-with: compiled-with
endif
$(O)/compiled-with:
	@mkdir -p $(@D)
	@printf '%s\n' '$(COMPILED_WITH)' | cmp -s - $@ || printf '%s\n' '$(COMPILED_WITH)' >$@

$(O)/%.o: %.c $(O)/compiled-with
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# ---- tests: one program per module, tests/DIR/MODULE_test.c; cmocka hands each test a state that few use ----
COLLECTOR_TESTS := $(patsubst %.c,$(O)/%,$(wildcard tests/collector/*_test.c))
STACKS_TESTS    := $(patsubst %.c,$(O)/%,$(wildcard tests/stacks/*_test.c))
HARDWARE_TESTS  := $(patsubst %.c,$(O)/%,$(wildcard tests/hardware/*_test.c))
INJECT_TESTS    := $(patsubst %.c,$(O)/%,$(wildcard tests/inject/*_test.c))
REPORT_TESTS    := $(patsubst %.c,$(O)/%,$(wildcard tests/report/*_test.c tests/report/*/*_test.c tests/report/*/*/*_test.c))
UNIT_TESTS       = $(COLLECTOR_TESTS) $(STACKS_TESTS) $(HARDWARE_TESTS) $(INJECT_TESTS) $(REPORT_TESTS)
TEST_CFLAGS      = -Wno-unused-parameter
# lld links them in half the time, and the tests of a parallel build need no threads each.
LLD             := $(shell $(CC) -fuse-ld=lld -Wl,--version -x c /dev/null >/dev/null 2>&1 && echo -fuse-ld=lld -Wl,--threads=1)
$(O)/tests/%: private LDFLAGS += $(LLD)

$(O)/tests/%_test: tests/%_test.c $(O)/compiled-with
	@mkdir -p $(@D)
	$(call say,TEST)
	$(Q)$(CC) $(ALL_CFLAGS) $(TEST_CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o,$^) $(filter %.a,$^) $(TEST_LIBS) -lcmocka -ldl -lpthread
$(COLLECTOR_TESTS): $(COLLECTOR)
$(STACKS_TESTS): $(COLLECTOR) $(STACKS)
$(HARDWARE_TESTS): $(HARDWARE)
$(INJECT_TESTS): $(COLLECTOR) $(STACKS) $(INJECT_PARTS)
$(REPORT_TESTS): $(O)/libreport.a
$(REPORT_TESTS): TEST_LIBS = $(REPORT_LIBS)
# What tests do themselves takes little time, and half of it would be spent to optimize them.
$(INJECT_TESTS) $(REPORT_TESTS): TEST_CFLAGS += -O0

-include tests/sim/sim.mk
-include tests/tests.mk
-include bench/bench.mk

# ---- programs for a machine with a GPU: tests/gpu/run, bench/*; they may be built elsewhere ----
STATIC_PROGRAMS := $(patsubst tests/programs/%.cu,$(O)/programs-static/%,$(wildcard tests/programs/*.cu)) \
	$(patsubst tests/gpu/programs/%.cu,$(O)/programs-static/%,$(wildcard tests/gpu/programs/*.cu))
# Programs for rules of advice that need a real GPU.
GPU_RULES := $(patsubst tests/gpu/sins/%.cu,$(O)/rules/%,$(wildcard tests/gpu/sins/*.cu))
NVCC_STATIC = $(NVCC) -std=c++17 -O1 -g -I. -cudart static -Wno-deprecated-gpu-targets
.PHONY: gpu-programs
gpu-programs: all programs $(STATIC_PROGRAMS) $(O)/bench/overhead $(O)/bench/liboverhead.so $(O)/bench/floor.so \
	$(O)/tests/gpu/occupancy $(O)/tests/gpu/gate $(O)/tests/gpu/waits $(O)/tests/gpu/counted $(O)/tests/gpu/causes/poisson $(GPU_RULES) $(SIM_RECORDER) $(TORTURE)
$(O)/programs-static/%: tests/programs/%.cu $(wildcard tests/programs/*.h)
	@mkdir -p $(@D)
	$(call say,NVCC)
	$(Q)$(NVCC_STATIC) -o $@ $< $(PROGRAM_LIBS)
$(O)/programs-static/%: tests/gpu/programs/%.cu tests/programs/check.h
	@mkdir -p $(@D)
	$(call say,NVCC)
	$(Q)$(NVCC_STATIC) -o $@ $<
$(O)/tests/gpu/causes/poisson: $(wildcard tests/gpu/causes/poisson/*)
	@mkdir -p $(@D)
	$(call say,NVCC)
	$(Q)$(NVCC_STATIC) -o $@ $(filter %.cu %.cpp,$^)
$(O)/rules/old-tensor-path: GPU_FLAGS := -arch=sm_90a
$(GPU_RULES): $(O)/rules/%: tests/gpu/sins/%.cu tests/rules/rule.h tests/programs/check.h
	@mkdir -p $(@D)
	$(call say,NVCC)
	$(Q)$(NVCC_STATIC) $(GPU_FLAGS) -o $@ $<
$(O)/programs-static/driver: PROGRAM_LIBS := -L$(O)/sim -lcuda
$(O)/programs-static/driver: | $(O)/sim/libcuda.so
$(O)/tests/gpu/waits: GPU_FLAGS := -lineinfo
$(O)/tests/gpu/%: tests/gpu/%.cu tests/programs/check.h
	@mkdir -p $(@D)
	$(call say,NVCC)
	$(Q)$(NVCC) -std=c++17 -O1 -I. $(GPU_FLAGS) -Wno-deprecated-gpu-targets -gencode arch=compute_75,code=sm_75 \
		-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90] -o $@ $<
$(O)/bench/%: bench/%.cu
	@mkdir -p $(@D)
	$(call say,NVCC)
	$(Q)$(NVCC) -std=c++17 -O2 -o $@ $<

$(O)/bench/lib%.so: bench/%.cu
	@mkdir -p $(@D)
	$(call say,NVCC)
	$(Q)$(NVCC) -std=c++17 -O2 -shared -Xcompiler -fPIC -o $@ $<

$(O)/bench/floor.so: bench/floor.c $(O)/inject/api_table.o
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) -shared -fPIC $(ALL_CFLAGS) -o $@ $^ -ldl -lpthread

# ---- commands for users ----
deps:
	$(Q)tests/deps

# `make demo` and `make check` build in parallel unless -j is given.
PARALLEL := $(if $(findstring j,$(filter-out --%,$(MAKEFLAGS))),,-j$(shell nproc))
demo: deps
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) all sim $(O)/examples/heat
	$(Q)tests/demo $(O)

# CHECKS is what `make check` runs, one word or quoted text each; the .mk files add theirs. The long
# tests come first, so that the short ones keep all processors busy until the end.
CHECKS := $(wildcard tests/e2e/*_test.py) $(CHECKS) $(UNIT_TESTS) tests/frozen/compare_test.py \
	tests/lint/layers.py 'tests/lint/layers.py --self-test' \
	'tests/lint/exports.sh $(O)' 'tests/lint/exports.sh --self-test' \
	'tests/lint/symbols.sh $(O)' 'tests/lint/symbols.sh --self-test' \
	tests/lint/page.sh 'tests/lint/page.sh --self-test' tests/lint/visitor.sh \
	'tests/lint/reference.py $(O)' 'tests/lint/reference.py $(O) --self-test' \
	tests/lint/sentences.py 'tests/lint/sentences.py --self-test' \
	tests/lint/words.py 'tests/lint/words.py --strings' 'tests/lint/words.py --self-test'

# SLOW are those that take over half a minute and guard code that seldom changes: `make check-slow` runs them.
.PHONY: check-slow check-all check-built run-check run-check-slow
check check-slow: deps
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) run-$@
check-all:
	$(Q)$(MAKE) --no-print-directory check
	$(Q)$(MAKE) --no-print-directory check-slow
check-built: all $(UNIT_TESTS) programs
run-check: check-built
	$(Q)O=$(abspath $(O)) CC=$(CC) tests/run --limit 600 $(filter-out $(SLOW),$(CHECKS))
run-check-slow: check-built
	$(Q)O=$(abspath $(O)) CC=$(CC) tests/run --limit 900 $(SLOW)

LIMIT_S ?= 300
unit: $(UNIT_TESTS)
	$(Q)O=$(abspath $(O)) tests/run --limit $(LIMIT_S) $(UNIT_TESTS)

unit-programs: $(UNIT_TESTS)

# One build by clang, in its own folder, for the unit tests with sanitizers and for the fuzzers.
SANITIZED = $(MAKE) --no-print-directory O=$(O)-sanitized CC=clang SAN=address,undefined,fuzzer-no-link CFLAGS='-O1 -gline-tables-only' LIMIT_S=900
# Shadow memory is cleared in place: a new mapping for each large block takes longer.
sanitized-unit:
	$(Q)ASAN_OPTIONS=clear_shadow_mmap_threshold=1073741824 $(SANITIZED) unit

# ThreadSanitizer runs the unit tests of code that runs on several threads, but for long searches.
THREADED = $(filter-out $(SLOW),$(COLLECTOR_TESTS) $(STACKS_TESTS) $(INJECT_TESTS)) \
	$(filter $(addprefix $(O)/tests/report/,base/% codec/gzip% codec/json_write% load/% stream/% summary/%),$(REPORT_TESTS))
threaded-unit: $(THREADED)
	$(Q)O=$(abspath $(O)) tests/run --limit 900 $(THREADED)

# ---- checks without a build ----
.PHONY: unit-programs sanitized-unit threaded-unit format-check script-check tidy
SOURCES = $(shell find bench collector hardware include inject package python report stacks tests -name '*.[ch]')
SCRIPTS = gpuprof-run package/archive.sh package/packages.sh report/html/page.sh .ci/run tests/deps tests/demo tests/pythons tests/duckdb tests/arm64 $(wildcard tests/lint/*.sh)
lint: all format-check script-check tidy
	$(Q)tests/lint/layers.py
	$(Q)tests/lint/exports.sh $(O)
	$(Q)tests/lint/symbols.sh $(O)
	$(Q)tests/lint/page.sh
	$(Q)tests/lint/visitor.sh
	$(Q)tests/lint/reference.py $(O)
	$(Q)tests/lint/words.py

format-check:
	$(Q)clang-format --version >/dev/null
	$(Q)! clang-format --dry-run $(SOURCES) 2>&1 | sed -n 's/:.* code should be clang-formatted.*/: type make format/p' | \
		sort -u | grep .
script-check:
	$(Q)shellcheck $(SCRIPTS)
# Checks the delivered sources; .clang-tidy lists the checks. TIDY_STATES limits the states that the
# analyzer explores per function (default: clang's limit). They take nine tenths of the time.
tidy:
	$(Q)find collector hardware inject report stacks -name '*.c' | xargs -P $(shell nproc) -n 4 sh -c \
		'clang-tidy --quiet "$$@" -- $(filter-out -MMD -MP,$(ALL_CFLAGS)) \
		$(TIDY_STATES:%=-Xclang -analyzer-config -Xclang max-nodes=%) 2>/dev/null' tidy

format:
	$(Q)clang-format -i $(SOURCES)

# A wheel for other machines, in the build folder; `pip install .` builds one for this one.
.PHONY: wheel
wheel: all stripped
	$(Q)cd $(O) && GPUPROF_BUILD=$(abspath $(O)) PYTHONPATH=$(CURDIR)/python/build_backend python3 -c \
		'import gpuprof_build as build; print(build.build_wheel(".", {"platform": "manylinux"}))'

# What is delivered has no date but that of the sources.
packages site release: export SOURCE_DATE_EPOCH ?= $(or $(shell git log -1 --format=%ct 2>/dev/null),0)

# The tarball, the Debian package and the wheel, in packages/ of the build folder.
.PHONY: packages
packages: all stripped
	+$(Q)CC='$(CC)' package/packages.sh $(O) $(VERSION) $(STATIC_LIBS:-l%=%)
	$(Q)$(MAKE) --no-print-directory wheel && mv $(O)/gpuprof-$(VERSION)-*.whl $(O)/packages

# The documents as a site that any server, or a browser alone, shows. Links lead as they do in this folder.
.PHONY: site
SITE_FILES := README.md CHANGELOG.md CONTRIBUTING.md $(shell find docs -name '*.md' -o -name '*.png' -o -name '*.svg')
site:
	$(Q)command -v mkdocs >/dev/null || { echo 'make site needs mkdocs and its Material theme: apt-get install mkdocs-material' >&2; exit 1; }
	$(Q)rm -rf $(O)/site $(O)/site-source
	$(Q)mkdir -p $(O)/site-source
	$(Q)cp --parents $(SITE_FILES) $(O)/site-source
	$(Q)cp package/site/site.css $(O)/site-source
	$(Q)SITE_SOURCE=$(abspath $(O)/site-source) SITE=$(abspath $(O)/site) mkdocs build --strict --quiet -f package/site/mkdocs.yml
	$(Q)rm -r $(O)/site-source

.PHONY: screenshots
screenshots: $(O)/gpuprof
	$(Q)package/site/screenshots.py $(O)

# RELEASE_OPTIONS=--trial goes on after what prevents a release.
.PHONY: release
release:
	+$(Q)package/release.py $(O) $(VERSION) $(RELEASE_OPTIONS)

PREFIX  ?= /usr/local
DESTDIR ?=
BINARIES ?= $(O)
ZSH_FUNCTIONS ?= $(PREFIX)/share/zsh/site-functions
ROOT     = $(DESTDIR)$(PREFIX)
VERSION := $(shell sed -n 's/.*GP_VERSION "\(.*\)"/\1/p' include/gpuprof/version.h)
FOLDERS_INSTALLED := bin lib/pkgconfig lib/cmake/gpuprof include/gpuprof share/man/man1 \
	share/bash-completion/completions share/fish/vendor_completions.d share/gpuprof/recipes
install: all
	$(Q)install -d $(addprefix $(ROOT)/,$(FOLDERS_INSTALLED)) $(DESTDIR)$(ZSH_FUNCTIONS)
	$(Q)install -m 755 $(BINARIES)/gpuprof $(O)/gpuprof-run $(ROOT)/bin
	$(Q)install -m 644 $(BINARIES)/libgpuprof.so $(ROOT)/lib
	$(Q)install -m 644 include/gpuprof/gpuprof.h $(ROOT)/include/gpuprof/gpuprof.h
	$(Q)install -m 644 -t $(ROOT)/share/man/man1 $(O)/gpuprof.1 $(O)/gpuprof-run.1
	$(Q)install -m 644 -t $(ROOT)/share/gpuprof/recipes recipes/recipe.py recipes/*.sql
	$(Q)cp -RP --remove-destination $(O)/gpuprof-preload $(ROOT)/lib
	$(Q)chmod -R u=rwX,go=rX $(ROOT)/lib/gpuprof-preload
	$(Q)install -m 644 $(O)/completion/gpuprof.bash $(ROOT)/share/bash-completion/completions/gpuprof
	$(Q)install -m 644 $(O)/completion/gpuprof.zsh $(DESTDIR)$(ZSH_FUNCTIONS)/_gpuprof
	$(Q)install -m 644 $(O)/completion/gpuprof.fish $(ROOT)/share/fish/vendor_completions.d/gpuprof.fish
	$(Q)ln -sf gpuprof $(ROOT)/share/bash-completion/completions/gpuprof-run
	$(Q)ln -sf gpuprof.fish $(ROOT)/share/fish/vendor_completions.d/gpuprof-run.fish
	$(Q)umask 022; for file in pkgconfig/gpuprof.pc cmake/gpuprof/gpuprof-config.cmake cmake/gpuprof/gpuprof-config-version.cmake; do \
		sed 's/@VERSION@/$(VERSION)/' package/$${file##*/} >$(ROOT)/lib/$$file || exit; done
uninstall:
	$(Q)rm -f $(addprefix $(ROOT)/,bin/gpuprof bin/gpuprof-run lib/libgpuprof.so lib/pkgconfig/gpuprof.pc \
		share/man/man1/gpuprof.1 share/man/man1/gpuprof-run.1 \
		$(foreach name,gpuprof gpuprof-run,share/bash-completion/completions/$(name) share/fish/vendor_completions.d/$(name).fish)) $(DESTDIR)$(ZSH_FUNCTIONS)/_gpuprof
	$(Q)rm -rf $(addprefix $(ROOT)/,lib/gpuprof-preload lib/cmake/gpuprof include/gpuprof share/gpuprof)

clean:
	rm -rf $(O)

-include $(shell find $(O) -name pythons -prune -o -type f -name '*.d' -print 2>/dev/null)
