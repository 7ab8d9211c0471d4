/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where others may write, others may plant a symbolic link, and root would go
 * where they send it.
 */
#ifndef MM_CACHE_FOREIGN_LINK_H
#define MM_CACHE_FOREIGN_LINK_H

struct needs;

/*
 * foreign_link() - look for a symbolic link on the way of absolute path @path,
 * its last component included, that belongs neither to root nor to the caller.
 * @variable: what the user gave it by, for people
 *
 * 0, or -ENOENT with an entry in @needs.
 */
int foreign_link(const char *variable, const char *path, struct needs *needs);

#endif
