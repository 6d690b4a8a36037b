/* Console output, and the functions that gcc calls by itself. */
#include "heddle.h"

#include <stdarg.h>

/* Otherwise gcc makes of memset's loop a call of memset. */
#pragma GCC optimize("no-tree-loop-distribute-patterns")

/* ---- Memory --------------------------------------------------------------
 * Lanes may have different pointers but not different n. Word or byte steps
 * are chosen for all lanes together. */

typedef unsigned __attribute__((may_alias)) word;

static unsigned all_aligned(const void *a, const void *b)
{
	return hd_vote_all((((uintptr_t)a | (uintptr_t)b) & 3) == 0);
}

static void copy_upward(unsigned char *to, const unsigned char *from, size_t n)
{
	size_t i = 0;
	if (all_aligned(to, from))
		for (; i + 4 <= n; i += 4)
			*(word *)(to + i) = *(const word *)(from + i);
	for (; i < n; i++)
		to[i] = from[i];
}

static void copy_downward(unsigned char *to, const unsigned char *from, size_t n)
{
	while (n-- > 0)
		to[n] = from[n];
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	copy_upward(to, from, n);
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	HD_IF ((uintptr_t)to <= (uintptr_t)from) {
		copy_upward(to, from, n);
	} HD_ELSE {
		copy_downward(to, from, n);
	}
	HD_ENDIF
	return to;
}

void *memset(void *to, int byte, size_t n)
{
	unsigned char *p = to, b = (unsigned char)byte;
	size_t i = 0;
	if (all_aligned(p, p))
		for (; i + 4 <= n; i += 4)
			*(word *)(p + i) = b * 0x01010101u;
	for (; i < n; i++)
		p[i] = b;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;
	int first = 0; /* kept without a branch: lanes find theirs at different bytes */
	for (size_t i = 0; i < n; i++)
		first = (int)hd_select(first == 0, (unsigned)(p[i] - q[i]), (unsigned)first);
	return first;
}

/* ---- Console -------------------------------------------------------------- */

void hd_putchar(char c)
{
	volatile char *slot = (volatile char *)(uintptr_t)(0x40 + (hd_hart() & 63));
	*slot = c;
}

static void put_string(const char *s)
{
	while (*s)
		hd_putchar(*s++);
}

void hd_puts(const char *s)
{
	put_string(s);
	hd_putchar('\n');
}

/* One conversion of a format. */
struct spec {
	char fill;      /* ' ' or '0' */
	int width;      /* at least so many characters */
	int precision;  /* digits after the point; -1: not given */
	char conversion;
};

/* Writes text with its sign before zeros and after spaces. */
static void put_field(const struct spec *s, const char *sign, const char *text, int length)
{
	int padding = s->width - length - (*sign != 0);
	if (s->fill == '0')
		put_string(sign);
	while (padding-- > 0)
		hd_putchar(s->fill);
	if (s->fill != '0')
		put_string(sign);
	while (length-- > 0)
		hd_putchar(*text++);
}

static void put_unsigned(const struct spec *s, const char *sign, unsigned v, unsigned base)
{
	char digits[10];
	int at = sizeof digits;
	do
		digits[--at] = "0123456789abcdef"[v % base];
	while ((v /= base) != 0);
	put_field(s, sign, digits + at, (int)sizeof digits - at);
}

static void put_signed(const struct spec *s, int v)
{
	put_unsigned(s, v < 0 ? "-" : "", v < 0 ? -(unsigned)v : (unsigned)v, 10);
}

static void put_text(const struct spec *s, const char *text)
{
	int length = 0;
	while (text[length])
		length++;
	put_field(s, "", text, length);
}

/* A double is mantissa * 2^exponent. It is written exactly: its integer part is
 * scaled up in limbs of nine digits, its fraction is kept as 64 bits after the
 * point with a note of whether anything non-zero lies below. */
enum { MAX_PRECISION = 9, LIMB = 1000000000, LIMBS = 35 }; /* 2^1024 has 309 digits */

struct decimal {
	unsigned limb[LIMBS]; /* of the integer part, least first */
	uint64_t fraction;    /* in units of 2^-64 */
	_Bool below;          /* the true fraction is larger than that */
};

/* limbs = limbs * factor + carry; factor < LIMB */
static void scale(unsigned *limb, unsigned factor, unsigned carry)
{
	for (int i = 0; i < LIMBS; i++) {
		uint64_t v = (uint64_t)limb[i] * factor + carry;
		carry = (unsigned)(v / LIMB);
		limb[i] = (unsigned)(v - (uint64_t)carry * LIMB);
	}
}

static void set_integer(struct decimal *d, uint64_t v)
{
	for (int i = 0; i < LIMBS; i++) {
		d->limb[i] = (unsigned)(v % LIMB);
		v /= LIMB;
	}
}

static void set_decimal(struct decimal *d, uint64_t mantissa, int exponent)
{
	d->fraction = 0;
	d->below = 0;
	if (exponent >= 0) {
		set_integer(d, mantissa);
		for (; exponent > 29; exponent -= 29)
			scale(d->limb, 1u << 29, 0);
		scale(d->limb, 1u << exponent, 0);
		return;
	}
	int right = -exponent; /* mantissa has 53 bits */
	set_integer(d, right < 64 ? mantissa >> right : 0);
	if (right <= 64) {
		d->fraction = mantissa << (64 - right);
	} else if (right < 128) {
		d->fraction = mantissa >> (right - 64);
		d->below = mantissa << (128 - right) != 0;
	} else {
		d->below = mantissa != 0;
	}
}

/* Takes n decimal digits off the fraction, rounded to nearest, ties to even. */
static unsigned take_digits(struct decimal *d, int n)
{
	unsigned power = 1, digits = 0;
	for (int i = 0; i < n; i++) {
		uint64_t low = (d->fraction & 0xFFFFFFFF) * 10;
		uint64_t high = (d->fraction >> 32) * 10 + (low >> 32);
		digits = digits * 10 + (unsigned)(high >> 32);
		d->fraction = high << 32 | (low & 0xFFFFFFFF);
		power *= 10;
	}
	const uint64_t half = (uint64_t)1 << 63;
	unsigned odd = (n == 0 ? d->limb[0] : digits) & 1;
	if (d->fraction > half || (d->fraction == half && (d->below || odd)))
		digits++;
	if (digits == power) {
		scale(d->limb, 1, 1);
		digits = 0;
	}
	return digits;
}

/* Writes v in decimal with exactly n digits at to. */
static char *digits_to(char *to, unsigned v, int n)
{
	for (int i = n; i-- > 0; v /= 10)
		to[i] = (char)('0' + v % 10);
	return to + n;
}

static void put_double(const struct spec *s, double v)
{
	uint64_t bits;
	__builtin_memcpy(&bits, &v, sizeof bits);
	const char *sign = bits >> 63 ? "-" : "";
	int exponent = (int)(bits >> 52 & 0x7FF);
	uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
	if (exponent == 0x7FF) {
		struct spec plain = *s;
		plain.fill = ' ';
		put_field(&plain, sign, mantissa ? "nan" : "inf", 3);
		return;
	}
	if (exponent == 0)
		exponent = 1;
	else
		mantissa |= (uint64_t)1 << 52;

	int precision = s->precision < 0 ? 6 : s->precision > MAX_PRECISION ? MAX_PRECISION : s->precision;
	struct decimal d;
	set_decimal(&d, mantissa, exponent - 1075);
	unsigned fraction = take_digits(&d, precision);

	char text[9 * LIMBS + 1 + MAX_PRECISION], *end = text, *begin = text;
	for (int i = LIMBS; i-- > 0;)
		end = digits_to(end, d.limb[i], 9);
	while (begin < end - 1 && *begin == '0')
		begin++;
	if (precision > 0) {
		*end++ = '.';
		end = digits_to(end, fraction, precision);
	}
	put_field(s, sign, begin, (int)(end - begin));
}

static const char *number(const char *format, int *v)
{
	for (*v = 0; *format >= '0' && *format <= '9'; format++)
		*v = *v * 10 + (*format - '0');
	return format;
}

/* Reads a conversion after its %. */
static const char *parse(const char *format, struct spec *s)
{
	s->fill = *format == '0' ? '0' : ' ';
	s->precision = -1;
	format = number(format, &s->width);
	if (*format == '.')
		format = number(format + 1, &s->precision);
	if (*format == 'l') /* int and long are the same here */
		format++;
	s->conversion = *format;
	return *format ? format + 1 : format;
}

void hd_printf(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	while (*format) {
		if (*format != '%') {
			hd_putchar(*format++);
			continue;
		}
		struct spec s;
		format = parse(format + 1, &s);
		switch (s.conversion) {
		case 'd':
		case 'i':
			put_signed(&s, va_arg(args, int));
			break;
		case 'u':
			put_unsigned(&s, "", va_arg(args, unsigned), 10);
			break;
		case 'p':
		case 'x':
			put_unsigned(&s, "", va_arg(args, unsigned), 16);
			break;
		case 'c':
			hd_putchar((char)va_arg(args, int));
			break;
		case 's':
			put_text(&s, va_arg(args, const char *));
			break;
		case 'f':
			put_double(&s, va_arg(args, double));
			break;
		case '%':
			hd_putchar('%');
			break;
		default: /* seen in the output rather than guessed at */
			put_string("%?");
		}
	}
	va_end(args);
}

/* ---- Kernels that heddle's host launches --------------------------------- */

/* Of a program without a main of its own: run the kernel that the block names, the
 * sixth word (docs/guide/programs.md), on all lanes. */
__attribute__((weak)) int main(void)
{
	const unsigned *block = (const unsigned *)hd_arg();
	enum { KERNEL = 5, NO_KERNEL = 127 };
	if (block[KERNEL] == 0)
		return NO_KERNEL;
	hd_launch((void (*)(void *))block[KERNEL], (void *)block);
	return 0;
}
