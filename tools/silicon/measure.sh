#!/bin/sh
# Builds and runs exported programs on the NVIDIA GPU of this machine, and writes one CSV.
#
#   sh measure.sh [RESULT.csv]       in the folder that tools/silicon wrote; needs nvcc, gunzip and a GPU
#
# RESULT.csv has the rows that heddle validate --silicon reads, RESULT.csv.others those of other algorithms, and
# RESULT.csv.gpu the GPU's clocks before and after.
#
# ARCH=sm_90     the GPU's architecture (native)
# JOBS=16        compilers at a time (as many as processors)
# MIN_BLOCKS=2   blocks of a multiprocessor for which nvcc has to leave registers
# REPEAT=21      timed runs of each point
# ONLY=bfs       run only lines of points.txt that match this pattern
# BLOCKS="6 60"  further numbers of thread blocks, each a config of its own (sm6, sm60): a block an SM
# REPLAY=1       also time runs as CUDA graphs, where the host takes no part in them (us_replay)
# DURATIONS=1    a further row of each point, of the kernels' own durations, as the GPU records them (CUPTI); its
#                config ends in -kernels; DURATIONS=only: that row alone
# CHECK=0        do not compare results with the reference
# PROGRAM=host   g++ in place of nvcc and a GPU: checks every program, and measures nothing of interest
set -u
cd "$(dirname "$0")" || exit 2
result=${1:-silicon.csv}
jobs=${JOBS:-$(nproc)}
repeat=${REPEAT:-21}
check=
[ "${CHECK:-1}" = 1 ] || check=--no-check
cupti=
if [ "${DURATIONS:-0}" != 0 ]; then
    toolkit=$(dirname "$(dirname "$(readlink -f "$(command -v "${NVCC:-nvcc}")")")")
    cupti="-DHEDDLE_CUPTI -I$toolkit/extras/CUPTI/include -L$toolkit/extras/CUPTI/lib64 -lcupti"
fi
export cupti
replay=
[ "${REPLAY:-0}" = 0 ] || replay=--replay

for g in graphs/*.hgr.gz; do
    [ -e "$g" ] && [ ! -e "${g%.gz}" ] && gunzip -k "$g"
done

if [ "${PROGRAM:-gpu}" = host ]; then
    program=program-host
    build='cd "$0" && g++ ${CXXFLAGS:--O2} -std=c++17 -ffp-contract=off -I../../library -o program-host -x c++ program.cu'
else
    program=program
    build='cd "$0" && ${NVCC:-nvcc} -O3 -std=c++17 -arch=${ARCH:-native} -fmad=false -I../../library \
        -DMIN_BLOCKS=${MIN_BLOCKS:-2} $cupti -o program program.cu'
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem --format=csv > "$result.gpu" || exit 2
fi
grep -e "${ONLY:-.}" points.txt > points.chosen
cut -f1 points.chosen | sort -u | while read -r p; do
    [ -x "programs/$p/$program" ] || echo "programs/$p"
done | xargs -r -n 1 -P "$jobs" sh -c "$build" || echo "some programs do not build" >&2

first=$(head -n 1 points.chosen | cut -f1)
"programs/$first/$program" --csv --help > "$result"
cp "$result" "$result.others"
wrong=0
measure() {
    if "programs/$p/$program" "$@" >> "$rows"; then
        echo "$p on $graph, $blocks blocks" >&2
    else
        echo "$p on $graph, $blocks blocks: WRONG OR FAILED" >&2
        wrong=$((wrong + 1))
    fi
}
while IFS="$(printf '\t')" read -r p graph source expected arguments; do
    for blocks in all ${BLOCKS:-}; do
        set -- --csv --graph "graphs/$graph.hgr" --repeat "$repeat" $check $replay
        if [ "$source" = - ]; then # a GraphIt program
            set -- "$@" --expected "expected/$expected" $arguments
        elif [ "$source" != default ]; then
            set -- "$@" --source "$source"
        fi
        [ ! -e "programs/$p/arrays.bin" ] || set -- "$@" --arrays "programs/$p/arrays.bin"
        config=
        if [ "$blocks" != all ]; then
            config=sm$blocks
            set -- "$@" --blocks "$blocks" --config "$config"
        fi
        rows=$result
        case $p in gt-* | spmv-* | in-degree-* | cc-soman-* | bfs-parents-*) rows=$result.others ;; esac
        [ "${DURATIONS:-0}" = only ] || measure "$@"
        [ -z "$cupti" ] || measure "$@" --durations ${config:+--config "$config-kernels"}
    done
done < points.chosen
[ "$program" = program-host ] ||
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem --format=csv >> "$result.gpu"
echo "$(cat "$result" "$result.others" | grep -vc '^variant,') rows, $wrong points wrong or failed" >&2
[ "$wrong" -eq 0 ]
