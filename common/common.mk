# SPDX-License-Identifier: GPL-2.0
#
# How to compile the workload core and link a program with it.
#
# Included by mm-cache/Makefile after the kernel's lib.mk, and by the project's
# other Makefiles. Takes CC, CFLAGS, LDFLAGS, LDLIBS and OUTPUT as they are;
# adds to CFLAGS and LDLIBS, and gives:
#
#   COMMON_DIR   where this file lies, as it was included
#   COMMON_HDRS  the headers of the core
#   COMMON_OBJS  its objects, below $(OUTPUT)/common: prerequisites of a program

ifeq ($(OUTPUT),)
$(error OUTPUT is not set: lib.mk sets it only in the outermost make, so pass OUTPUT=directory to an inner one)
endif

COMMON_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
COMMON_HDRS := $(wildcard $(COMMON_DIR)/*.h)
COMMON_OBJS := $(patsubst $(COMMON_DIR)/%.c,$(OUTPUT)/common/%.o,\
		$(wildcard $(COMMON_DIR)/*.c))

# What an initialiser leaves out is zero, as everywhere in the kernel: clang's
# -Wextra would have it written out.
CFLAGS += -I$(COMMON_DIR) -pthread -Wno-missing-field-initializers
LDLIBS += -lm

# A library is there if a program that calls it links for the target: a header
# alone may belong to the build machine while CC is a cross compiler.
# $1: header, $2: a function of the library, $3: what to link
hash := \#
can_link = $(shell dir=$$(mktemp -d) || exit 1;					\
	printf '$(hash)include <$1>\nvoid *p = (void *)&$2; int main(void) { return !p; }\n' |	\
	$(CC) $(CFLAGS) $(LDFLAGS) -w -x c - $3 -o "$$dir/a" 2>/dev/null &&	\
	echo y; rm -rf "$$dir")

# Nothing is compiled by these, and what emit_tests prints is kept as a list.
ifneq ($(filter-out clean emit_tests,$(or $(MAKECMDGOALS),all)),)

LIBMOUNT := -lmount -lblkid
ifneq ($(call can_link,libmount/libmount.h,mnt_new_context,$(LIBMOUNT)),)
# Programs include <libmount.h> and <blkid.h>, which lie in directories of their
# own; the compiler knows where these are for the target.
libmount_dirs = $(sort $(patsubst %/,%,$(dir $(filter %/libmount.h %/blkid.h,\
	$(shell printf '$(hash)include <libmount/libmount.h>\n$(hash)include <blkid/blkid.h>\n' | \
	$(CC) $(CFLAGS) -M -x c -)))))
CFLAGS := $(CFLAGS) $(addprefix -I,$(libmount_dirs)) -DHAVE_LIBMOUNT
LDLIBS += $(LIBMOUNT)
else
$(warning warning: $(firstword $(CC)) links no libmount: tests that need a scratch file system will skip (Debian: libmount-dev for the target))
endif

ifneq ($(call can_link,liburing.h,io_uring_queue_init,-luring),)
CFLAGS += -DHAVE_LIBURING
LDLIBS += -luring
else
$(warning warning: $(firstword $(CC)) links no liburing: tests that need io_uring will skip (Debian: liburing-dev for the target))
endif

endif

$(COMMON_OBJS): $(OUTPUT)/common/%.o: $(COMMON_DIR)/%.c $(COMMON_HDRS) $(COMMON_DIR)/common.mk
	$(call msg,CC,,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(CPPFLAGS) $(TARGET_ARCH) -c $< -o $@

# With a separate output directory, the directory of the objects goes as well.
EXTRA_CLEAN += $(COMMON_OBJS)
EXTRA_CLEAN += $(filter-out $(realpath $(COMMON_DIR)),$(abspath $(OUTPUT)/common))
