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
#   LDLIBS_URING what a program that uses liburing links besides

ifeq ($(OUTPUT),)
$(error OUTPUT is not set: lib.mk sets it only in the outermost make, so pass OUTPUT=directory to an inner one)
endif

COMMON_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
COMMON_HDRS := $(wildcard $(COMMON_DIR)/*.h)
COMMON_OBJS := $(patsubst $(COMMON_DIR)/%.c,$(OUTPUT)/common/%.o,\
		$(wildcard $(COMMON_DIR)/*.c))

CFLAGS += -I$(COMMON_DIR) -pthread
LDLIBS += -lm

# A library is there if a program that calls it links for the target: a header
# alone may belong to the build machine while CC is a cross compiler.
# $1: header, $2: a function of the library, $3: what to link
hash := \#
can_link = $(shell dir=$$(mktemp -d) || exit 1;					\
	printf '$(hash)include <$1>\nint main(void) { return !(void *)&$2; }\n' |	\
	$(CC) $(CFLAGS) $(LDFLAGS) -w -x c - $3 -o "$$dir/a" 2>/dev/null &&	\
	echo y; rm -rf "$$dir")

# The first of the lists of libraries $3 (a comma in them stands for a blank)
# that links; empty if none does.
comma := ,
first_link = $(firstword $(foreach libs,$3,\
	$(if $(call can_link,$1,$2,$(subst $(comma), ,$(libs))),$(libs))))

# Nothing is compiled by these, and what emit_tests prints is kept as a list.
ifneq ($(filter-out clean emit_tests,$(or $(MAKECMDGOALS),all)),)

# The longer lists are for static linking.
LIBMOUNT := $(call first_link,libmount/libmount.h,mnt_new_context,\
	-lmount$(comma)-lblkid \
	-lmount$(comma)-lblkid$(comma)-lselinux$(comma)-lpcre2-8)
ifneq ($(LIBMOUNT),)
CFLAGS += -DHAVE_LIBMOUNT
LDLIBS += $(subst $(comma), ,$(LIBMOUNT))
else
$(warning warning: $(firstword $(CC)) links no libmount: tests that need a scratch file system will skip (Debian: libmount-dev for the target))
endif

LIBURING := $(call first_link,liburing.h,io_uring_queue_init,-luring)
ifneq ($(LIBURING),)
CFLAGS += -DHAVE_LIBURING
LDLIBS_URING := $(LIBURING)
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
