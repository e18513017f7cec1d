# Helpers that several tests share. The root Makefile finds the tests themselves.

# All tests of the read side link the trace builder.
$(filter-out $(O)/tests/report/run/%,$(REPORT_TESTS)): $(O)/tests/report/trace_builder.o

# The test looks up one of its own functions.
$(O)/tests/inject/dlsym_test: LDFLAGS += -rdynamic

# The test has these functions of inject/kernel_counters itself.
$(O)/tests/inject/counter_windows_test: LDFLAGS += $(foreach name,open choose begin end forget,-Wl,--wrap=gp_kernel_counters_$(name))

# ---- record counts of a trace, for end-to-end tests ----
programs: $(O)/tests/lib/record_counts
$(O)/tests/lib/record_counts: tests/lib/record_counts.c $(O)/libreport.a
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o,$^) $(filter %.a,$^) $(REPORT_LIBS) -lpthread

# ---- fault injection for the preloaded library ----
programs: $(O)/tests/lib/libfaults.so $(O)/tests/lib/libcupti_faults.so
$(O)/tests/lib/lib%.so: tests/lib/%.c
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -fPIC -shared -o $@ $< -ldl $(FAULTS_LINK)
$(O)/tests/lib/libcupti_faults.so: FAULTS_LINK := -Wl,--no-as-needed -L$(O)/sim -lcupti
$(O)/tests/lib/libcupti_faults.so: | $(O)/sim/libcupti.so

# ---- programs with known call stacks ----
PLACES      := $(addprefix $(O)/programs/,places places++ libplaces.so)
PLACES_LINK := -O1 -g -L$(O)/sim -lcuda
programs: $(PLACES)
$(PLACES): tests/programs/places.h | $(O)/sim/libcuda.so
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(if $(filter %.cc,$^),$(CXX),$(CC)) $(if $(filter %.so,$@),-shared -fPIC) -o $@ $(filter %.c %.cc,$^) $(PLACES_LINK)
$(O)/programs/places $(O)/programs/libplaces.so: tests/programs/places.c
$(O)/programs/places++: tests/programs/places.cc

# ---- fuzzing: `make fuzz` ends when time is up; findings become tests.  `make check` has a short run without clang, the same each time ----
FUZZ_SECONDS ?= 30
# The reader must not allocate sizes that an input of 20,000 bytes only claims.
FUZZ_MOST_MIB := 64
FUZZERS      := $(patsubst tests/fuzz/%_fuzz.c,%,$(wildcard tests/fuzz/*_fuzz.c))

# In the folder of the sanitized build (the root Makefile), with its compiler and flags.
fuzzers: $(FUZZERS:%=$(O)/tests/fuzz/%_fuzz)
$(O)/tests/fuzz/%_fuzz: tests/fuzz/%_fuzz.c $(O)/libreport.a
	@mkdir -p $(@D)
	$(call say,FUZZ)
	$(Q)$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -fsanitize=fuzzer -o $@ $(filter %.c,$^) $(filter %.a,$^) $(REPORT_LIBS)

# Of the library that lives in the profiled program.
$(O)/tests/fuzz/cubin_fuzz $(O)/tests/fuzz/cubin_short: inject/cubin_lines.c

# Initial inputs where none are committed: small enough that a mutation can change all of them.
$(O)/tests/fuzz/seed-code/plugin: tests/stacks/plugin.c
	@mkdir -p $(@D)
	$(Q)$(CC) -Os -g -fPIC -shared -nostdlib -Wl,-z,noseparate-code -DFRAME_BYTES=200 -o $@ $<
$(O)/tests/fuzz/seed-pickle/snapshot: tests/fuzz/snapshot.py
	@mkdir -p $(@D)
	$(Q)python3 $< $@
$(O)/tests/fuzz/seed-import/database: tests/fuzz/database.py
	@mkdir -p $(@D)
	$(Q)python3 $< $@
$(O)/tests/fuzz/seed-cubin/waits: tests/fuzz/cubin.py $(O)/programs/waits.cubin
	@mkdir -p $(@D)
	$(Q)python3 $^ $@
# Traces of programs on the simulated device; the last program is killed.
FUZZ_TRACES := zoo cover graph streams ranges
$(O)/tests/fuzz/seed-trace/0: tests/fuzz/trace.py | all programs
	@mkdir -p $(@D) $(O)/tests/fuzz/traces
	$(Q)export LD_LIBRARY_PATH=$(abspath $(O))/sim; run() { $(O)/gpuprof-run -q --chrome none -o $(O)/tests/fuzz/traces/%p "$$@" >/dev/null; }; \
		for program in $(FUZZ_TRACES); do run $(O)/programs/$$program || exit 1; done; run --stalls $(O)/programs/demo || exit 1; \
		run --counters --counters-interval 0 $(O)/programs/streams 1 2 10 || exit 1; \
		{ run python3 tests/e2e/gpu.py launch=20 start=5 raise=9; } 2>/dev/null || [ $$? = 137 ]
	$(Q)$< $(@D) $(O)/tests/fuzz/traces/*.gpuprof
fuzz-code: $(O)/tests/fuzz/seed-code/plugin
fuzz-cubin: $(O)/tests/fuzz/seed-cubin/waits
fuzz-import: $(O)/tests/fuzz/seed-import/database
fuzz-pickle: $(O)/tests/fuzz/seed-pickle/snapshot
fuzz-trace: $(O)/tests/fuzz/seed-trace/0

# Fuzzers without libFuzzer, linked from the existing objects.
SHORT_TIMES := 1000
SHORT       := $(addprefix $(O)/tests/fuzz/,$(addsuffix _short,$(FUZZERS)))
SHORT_SEEDS := code/plugin cubin/waits import/database pickle/snapshot trace/0
check-built: $(SHORT) $(addprefix $(O)/tests/fuzz/seed-,$(SHORT_SEEDS))
CHECKS += $(foreach name,$(FUZZERS),'$(O)/tests/fuzz/$(name)_short $(SHORT_TIMES) $(O)/tests/fuzz/seed-$(name) tests/fuzz/$(name)')
$(SHORT): $(O)/tests/fuzz/%_short: tests/fuzz/%_fuzz.c tests/fuzz/short.c tests/lib/dice.h $(O)/libreport.a
	@mkdir -p $(@D)
	$(call say,TEST)
	$(Q)$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) $(LDFLAGS) -o $@ $(filter %.c %.o,$^) $(filter %.a,$^) $(REPORT_LIBS)

.PHONY: fuzz fuzzers build-fuzzers $(addprefix fuzz-,$(FUZZERS))
fuzz: $(addprefix fuzz-,$(FUZZERS))
build-fuzzers:
	$(Q)$(SANITIZED) fuzzers
$(addprefix fuzz-,$(FUZZERS)): fuzz-%: build-fuzzers
	$(Q)mkdir -p $(O)/tests/fuzz/corpus-$* $(O)/tests/fuzz/seed-$*
	$(Q)$(O)-sanitized/tests/fuzz/$*_fuzz -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=20000 -malloc_limit_mb=$(FUZZ_MOST_MIB) -print_final_stats=1 \
		-artifact_prefix=$(O)/tests/fuzz/ $(O)/tests/fuzz/corpus-$* $(O)/tests/fuzz/seed-$* $(wildcard tests/fuzz/$*)

# ---- programs that are difficult for an unwinder, generated by tests/stacks/adversary.py ----
# name, compiler, options; the last of each uses clang if it is installed
ADVERSARY   := $(O)/tests/stacks/adversary
CROSS_CC    := $(if $(filter %-gcc,$(firstword $(CC))),$(CC))
GCC         := $(or $(CROSS_CC),gcc)
GXX         := $(patsubst %gcc,%g++,$(firstword $(GCC))) $(wordlist 2,9,$(GCC))
OTHER_CC    := $(if $(CROSS_CC),$(GCC) -Os,$(if $(shell command -v clang),clang -O2,gcc -Os))
OTHER_CXX   := $(if $(CROSS_CC),$(GXX) -Os,$(if $(shell command -v clang++),clang++ -O2,g++ -Os))
ADVERSARIES := $(patsubst %,$(ADVERSARY)/%.o,c_o0 c_o1 c_o2 c_o3 c_fp c_other cpp_o0 cpp_o2 cpp_other)

$(ADVERSARY)/c_%.c: tests/stacks/adversary.py
	@mkdir -p $(@D)
	$(Q)$< c c_$* 30 $$(printf %s $* | cksum | cut -d' ' -f1) > $@
$(ADVERSARY)/cpp_%.cpp: tests/stacks/adversary.py
	@mkdir -p $(@D)
	$(Q)$< cpp cpp_$* 30 $$(printf %s $* | cksum | cut -d' ' -f1) > $@
$(ADVERSARY)/c_o0.o:      COMPILE := $(GCC) -O0
$(ADVERSARY)/c_o1.o:      COMPILE := $(GCC) -O1
$(ADVERSARY)/c_o2.o:      COMPILE := $(GCC) -O2
$(ADVERSARY)/c_o3.o:      COMPILE := $(GCC) -O3
$(ADVERSARY)/c_fp.o:      COMPILE := $(GCC) -O2 -fno-omit-frame-pointer
$(ADVERSARY)/c_other.o:   COMPILE := $(OTHER_CC)
$(ADVERSARY)/cpp_o0.o:    COMPILE := $(GXX) -O0
$(ADVERSARY)/cpp_o2.o:    COMPILE := $(GXX) -O2
$(ADVERSARY)/cpp_other.o: COMPILE := $(OTHER_CXX)
# No warnings: the generator decides which functions exist and which are unused.
$(ADVERSARY)/c_%.o: $(ADVERSARY)/c_%.c tests/stacks/adversary.h
	$(call say,CC)
	$(Q)$(COMPILE) -fexceptions -I. -w -c -o $@ $<
$(ADVERSARY)/cpp_%.o: $(ADVERSARY)/cpp_%.cpp tests/stacks/adversary.h
	$(call say,CXX)
	$(Q)$(COMPILE) -I. -w -c -o $@ $<

$(O)/tests/stacks/walk_test: $(ADVERSARIES)
$(O)/tests/stacks/walk_test: TEST_LIBS = -lunwind -lstdc++

# Prints the call stacks of a trace.
programs: $(O)/tests/stacks/dump
$(O)/tests/stacks/dump: tests/stacks/dump.c $(O)/libreport.a
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(filter %.o,$^) $(filter %.a,$^) $(REPORT_LIBS)

# The recorder of stacks as a library.
$(O)/tests/stacks/probe.o: ALL_CFLAGS += -fPIC -fvisibility=hidden
$(O)/tests/stacks/libprobe.so: $(O)/tests/stacks/probe.o $(COLLECTOR) $(STACKS)
	$(call say,LD)
	$(Q)$(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,-Bsymbolic -o $@ $^ -lpthread

CHECKS += tests/stacks/python_test.py tests/stacks/sampler_test.py
check-built: $(O)/tests/stacks/libprobe.so $(O)/tests/stacks/dump $(O)/tests/stacks/python_again
# Loads the interpreter library given on its command line.
$(O)/tests/stacks/python_again: tests/stacks/python_again.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $< -ldl

# A library with two frame sizes, for loading and unloading.
$(O)/tests/stacks/plugin_small.so: FRAME_BYTES := 200
$(O)/tests/stacks/plugin_large.so: FRAME_BYTES := 2000
$(O)/tests/stacks/plugin_%.so: tests/stacks/plugin.c tests/tests.mk
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) -fPIC -shared -DFRAME_BYTES=$(FRAME_BYTES) -Wl,--build-id=0x0123456789abcdef -o $@ $<
$(O)/tests/stacks/plugin_python.so: FRAME_BYTES := 200 -DAS_PYTHON=0x031000f0
$(O)/tests/stacks/plugin_python39.so: FRAME_BYTES := 200 -DAS_PYTHON=0x030900f0
$(O)/tests/stacks/stack_test: | $(O)/tests/stacks/plugin_python.so $(O)/tests/stacks/plugin_python39.so
$(O)/tests/stacks/modules_test: | $(O)/tests/stacks/plugin_small.so $(O)/tests/stacks/plugin_large.so
$(O)/tests/stacks/modules_test: TEST_LIBS = -lunwind
$(O)/tests/report/model/build/unwind_copy_test: | $(O)/tests/stacks/libprobe.so
$(O)/tests/report/model/build/unwind_copy_test: TEST_LIBS = $(REPORT_LIBS) -lunwind

# The walk as a library that can be preloaded into any program, for comparison with a debugger.
$(O)/tests/stacks/everywhere.o: ALL_CFLAGS += -fPIC -fvisibility=hidden -ftls-model=initial-exec
$(O)/tests/stacks/libeverywhere.so: $(O)/tests/stacks/everywhere.o $(COLLECTOR) $(STACKS)
	$(call say,LD)
	$(Q)$(CC) -shared $(CFLAGS) $(LDFLAGS) -Wl,-Bsymbolic -o $@ $^ -lpthread

CHECKS += tests/stacks/gdb_test.py
check-built: $(O)/tests/stacks/libeverywhere.so

# ---- a profiled program, killed at random instants ----
KILLS   ?= 3334
TORTURE := $(addprefix $(O)/tests/torture/,torture workload soak steady)
check-built: $(TORTURE)
# The first one also runs on machines with a GPU, which lack cmocka.
$(O)/tests/torture/torture $(O)/tests/torture/soak: $(O)/tests/torture/%: tests/torture/%.c
	@mkdir -p $(@D)
	$(call say,TEST)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(if $(filter soak,$*),-lcmocka)
$(O)/tests/torture/workload $(O)/tests/torture/steady: $(O)/tests/torture/%: tests/torture/%.c tests/lib/cuda_start.h | $(O)/sim/libcuda.so
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< -L$(O)/sim -lcuda -lpthread -lrt
$(O)/tests/collector/kill_test $(O)/tests/collector/circular_file_test: TEST_LIBS = -lrt

# ---- models of the protocols between threads ----
CHECKS += tests/model/spin_test.py $(O)/tests/model/orders_test
check-built: $(O)/tests/model/orders_test
# Compiles the collector's sources as C++. System-dependent parts are not linked.
$(O)/tests/model/orders_test: tests/model/orders_test.cc $(wildcard collector/*.[ch] include/gpuprof/*.h)
	@mkdir -p $(@D)
	$(call say,TEST)
	$(Q)g++ -std=c++20 -O1 -w -fpermissive -ffunction-sections -D_GNU_SOURCE -I. -Iinclude -Wl,--gc-sections -o $@ $<

# ---- coverage of the readers by their tests ----
.PHONY: coverage report-tests
report-tests: $(REPORT_TESTS)
	$(Q)O=$(abspath $(O)) tests/run $(REPORT_TESTS)
coverage:
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) O=$(O)-coverage CC=gcc CFLAGS='-O1 -g --coverage -Wno-format-truncation' report-tests
	$(Q)tests/lint/coverage.py $(O)-coverage

# ---- mutation tests: small changes of the sources that no unit test notices ----
MUTANTS ?= 110
SEED    ?= 1
FOLDERS ?= report collector stacks inject
.PHONY: mutate
mutate: unit-programs
	$(Q)tests/mutate/mutate.py --build $(O) --mutants $(MUTANTS) --seed $(SEED) $(FOLDERS)

# ---- arm64: a build by a cross compiler, run under an emulator in a folder of its own ----
ARM64        := $(O)-arm64
ARM64_ROOT   := --sysroot=$(abspath $(ARM64))/sysroot
ARM64_CC     := aarch64-linux-gnu-gcc $(ARM64_ROOT)
# of the CUDA Toolkit for x86-64, which has the same headers
ARM64_NVCC   := $(NVCC) -ccbin aarch64-linux-gnu-g++ -I$(CUDA_HOME)/include -isystem $(CUDA_HOME)/include/cccl -cudadevrt none \
	-Xcompiler $(ARM64_ROOT) -L$(abspath $(ARM64))/sim
ARM64_MAKE    = $(MAKE) --no-print-directory O=$(ARM64) NATIVE=$(abspath $(O))/gpuprof \
	CC='$(ARM64_CC)' CXX='aarch64-linux-gnu-g++ $(ARM64_ROOT)' NVCC='$(ARM64_NVCC)'
# qemu 7.2 lacks process_vm_readv() (in_flight, snapshot) and execveat() (exec), shows processes a start time that differs from the
# one in /proc/self/stat (recover), and its namespace has one user (shared_folder).  The rest search for minutes, and find the same
# on every machine.  Other tests skip single cases (tests/lib/emulated.h).
EMULATOR_LACKS := $(patsubst %,tests/%_test,inject/exec inject/in_flight stacks/snapshot report/trace/recover report/base/shared_folder \
	collector/circular_file collector/fault collector/kill collector/record_accounting report/codec/sqlite_reader \
	report/diff/check_simulation)
# Beyond a signal handler's caller that has not saved its return address; code of x86-64.
ARM64_LACKS  := $(patsubst %,tests/%_test,stacks/reads report/symbols/elf_code)
# `.ci/run` runs the tests of the folders where machines differ.
ARM64_FOLDERS ?= collector stacks inject hardware report e2e
ARM64_TESTS  := $(patsubst $(O)/%,$(ARM64)/%,$(filter-out $(addprefix $(O)/,$(EMULATOR_LACKS) $(ARM64_LACKS)), \
	$(filter $(ARM64_FOLDERS:%=$(O)/tests/%/%),$(UNIT_TESTS))))
# End-to-end tests by Python of arm64, whose compiler is the cross compiler.
ARM64_E2E    := tables nvtx_outputs memory trace sampled_stacks nvtx
ARM64_PYTHON := env PYTHONPATH=tests/lib PATH=$(abspath $(ARM64))/sysroot/compilers:$(PATH) $(abspath $(ARM64))/sysroot/usr/bin/python3
ARM64_WALK   := $(ARM64)/tests/stacks/walk_test
ARM64_CHECKS := 'tests/lint/exports.sh $(ARM64)' 'tests/lint/symbols.sh $(ARM64)' 'env GPUPROF_TEST_CAPTURES=50000 $(ARM64_WALK)' \
	$(abspath $(filter-out $(ARM64_WALK),$(ARM64_TESTS))) \
	'env PYTHONPATH=tests/e2e python3 -m unittest -q arm64_test \
	flame_test.FlameTest.test_gpu_operations_by_launching_stack flame_test.FlameTest.test_memory_by_allocating_stack' \
	$(if $(filter e2e,$(ARM64_FOLDERS)),$(ARM64_E2E:%='$(ARM64_PYTHON) tests/e2e/%_test.py'))
.PHONY: arm64-check arm64-packages
arm64-packages: $(O)/gpuprof
	+$(Q)tests/arm64 libraries $(ARM64)/sysroot && $(ARM64_MAKE) packages || [ $$? = 77 ]
arm64-check: arm64-packages
	+$(Q)tests/arm64 libraries $(ARM64)/sysroot && \
		$(ARM64_MAKE) $(ARM64)/programs/places loader-path sim $(ARM64_TESTS) && \
		$(if $(filter e2e,$(ARM64_FOLDERS)),$(ARM64_MAKE) programs &&) \
		O=$(abspath $(ARM64)) tests/arm64 run $(ARM64)/sysroot \
		tests/run --limit 600 $(ARM64_CHECKS) || [ $$? = 77 ]

# Long tests, which are not part of `make check`: 10,000 kills in total, for three places of the
# rings; an hour at full speed; ten minutes of each fuzzer; every fault with every error, in
# parallel; and the readers' coverage. The longest come first.
SOAK_SECONDS ?= 3600
SOAK_FUZZING ?= 600
SOAKED       := $(addprefix $(O)/tests/collector/,kill_test circular_file_test fault_test record_accounting_test)
SOAKS        := '$(O)/tests/torture/soak $(SOAK_SECONDS)' \
	$(foreach program,launch ranges copies,'env TESTS_ALL_FAULTS=1 TESTS_FAULTS_IN=$(program) PYTHONPATH=tests/lib python3 tests/e2e/faults_test.py') \
	'env TESTS_ALL_FAULTS=1 PYTHONPATH=tests/lib python3 tests/e2e/cupti_faults_test.py' \
	'env TESTS_REBUILD=1 PYTHONPATH=tests/lib python3 tests/e2e/packages_test.py' \
	$(FUZZERS:%='make -s O=$(O) fuzz-% FUZZ_SECONDS=$(SOAK_FUZZING)') '$(O)/tests/torture/torture $(KILLS)' \
	$(patsubst %,'env GPUPROF_TEST_KILLS=$(KILLS) TESTS_ALL_FAULTS=1 %',$(SOAKED)) \
	'make -s O=$(O) arm64-check' \
	'env GPUPROF_TEST_CAPTURES=20000000 GPUPROF_TEST_SEED=2 $(O)/tests/stacks/walk_test'
.PHONY: soak soak-built
soak-built: all programs build-fuzzers $(O)/tests/stacks/walk_test $(TORTURE) $(SOAKED) $(addprefix $(O)/tests/fuzz/seed-,$(SHORT_SEEDS))
soak:
	$(Q)$(MAKE) --no-print-directory $(PARALLEL) soak-built
	$(Q)MAKEFLAGS= O=$(abspath $(O)) tests/run --limit $$(($(SOAK_SECONDS) + 7200)) $(SOAKS)
	$(Q)$(MAKE) --no-print-directory coverage

# ---- make check-slow: the recorder under every fault, and searches, the longest first ----
SLOW := tests/e2e/faults_test.py '$(O)/tests/torture/torture 200' tests/e2e/cupti_faults_test.py \
	$(O)/tests/collector/record_accounting_test tests/model/spin_test.py '$(O)/tests/torture/soak 30' \
	tests/stacks/python_test.py $(O)/tests/stacks/walk_test $(O)/tests/collector/fork_test \
	tests/e2e/packages_test.py
