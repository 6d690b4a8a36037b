/* What gcc calls by itself. */
#include <stddef.h>

#define WEAK __attribute__((weak, optimize("no-tree-loop-distribute-patterns")))

WEAK void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)to)[i] = ((const char *)from)[i];
	return to;
}

WEAK void *memmove(void *to, const void *from, size_t n)
{
	if ((char *)to <= (const char *)from)
		return memcpy(to, from, n);
	while (n-- > 0)
		((char *)to)[n] = ((const char *)from)[n];
	return to;
}

WEAK void *memset(void *to, int byte, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)to)[i] = (char)byte;
	return to;
}

WEAK int memcmp(const void *a, const void *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int d = ((const unsigned char *)a)[i] - ((const unsigned char *)b)[i];
		if (d != 0)
			return d;
	}
	return 0;
}
