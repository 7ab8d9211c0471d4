/* SPDX-License-Identifier: GPL-2.0 */
/* Standard streams that whoever started us may have closed. */
#ifndef STD_STREAMS_H
#define STD_STREAMS_H

/*
 * std_streams_open() - those that are closed become /dev/null: else the next file
 * that is opened, one that is measured, gets the number, and what is printed.
 * 0 or -errno.
 */
int std_streams_open(void);

#endif
