#!/bin/sh
# Builds C programs for the simulated machine.
#
#   build.sh OUT_DIR [SOURCE.c ...]
#
# Each source becomes OUT_DIR/<name>.elf; without sources, all of programs/ do.
# CC, OPT (-O2) and LIBS, more libraries to link, may be set in the environment.
set -eu

if [ $# -lt 1 ]; then
	sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
	exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
[ $# -gt 0 ] || set -- "$here"/programs/*.c

cc=${CC:-riscv64-unknown-elf-gcc}
# F implies Zicsr. gcc 12 has no libgcc for rv32imaf without C, and would take the one for rv32iaf, which multiplies and divides by loops.
libgcc=$($cc -march=rv32imf -mabi=ilp32f -print-libgcc-file-name)
flags="-march=rv32imaf -mabi=ilp32f -mstrict-align ${OPT:--O2} -std=gnu11 -ffreestanding -fno-pic
	-Wall -Wextra -Wdouble-promotion -Werror -I$here"

mkdir -p "$out"
# shellcheck disable=SC2086 # flags are words
{
	$cc $flags -c "$here/runtime/crt0.S" -o "$out/crt0.o"
	$cc $flags -c "$here/runtime/runtime.c" -o "$out/runtime.o"
	for source; do
		$cc $flags -static -nostdlib -T "$here/runtime/link.ld" "$out/crt0.o" "$source" "$out/runtime.o" ${LIBS:-} "$libgcc" \
			-o "$out/$(basename "$source" .c).elf"
	done
}
