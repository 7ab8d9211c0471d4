// SPDX-License-Identifier: GPL-2.0
#include "one_line.h"

void one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}
