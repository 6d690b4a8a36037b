#!/usr/bin/env bash
# Installs what the tests need beyond Go, from Debian. Safe to run again.
set -euo pipefail

packages=(
  qemu-user                        # isa/emu: differential tests
  binutils-riscv64-unknown-elf     # isa/asm: byte-for-byte comparison
  gcc-riscv64-unknown-elf          # kernels/c: C programs
  picolibc-riscv64-unknown-elf     # kernels/c/counted: the C library's sqrt
  gcc                              # kernels/c: the host's printf
  libc6-dev                        # the same
  g++                              # kernels/cuda: exported CUDA programs, executed on the host; rtl
  verilator                        # rtl: units in SystemVerilog beside their models
  make                             # the same: what Verilator builds with
  yosys                            # rtl: lint; rtl/area, cmd: gates and LUTs
  gtkwave                          # sim/window: vcd2fst and fst2vcd
  chromium                         # internal/chromium: pages of reports and the monitor
  slurm-wlm                        # cmd: heddle run --launcher slurm, on a cluster of one host
  munge                            # the same: Slurm's authentication
  valgrind                         # tools/hostcost: counts host instructions
  python3-pandas                   # cmd/heddle: the snippets of docs/guide/python.md
  python3-matplotlib               # the same
)

installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for p in "${packages[@]}"; do
  grep -qxF "$p installed" <<<"$installed" || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0

sudo=""
[ "$(id -u)" -eq 0 ] || sudo=sudo
$sudo apt-get update -qq
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
