/* SPDX-License-Identifier: GPL-2.0 */
/* Strings and arrays for programs that end where there is no memory. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/* The exit status then; a program sets it first. */
extern int text_status;

/* need_memory() - @memory, which is not NULL. */
void *need_memory(void *memory);

/*
 * one_more() - room for one more, zeroed, at the end of an array; @array is a
 * pointer to the pointer to its @nr elements of @size bytes.
 */
void *one_more(void *array, size_t *nr, size_t size);

/* text() - as printf(); to be freed. */
__attribute__((format(printf, 1, 2))) char *text(const char *fmt, ...);

#endif
