# SPDX-License-Identifier: GPL-2.0
#
# What the modules of tools/ need beyond the workload core. Included after
# standalone.mk, with OUTPUT set.

ifneq ($(filter-out clean,$(or $(MAKECMDGOALS),all)),)

ifneq ($(call can_link,jansson.h,json_dumpf,-ljansson),)
CFLAGS += -DHAVE_JANSSON
LDLIBS += -ljansson
else
$(warning warning: $(firstword $(CC)) links no libjansson: mm-cache-explore writes no JSON (Debian: libjansson-dev for the target))
endif

endif

# Where the recipes of mm-cache-explore lie: with the sources.
CFLAGS += -DRECIPES_DIR='"$(abspath $(dir $(lastword $(MAKEFILE_LIST))))/recipes"'
