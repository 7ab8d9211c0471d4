// SPDX-License-Identifier: GPL-2.0
/*
 * Puts back what a run of the suite left on the machine when it was killed
 * together with its keeper; the next run would do the same.
 */
#include "keeper.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum exit_code { CLEAN = 0, NOT_CLEAN = 1, USAGE = 64 };

static const char doc[] =
	"Puts back what a run of the suite left on the machine when it was killed\n"
	"together with its keeper: settings, cgroups, directories. Needs root.\n"
	"\vExit status:\n"
	"  0   nothing is left\n"
	"  1   something is, or was changed by somebody else; or a run is under way\n"
	"  64  wrong usage\n";

static enum exit_code put_back(const char *name)
{
	static struct keeper_report report;
	pid_t holder = 0;
	int lock;

	lock = keeper_lock(0, &holder);
	if (lock == -EWOULDBLOCK) {
		fprintf(stderr,
			"%s: process %d runs the suite now, and will clean up after itself; stop it first\n",
			name, holder);
		return NOT_CLEAN;
	}
	if (lock < 0) {
		fprintf(stderr, "%s: cannot lock " KEEPER_DIR ": %s%s\n", name,
			strerror(-lock), geteuid() ? "; run it as root" : "");
		return NOT_CLEAN;
	}
	keeper_repair(&report);
	close(lock);
	fputs(report.text, stdout);
	if (!report.restored && !report.foreign && !report.failed)
		puts("nothing was left by any run");
	return report.foreign || report.failed ? NOT_CLEAN : CLEAN;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { .doc = doc };
	const char *name = program_invocation_short_name;
	enum exit_code code;

	argp_err_exit_status = USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	code = put_back(name);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "%s: cannot write: %s\n", name,
			strerror(errno));
		return NOT_CLEAN;
	}
	return code;
}
