/* SPDX-License-Identifier: GPL-2.0 */
/* Loop devices that clear themselves and do not cache a second time. */
#ifndef MM_CACHE_LOOP_H
#define MM_CACHE_LOOP_H

#include <stddef.h>

/* loop_available() - whether this kernel makes loop devices: 0 or -errno. */
int loop_available(void);

/*
 * loop_attach() - a free loop device over file @image, with direct I/O, blocks of
 * @block bytes (512 to 4096) and autoclear; its node in @device. The device is gone when
 * the descriptor returned here and every mount of it are.
 * A descriptor; -EINVAL when the image cannot do direct I/O; or -errno.
 */
int loop_attach(int image, unsigned int block, char *device, size_t len);

#endif
