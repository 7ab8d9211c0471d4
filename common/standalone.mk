# SPDX-License-Identifier: GPL-2.0
#
# What lib.mk gives a program inside a kernel tree, for the programs outside
# one: the compiler by LLVM= and CROSS_COMPILE=, USERCFLAGS=, USERLDFLAGS=, V=1,
# and the workload core. Include it with OUTPUT set.

ifneq ($(LLVM),)
CC := $(if $(filter %/,$(LLVM)),$(LLVM))clang$(if $(filter -%,$(LLVM)),$(LLVM))
CC += $(if $(CROSS_COMPILE),--target=$(notdir $(CROSS_COMPILE:%-=%)))
else
CC := $(CROSS_COMPILE)gcc
endif

ifeq ($(V),1)
Q =
msg =
else
Q = @
msg = @printf '  %-8s%s\n' "$(1)" "$(notdir $(3))"
MAKEFLAGS += --no-print-directory
endif

CFLAGS += -std=gnu11 -O2 -g -Wall -Wextra -D_GNU_SOURCE= $(USERCFLAGS)
LDFLAGS += $(USERLDFLAGS)

include $(dir $(lastword $(MAKEFILE_LIST)))common.mk
