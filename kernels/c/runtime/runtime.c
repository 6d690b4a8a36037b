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
enum { LEFT = 1, ZERO = 2, PLUS = 4, SPACE = 8, ALTERNATE = 16 }; /* - 0 + space # */

struct spec {
	unsigned flags;
	int width;      /* at least so many characters */
	int precision;  /* -1: not given */
	char size;      /* 'H' for hh, 'h', 'l', 'L' for ll, or 0 */
	char conversion;
};

static void repeat(char c, int n)
{
	while (n-- > 0)
		hd_putchar(c);
}

/* Begins a field of so many characters behind a prefix, such as a sign: spaces come before that, zeros after it.
 * Returns how many spaces end the field. */
static int begin_field(const struct spec *s, const char *prefix, int length)
{
	int padding = s->width - length;
	for (const char *p = prefix; *p; p++)
		padding--;
	if (!(s->flags & (LEFT | ZERO)))
		repeat(' ', padding);
	put_string(prefix);
	if ((s->flags & (LEFT | ZERO)) == ZERO)
		repeat('0', padding);
	return s->flags & LEFT ? padding : 0;
}

static void put_text(const struct spec *s, const char *prefix, const char *text, int length)
{
	int padding = begin_field(s, prefix, length);
	while (length-- > 0)
		hd_putchar(*text++);
	repeat(' ', padding);
}

static const char *sign_of(const struct spec *s, _Bool negative)
{
	return negative ? "-" : s->flags & PLUS ? "+" : s->flags & SPACE ? " " : "";
}

/* Divides *v and returns the remainder. The only 64-bit division here: each kind is a kilobyte of libgcc. */
static __attribute__((noinline, noclone)) unsigned divide(uint64_t *v, unsigned by)
{
	uint64_t quotient = *v / by;
	unsigned rest = (unsigned)(*v - quotient * by);
	*v = quotient;
	return rest;
}

static void put_integer(struct spec *s, const char *prefix, uint64_t v)
{
	unsigned base = s->conversion == 'o' ? 8 : s->conversion == 'd' || s->conversion == 'u' ? 10 : 16;
	const char *symbols = s->conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	char digits[22];
	int at = sizeof digits;
	while (v >> 32)
		digits[--at] = symbols[divide(&v, base)];
	for (unsigned low = (unsigned)v; low; low /= base)
		digits[--at] = symbols[low % base];

	int length = (int)sizeof digits - at, zeros = s->precision < 0 ? !length : s->precision - length;
	if (base == 8 && s->flags & ALTERNATE && zeros <= 0)
		zeros = 1;
	if (zeros < 0)
		zeros = 0;
	if (s->precision >= 0)
		s->flags &= ~(unsigned)ZERO;
	int padding = begin_field(s, prefix, zeros + length);
	repeat('0', zeros);
	while (length-- > 0)
		hd_putchar(digits[at++]);
	repeat(' ', padding);
}

/* A double in decimal, exactly: limbs of nine digits, most significant first. Position 0 is the units digit, 1 the first
 * digit after the point, -1 the tens. */
enum { LIMB = 1000000000, INTEGERS = 36, LIMBS = INTEGERS + 122 }; /* 2^1024 has 309 digits, 2^-1074 has 1074 */

struct decimal {
	unsigned limb[LIMBS];
	int end; /* limbs in use */
};

static const unsigned power_of_ten[9] = {100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};

static int limb_of(int position) { return (position + 9 * INTEGERS - 1) / 9; }
static unsigned unit_of(int position) { return power_of_ten[(position + 9 * INTEGERS - 1) % 9]; }

static unsigned digit_at(const struct decimal *d, int position)
{
	int i = limb_of(position);
	return i < d->end ? d->limb[i] / unit_of(position) % 10 : 0;
}

static void set_decimal(struct decimal *d, uint64_t mantissa, int exponent)
{
	for (int i = 0; i < LIMBS; i++)
		d->limb[i] = 0;
	d->end = INTEGERS;
	d->limb[INTEGERS - 1] = divide(&mantissa, LIMB);
	d->limb[INTEGERS - 2] = (unsigned)mantissa;
	for (int shift; exponent > 0; exponent -= shift) {
		shift = exponent < 29 ? exponent : 29;
		unsigned carry = 0;
		for (int i = INTEGERS; i-- > 0;) {
			uint64_t v = ((uint64_t)d->limb[i] << shift) + carry;
			d->limb[i] = divide(&v, LIMB);
			carry = (unsigned)v;
		}
	}
	for (int shift; exponent < 0; exponent += shift) { /* LIMB is a multiple of 2^9 */
		shift = exponent > -9 ? -exponent : 9;
		unsigned carry = 0;
		for (int i = INTEGERS - 2; i < d->end; i++) {
			unsigned v = d->limb[i];
			d->limb[i] = (v >> shift) + carry;
			carry = (v & ((1u << shift) - 1)) * (LIMB >> shift);
		}
		if (carry)
			d->limb[d->end++] = carry;
	}
}

/* Position of the first digit that is not 0; of zero, 0. */
static int first_digit(const struct decimal *d)
{
	int position = -9 * INTEGERS + 1;
	while (position < 1 && d->limb[limb_of(position)] == 0)
		position += 9;
	while (limb_of(position) < d->end && d->limb[limb_of(position)] == 0)
		position += 9;
	if (limb_of(position) >= d->end)
		return 0;
	while (digit_at(d, position) == 0)
		position++;
	return position;
}

/* Rounds to nearest, ties to even, so that position is the last digit that is not 0. */
static void round_at(struct decimal *d, int position)
{
	int i = limb_of(position + 1);
	if (i >= d->end)
		return;
	unsigned half = unit_of(position + 1) * 5, rest = d->limb[i] % (half * 2), below = 0;
	d->limb[i] -= rest;
	while (d->end > i + 1)
		below |= d->limb[--d->end];
	if (rest < half || (rest == half && !below && digit_at(d, position) % 2 == 0))
		return;
	i = limb_of(position);
	for (unsigned carry = unit_of(position); (d->limb[i] += carry) >= LIMB; carry = 1)
		d->limb[i--] -= LIMB;
}

/* Writes digits of positions from..to, with the point behind position point. */
static void put_digits(const struct decimal *d, int from, int to, int point, _Bool dot)
{
	for (int i = from; i <= to; i++) {
		hd_putchar((char)('0' + digit_at(d, i)));
		if (i == point && dot)
			hd_putchar('.');
	}
}

/* Writes the exponent of %e at to, and returns its end. */
static char *exponent_to(char *to, char letter, int power)
{
	*to++ = letter;
	*to++ = power < 0 ? '-' : '+';
	if (power < 0)
		power = -power;
	if (power >= 100)
		*to++ = (char)('0' + power / 100);
	*to++ = (char)('0' + power / 10 % 10);
	*to++ = (char)('0' + power % 10);
	return to;
}

/* Rounds to what a conversion shows: so many digits behind the point, or behind the first digit (%e, %g). */
static void round_to(struct decimal *d, char kind, int precision)
{
	int last = kind == 'f' ? precision : first_digit(d) + precision;
	if (precision < 1074 && last < 1074) /* beyond, there is nothing */
		round_at(d, last);
}

static void put_finite(struct spec *s, const char *sign, uint64_t mantissa, int exponent)
{
	struct decimal d;
	set_decimal(&d, mantissa, exponent);
	char kind = s->conversion | 0x20;
	int precision = s->precision < 0 ? 6 : s->precision;
	if (kind == 'g' && precision > 0)
		precision--;
	round_to(&d, kind, precision);
	int first = first_digit(&d); /* now: 9.99 has become 10.0 */
	if (kind == 'g') {
		kind = first > 4 || -first > precision ? 'e' : 'f';
		int point = kind == 'e' ? first : 0;
		precision += first - point;
		while (!(s->flags & ALTERNATE) && precision > 0 && digit_at(&d, point + precision) == 0)
			precision--;
	}
	int point = kind == 'e' ? first : 0, from = first < point ? first : point;
	_Bool dot = precision > 0 || s->flags & ALTERNATE;
	char tail[5], *end = tail;
	if (kind == 'e')
		end = exponent_to(tail, (s->conversion & 0x20) | 'E', -first);
	int padding = begin_field(s, sign, point - from + 1 + dot + precision + (int)(end - tail));
	put_digits(&d, from, point + precision, point, dot);
	for (const char *c = tail; c < end; c++)
		hd_putchar(*c);
	repeat(' ', padding);
}

static void put_double(struct spec *s, double v)
{
	uint64_t bits;
	__builtin_memcpy(&bits, &v, sizeof bits);
	const char *sign = sign_of(s, bits >> 63);
	int exponent = (int)(bits >> 52 & 0x7FF);
	uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
	if (exponent == 0x7FF) {
		s->flags &= ~(unsigned)ZERO;
		if (s->conversion & 0x20)
			put_text(s, sign, mantissa ? "nan" : "inf", 3);
		else
			put_text(s, sign, mantissa ? "NAN" : "INF", 3);
		return;
	}
	if (exponent == 0)
		exponent = 1;
	else
		mantissa |= (uint64_t)1 << 52;
	put_finite(s, sign, mantissa, exponent - 1075);
}

struct arguments { va_list list; };

/* Reads a number, or * for the next argument. */
static const char *number(const char *format, int *v, struct arguments *args)
{
	if (*format == '*') {
		*v = va_arg(args->list, int);
		return format + 1;
	}
	for (*v = 0; *format >= '0' && *format <= '9'; format++)
		*v = *v * 10 + (*format - '0');
	return format;
}

/* Reads a conversion after its %. */
static const char *parse(const char *format, struct spec *s, struct arguments *args)
{
	static const char flags[] = "-0+ #";
	s->flags = 0;
	for (int i = 0; flags[i];)
		if (*format == flags[i]) {
			s->flags |= 1u << i;
			format++;
			i = 0;
		} else {
			i++;
		}
	format = number(format, &s->width, args);
	if (s->width < 0) {
		s->flags |= LEFT;
		s->width = -s->width;
	}
	s->precision = -1;
	if (*format == '.')
		format = number(format + 1, &s->precision, args);
	s->size = 0;
	if (*format == 'l' || *format == 'h') {
		s->size = *format++;
		if (*format == s->size) {
			s->size ^= 0x20;
			format++;
		}
	} else if (*format == 'z' || *format == 't') {
		s->size = 'l';
		format++;
	} else if (*format == 'j') {
		s->size = 'L';
		format++;
	}
	s->conversion = *format;
	return *format ? format + 1 : format;
}

static uint64_t integer(const struct spec *s, struct arguments *args, _Bool is_signed)
{
	if (s->size == 'L')
		return va_arg(args->list, uint64_t);
	unsigned v = va_arg(args->list, unsigned);
	int drop = s->size == 'H' ? 24 : s->size == 'h' ? 16 : 0;
	v <<= drop;
	return is_signed ? (uint64_t)(int64_t)((int)v >> drop) : v >> drop;
}

static void put_signed(struct spec *s, int64_t v)
{
	s->conversion = 'd';
	put_integer(s, sign_of(s, v < 0), v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* Writes what a conversion makes of its argument; 0 if there is no such conversion. */
static _Bool convert(struct spec *s, struct arguments *args)
{
	switch (s->conversion) {
	case 'd':
	case 'i':
		put_signed(s, (int64_t)integer(s, args, 1));
		return 1;
	case 'u':
	case 'o':
		put_integer(s, "", integer(s, args, 0));
		return 1;
	case 'x':
	case 'X': {
		uint64_t v = integer(s, args, 0);
		const char *prefix = s->conversion == 'x' ? "0x" : "0X";
		put_integer(s, s->flags & ALTERNATE && v ? prefix : "", v);
		return 1;
	}
	case 'f':
	case 'F':
	case 'e':
	case 'E':
	case 'g':
	case 'G':
		if (s->size != 0 && s->size != 'l')
			return 0;
		put_double(s, va_arg(args->list, double));
		return 1;
	case 'p':
		if (s->size != 0)
			return 0;
		put_integer(s, "", va_arg(args->list, uintptr_t));
		return 1;
	}
	if (s->size != 0)
		return 0;
	s->flags &= LEFT;
	if (s->conversion == 'c') {
		char c = (char)va_arg(args->list, int);
		put_text(s, "", &c, 1);
	} else if (s->conversion == 's') {
		const char *text = va_arg(args->list, const char *);
		int length = 0;
		while (length != s->precision && text[length])
			length++;
		put_text(s, "", text, length);
	} else {
		return 0;
	}
	return 1;
}

void hd_printf(const char *format, ...)
{
	struct arguments args;
	va_start(args.list, format);
	while (*format) {
		if (*format != '%') {
			hd_putchar(*format++);
			continue;
		}
		const char *begin = format++;
		if (*format == '%') {
			hd_putchar(*format++);
			continue;
		}
		struct spec s;
		format = parse(format, &s, &args);
		if (!convert(&s, &args)) { /* what the next arguments are is not known either */
			put_string("\nhd_printf: no such conversion: ");
			while (begin < format)
				hd_putchar(*begin++);
			hd_putchar('\n');
			hd_wrong();
		}
	}
	va_end(args.list);
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
