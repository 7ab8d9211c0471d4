# SPDX-License-Identifier: GPL-2.0
#
# The entry for a checkout. The suite itself is built, run and installed by the
# kernel's own selftests Makefile, in a miniature kernel tree below build/.

BUILD_DIR := $(CURDIR)/build
STAGE_DIR := $(BUILD_DIR)/stage
SELFTESTS := $(STAGE_DIR)/tools/testing/selftests
INSTALL_PATH := $(BUILD_DIR)/install
KSRC :=
KDIR :=
PROGRAMS :=
SECTIONS :=
VNG_ARGS := --debian 7
GATE_ARGS := 6.12 7

ifneq ($(words $(CURDIR)),1)
$(error the path "$(CURDIR)" has a blank in it: make, and a kernel tree, cannot build there)
endif
ifneq ($(filter command line,$(origin CFLAGS) $(origin LDFLAGS)),)
$(error CFLAGS= and LDFLAGS= replace what the build needs: use USERCFLAGS= and USERLDFLAGS=)
endif

# What the goals on the command line need is installed before anything else.
DEPS := $(filter deps,$(MAKECMDGOALS))
GOALS := $(filter-out deps,$(or $(MAKECMDGOALS),all))

QUIET := $(if $(filter 1,$(V)),,-s)

# Inherited settings of a kernel tree do not apply to the miniature one.
KSELFTEST = $(MAKE) $(QUIET) --no-print-directory -C $(SELFTESTS) TARGETS=mm-cache \
	FORCE_TARGETS=1 O= KBUILD_OUTPUT= KSFT_INSTALL_PATH=$(abspath $(INSTALL_PATH)) \
	INSTALL_PATH=$(abspath $(INSTALL_PATH))

export BUILD_DIR
export STAGE_DIR

all: suite tools

help:
	@echo 'make            build the suite and the tools, below build/'
	@echo 'make deps GOAL  first install what GOAL needs (Debian; elsewhere: say what)'
	@echo 'make run        run the suite, then print the table of verdicts;'
	@echo '                PROGRAMS="name name" runs only these'
	@echo 'make check      the tests of the project itself; SECTIONS="name name"'
	@echo 'make bench      the cost and the accuracy of the measurements;'
	@echo '                BENCH_ARGS="..." goes to build/tools/mm-cache-bench'
	@echo 'make explore    the workload with every knob, the recipes of the reports;'
	@echo '                EXPLORE_ARGS="..." goes to build/tools/mm-cache-explore'
	@echo 'make format     lay out the C sources with clang-format, as the kernel does'
	@echo 'make install    the suite with the kernel runner, to INSTALL_PATH='
	@echo 'make gen_tar    that as a tarball'
	@echo 'make install-in-tree KDIR=directory'
	@echo '                copy the suite into a kernel tree'
	@echo 'make clean-machine'
	@echo '                put back what a run left that was killed with its keeper'
	@echo 'make vng        run the suite on another kernel, in a virtual machine;'
	@echo '                VNG_ARGS="..." goes to scripts/run-vng.sh (--debian 7)'
	@echo 'make gate       is one kernel worse than another?'
	@echo '                GATE_ARGS="..." goes to scripts/gate.sh (6.12 7)'
	@echo 'make clean      remove build/'
	@echo
	@echo 'KSRC=directory  take the test harness from this kernel source; default:'
	@echo '                the newest /usr/src/linux-source-*'
	@echo 'LLVM=1, CROSS_COMPILE=, USERCFLAGS=, USERLDFLAGS=, V=1'
	@echo '                as for the selftests of a kernel tree'

deps:
	@CC="$(if $(filter default,$(origin CC)),,$(CC))" LLVM="$(LLVM)" \
		CROSS_COMPILE="$(CROSS_COMPILE)" KSRC="$(KSRC)" \
		scripts/deps.sh $(GOALS)

stage: | $(DEPS)
	@scripts/stage.sh $(STAGE_DIR) $(BUILD_DIR)/ksrc $(KSRC)

suite: stage
	+@$(KSELFTEST) all

tools: | $(DEPS)
	+@$(MAKE) $(QUIET) --no-print-directory -C tools OUTPUT=$(BUILD_DIR)/tools

check-programs: | $(DEPS)
	+@$(MAKE) $(QUIET) --no-print-directory -C common/check OUTPUT=$(BUILD_DIR)/check

run: suite tools
	@scripts/run.sh $(PROGRAMS)

bench: suite tools
	$(BUILD_DIR)/tools/mm-cache-bench $(BENCH_ARGS)

explore: tools
	$(BUILD_DIR)/tools/mm-cache-explore $(EXPLORE_ARGS)

check: suite tools check-programs
	@scripts/check.sh $(SECTIONS)

# Lay out the C sources as the kernel's settings have it.
format: stage
	clang-format -i --style=file:$$(cat $(STAGE_DIR)/ksrc)/.clang-format \
		$(wildcard $(addsuffix /*.[ch],common common/check mm-cache tools))

install gen_tar: suite
	+@$(KSELFTEST) $@

install-in-tree:
	@$(if $(KDIR),,$(error give KDIR=top of a kernel tree))scripts/install-in-tree.sh $(KDIR)

clean-machine: tools
	@$(BUILD_DIR)/tools/mm-cache-clean

vng: suite tools
	@scripts/run-vng.sh $(VNG_ARGS)

gate: suite tools
	@scripts/gate.sh $(GATE_ARGS)

clean:
	rm -rf $(BUILD_DIR)

.PHONY: all help deps stage suite tools check-programs run bench explore check format install \
	gen_tar install-in-tree clean-machine vng gate clean
