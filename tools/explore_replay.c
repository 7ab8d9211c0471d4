// SPDX-License-Identifier: GPL-2.0
#include "explore_replay.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Which requests are the last ones of their pages so far: a Fenwick tree, in
 * which the pages asked for since one of them are counted in logarithmic time.
 */
struct marks {
	uint32_t *tree; /* from 1 */
	size_t n;
};

static void mark(struct marks *m, size_t at, int by)
{
	for (at++; at <= m->n; at += at & -at)
		m->tree[at] += by;
}

/* Marks at [0, @end) */
static uint32_t marked(const struct marks *m, size_t end)
{
	uint32_t sum = 0;

	for (; end; end -= end & -end)
		sum += m->tree[end];
	return sum;
}

static void find_distances(const uint32_t *requests, size_t n, uint32_t *last,
			   struct marks *marks, struct replayed *replayed)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t before = last[requests[i]];

		replayed[i].distance = NEVER;
		if (before != NEVER) {
			replayed[i].distance =
				marked(marks, i) - marked(marks, before + 1);
			mark(marks, before, -1);
		}
		mark(marks, i, 1);
		last[requests[i]] = (uint32_t)i;
	}
}

/*
 * The pages that are kept, the one that is needed last on top: a binary heap of
 * when each is asked for again. When it was, its old entry is still in the heap,
 * below all that is in the future, and never comes to the top while there is
 * anything else; stale ones are known by the state of the page.
 */
struct kept {
	uint32_t *next; /* heap of request numbers */
	size_t nr;
};

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t t = *a;

	*a = *b;
	*b = t;
}

static void push(struct kept *k, uint32_t next)
{
	size_t at = k->nr++;

	k->next[at] = next;
	while (at && k->next[(at - 1) / 2] < k->next[at]) {
		swap(&k->next[(at - 1) / 2], &k->next[at]);
		at = (at - 1) / 2;
	}
}

static uint32_t pop(struct kept *k)
{
	uint32_t top = k->next[0];
	size_t at = 0;

	k->next[0] = k->next[--k->nr];
	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < k->nr && k->next[child + 1] > k->next[child])
			child++;
		if (child >= k->nr || k->next[child] <= k->next[at])
			return top;
		swap(&k->next[child], &k->next[at]);
		at = child;
	}
}

/*
 * @again[i]: the request after i for the same page. Pages that nobody asks for
 * again are not kept at all.
 */
static void run_optimal(const uint32_t *again, size_t n, uint32_t capacity,
			bool *awaited, struct kept *kept,
			struct replayed *replayed)
{
	uint32_t held = 0;

	for (size_t i = 0; i < n; i++) {
		replayed[i].optimal = awaited[i];
		held -= awaited[i];
		if (again[i] == NEVER || !capacity)
			continue;
		if (held == capacity) {
			/* All that is held is awaited, in the future: no stale top. */
			if (kept->next[0] < again[i])
				continue;
			awaited[pop(kept)] = false;
			held--;
		}
		awaited[again[i]] = true;
		push(kept, again[i]);
		held++;
	}
}

static void find_again(const uint32_t *requests, size_t n, uint32_t *last,
		       uint32_t *again)
{
	for (size_t i = n; i--;) {
		again[i] = last[requests[i]];
		last[requests[i]] = (uint32_t)i;
	}
}

int replay(const uint32_t *requests, size_t n, uint32_t pages,
	   uint32_t capacity, struct replayed *replayed)
{
	struct marks marks = { calloc(n + 1, sizeof(uint32_t)), n };
	struct kept kept = { calloc(n + 1, sizeof(uint32_t)), 0 };
	uint32_t *last = malloc(((size_t)pages + 1) * sizeof(*last));
	uint32_t *again = calloc(n + 1, sizeof(*again));
	bool *awaited = calloc(n + 1, sizeof(*awaited));
	int err = -ENOMEM;

	if (marks.tree && kept.next && last && again && awaited) {
		memset(last, 0xff, pages * sizeof(*last));
		find_distances(requests, n, last, &marks, replayed);
		memset(last, 0xff, pages * sizeof(*last));
		find_again(requests, n, last, again);
		run_optimal(again, n, capacity, awaited, &kept, replayed);
		err = 0;
	}
	free(marks.tree);
	free(kept.next);
	free(last);
	free(again);
	free(awaited);
	return err;
}
