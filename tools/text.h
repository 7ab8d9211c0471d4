/* SPDX-License-Identifier: GPL-2.0 */
/* Strings for programs that end where there is no memory. */
#ifndef TEXT_H
#define TEXT_H

/* The exit status then; a program sets it first. */
extern int text_status;

/* need_memory() - @memory, which is not NULL. */
void *need_memory(void *memory);

/* text() - as printf(); to be freed. */
__attribute__((format(printf, 1, 2))) char *text(const char *fmt, ...);

#endif
