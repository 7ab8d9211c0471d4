# SPDX-License-Identifier: GPL-2.0
#
# What the modules of tools/ need beyond the workload core. Included after
# standalone.mk, with OUTPUT set.

ifneq ($(filter-out clean,$(or $(MAKECMDGOALS),all)),)

# pkg-config knows the flags, and the compiler whether they are for its target.
PKG_CONFIG ?= pkg-config
# $1: package, $2: what to link if pkg-config does not say
package_libs = $(or $(shell $(PKG_CONFIG) --libs $1 2>/dev/null),$2)
package_cflags = $(shell $(PKG_CONFIG) --cflags $1 2>/dev/null)
JANSSON_CFLAGS := $(call package_cflags,jansson)
JANSSON_LIBS := $(call package_libs,jansson,-ljansson)

HAVE_JANSSON := $(call can_link,jansson.h,json_dumpf,$(JANSSON_CFLAGS) $(JANSSON_LIBS))
ifneq ($(HAVE_JANSSON),)
CFLAGS += $(JANSSON_CFLAGS) -DHAVE_JANSSON
LDLIBS += $(JANSSON_LIBS)
else
$(warning warning: $(firstword $(CC)) links no libjansson: mm-cache-explore writes no JSON (Debian: libjansson-dev for the target))
endif

endif

# Where the recipes of mm-cache-explore lie: with the sources.
CFLAGS += -DRECIPES_DIR='"$(abspath $(dir $(lastword $(MAKEFILE_LIST))))/recipes"'
