// SPDX-License-Identifier: GPL-2.0
#include "gnuplot.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_FOUND 127 /* exit status of a shell that finds no such command */

static bool ends_in(const char *s, const char *end)
{
	size_t len = strlen(s), e = strlen(end);

	return len > e && !strcmp(s + len - e, end);
}

bool gnuplot_kind(const char *path)
{
	return ends_in(path, ".svg") || ends_in(path, ".png");
}

/* In its single quotes only they themselves mean anything. */
void gnuplot_quote(FILE *to, const char *text)
{
	fputc('\'', to);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', to);
		fputc(*text, to);
	}
	fputc('\'', to);
}

bool gnuplot_found(void)
{
	return !system("command -v gnuplot >/dev/null 2>&1");
}

int gnuplot_draw(const char *path, unsigned int width, unsigned int height,
		 void (*script)(FILE *to, const void *arg), const void *arg)
{
	struct stat st;
	int status = 0;
	int err = 0;
	/* It may end before it has read all. */
	sighandler_t before = signal(SIGPIPE, SIG_IGN);
	FILE *to = popen("exec gnuplot", "we");

	if (!to)
		err = -errno;
	unlink(path);
	if (!err) {
		fprintf(to,
			"set terminal %s noenhanced font 'Helvetica,11' size %u,%u background rgb 'white'\nset output ",
			ends_in(path, ".svg") ? "svg" : "pngcairo", width,
			height);
		gnuplot_quote(to, path);
		fputc('\n', to);
		script(to, arg);
		fputs("set output\n", to);
		status = pclose(to);
	}
	signal(SIGPIPE, before);
	if (err)
		return err;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		return -EOPNOTSUPP;
	return status || stat(path, &st) || !st.st_size ? -EIO : 0;
}
