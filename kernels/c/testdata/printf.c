/* Every conversion; the test formats the same with Go's fmt. */
#include "heddle.h"

static const double reals[] = {
	0, -0.0, 1, -1, 0.5, 1.5, 2.5, 0.1, 0.125, 0.375, 0.999999, 0.9999999, 9.9999996, 1234.5678, 1e-7, 4.9e-7, 5e-7, 5.1e-7,
	4294967295.75, 18446744073709551616.0, 16777217.0, 3.4028234663852886e38, 1.401298464324817e-45, 2.2250738585072014e-308, 4.9e-324,
	1.7976931348623157e308, 123456789.123456789, 0.0000152587890625, 0.00048828125,
};

static void print_reals(void)
{
	for (unsigned i = 0; i < sizeof reals / sizeof *reals; i++)
		hd_printf("%f|%.0f|%.1f|%.3f|%.9f|%012.4f|%12.4f\n", reals[i], reals[i], reals[i], reals[i], reals[i], reals[i], reals[i]);
}

int main(void)
{
	if (hd_core() != 0)
		return 0;
	hd_printf("%d|%i|%5d|%05d|%d|%ld\n", 0, -1, -42, -42, (int)0x80000000, 7l);
	hd_printf("%u|%x|%08x|%8x|%lx\n", ~0u, 0xdeadbeefu, 0xbeefu, 0xbeefu, 1ul);
	hd_printf("%c|%s|%6s|%%\n", 'c', "text", "ab");
	print_reals();
	hd_printf("%f|%f|%07f|%f\n", __builtin_inf(), -__builtin_inf(), __builtin_inf(), __builtin_nan(""));
	return 0;
}
