# gpuprof.  `make demo` builds and shows everything, `make check` tests everything; see README.md.
#
# Variables: O build folder, CC compiler, CUDA_HOME the CUDA Toolkit, SAN sanitizers (address,undefined or thread),
# V=1 shows commands.

O         ?= build
CC        ?= gcc
CUDA_HOME ?= /usr/local/cuda
NVCC      ?= $(CUDA_HOME)/bin/nvcc
SAN       ?=
V         ?= 0

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
CFLAGS   ?= -O2 -g
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(WARNINGS) -I. -Iinclude -isystem $(CUDA_HOME)/include -MMD -MP $(CFLAGS)
ifneq ($(SAN),)
ALL_CFLAGS += -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all
endif

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-5s %s\n' $(1) '$(patsubst $(O)/%,%,$@)')

COLLECTOR := $(patsubst %.c,$(O)/%.o,$(wildcard collector/*.c))
INJECT    := $(patsubst %.c,$(O)/%.o,$(wildcard inject/*.c))
REPORT    := $(patsubst %.c,$(O)/%.o,$(wildcard report/*.c report/*/*.c))

.PHONY: all demo check lint clean install
all: $(O)/libgpuprof.so $(O)/gpuprof

# ---- the preloaded library: nothing but libc, exports checked by tests/lint/exports ----
# The sanitizer's runtime cannot be inside a preloaded object: the record side is tested under sanitizers by its unit tests.
$(O)/collector/%.o $(O)/inject/%.o: ALL_CFLAGS += -fPIC -fvisibility=hidden -ftls-model=initial-exec
$(O)/libgpuprof.so: $(COLLECTOR) $(INJECT) inject/libgpuprof.map
	$(call say,LD)
	$(Q)$(CC) -shared $(CFLAGS) -Wl,-soname,libgpuprof.so -Wl,--version-script=inject/libgpuprof.map \
		-Wl,-z,now -Wl,-z,nodelete -Wl,-z,defs -Wl,-Bsymbolic -Wl,--as-needed $(LDFLAGS) \
		-o $@ $(COLLECTOR) $(INJECT) -ldl -lpthread

# ---- the read side ----
# Static archives, so that the program needs nothing but libc on the machine it is copied to.
REPORT_LIBS ?= -Wl,-Bstatic -liberty -ljansson -Wl,-Bdynamic -lm
$(O)/gpuprof: $(REPORT)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(REPORT) $(REPORT_LIBS)

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# ---- tests: one program per module, tests/DIR/MODULE_test.c ----
COLLECTOR_TESTS := $(patsubst %.c,$(O)/%,$(wildcard tests/collector/*_test.c))
INJECT_TESTS    := $(patsubst %.c,$(O)/%,$(wildcard tests/inject/*_test.c))
REPORT_TESTS    := $(patsubst %.c,$(O)/%,$(wildcard tests/report/*_test.c tests/report/*/*_test.c))
UNIT_TESTS       = $(COLLECTOR_TESTS) $(INJECT_TESTS) $(REPORT_TESTS)

$(O)/tests/%_test: tests/%_test.c
	@mkdir -p $(@D)
	$(call say,TEST)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o,$^) $(TEST_LIBS) -lcmocka -ldl -lpthread
$(COLLECTOR_TESTS): $(COLLECTOR)
$(INJECT_TESTS): $(COLLECTOR) $(filter-out $(O)/inject/init.o,$(INJECT))
$(REPORT_TESTS): $(filter-out $(O)/report/main.o,$(REPORT))
$(REPORT_TESTS): TEST_LIBS = $(REPORT_LIBS)

-include tests/sim/sim.mk
-include tests/tests.mk

clean:
	rm -rf $(O)

-include $(shell find $(O) -name '*.d' 2>/dev/null)
