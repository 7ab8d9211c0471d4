// SPDX-License-Identifier: GPL-2.0
#include "loop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifndef LOOP_CONFIGURE
#define LOOP_CONFIGURE 0x4C0A
struct loop_config {
	__u32 fd;
	__u32 block_size;
	struct loop_info64 info;
	__u64 reserved[8];
};
#endif

/* Others take free devices, too. */
#define TRIES 16

static int configure(int loop, int image, unsigned int block)
{
	const struct loop_config config = {
		.fd = image,
		.block_size = block,
		.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO,
	};
	struct loop_info64 info = { 0 };

	if (ioctl(loop, LOOP_CONFIGURE, &config))
		return -errno;
	/* Direct I/O that cannot be had may be dropped without a word. */
	if (ioctl(loop, LOOP_GET_STATUS64, &info))
		return -errno;
	return info.lo_flags & LO_FLAGS_DIRECT_IO ? 0 : -EINVAL;
}

static int open_control(void)
{
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);

	return control < 0 ? -errno : control;
}

int loop_available(void)
{
	int control = open_control();

	if (control < 0)
		return control;
	close(control);
	return 0;
}

int loop_attach(int image, unsigned int block, char *device, size_t len)
{
	int err = -EBUSY;
	int control;

	control = open_control();
	if (control < 0)
		return control;
	for (int i = 0; err == -EBUSY && i < TRIES; i++) {
		int nr = ioctl(control, LOOP_CTL_GET_FREE);
		int loop;

		if (nr < 0) {
			err = -errno;
			break;
		}
		snprintf(device, len, "/dev/loop%d", nr);
		loop = open(device, O_RDWR | O_CLOEXEC);
		if (loop < 0) {
			err = -errno;
			break;
		}
		err = configure(loop, image, block);
		if (!err) {
			close(control);
			return loop;
		}
		close(loop);
	}
	close(control);
	return err;
}
