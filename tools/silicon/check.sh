#!/bin/sh
# Builds exported programs, and checks the result of each on each graph, several programs at once; measures nothing.
#
#   sh check.sh [RESULT.csv]       in the folder that tools/silicon wrote; needs nvcc, gunzip and a GPU
#
# RESULT.csv has a row for each point: point, graph, result (right, or what was wrong).
#
# ARCH=sm_90        the GPU's architecture (native)
# JOBS=16           programs at a time (as many as processors)
# ONLY=bfs          only lines of points.txt that match this pattern
# PART=2/3          the second third of them
# BATCH=8           programs that are compiled as one, which takes a third of the time
# WRAP="COMMAND"    what runs the programs: compute-sanitizer --error-exitcode 9
# PROGRAM=host      g++ in place of nvcc and a GPU
set -u
cd "$(dirname "$0")" || exit 2
result=${1:-checked.csv}
jobs=${JOBS:-$(nproc)}
part=${PART:-1/1}

for g in graphs/*.hgr.gz; do
    [ -e "$g" ] && [ ! -e "${g%.gz}" ] && gunzip -k "$g"
done

if [ "${PROGRAM:-gpu}" = host ]; then
    build='g++ ${CXXFLAGS:--O1} -std=c++17 -ffp-contract=off -I ../../library -o all -x c++ all.cu'
else
    build='${NVCC:-nvcc} ${NVCCFLAGS:--O3} -std=c++17 -arch=${ARCH:-native} -fmad=false -I ../../library -o all all.cu'
fi
export build

# A batch, from its lines of points.txt, is a program with the main of each as a function. What does not build together
# is built one by one.
cat > batch.sh <<'END'
dir=batches/$(printf '%s' "$*" | cksum | cut -d' ' -f1)
mkdir -p "$dir"
{
    echo '#include "heddle.h"'
    case "$*" in *gt-*) echo '#include "graphit.h"' ;; esac
    n=0
    for line; do
        p=$(printf '%s' "$line" | cut -f1)
        printf 'namespace p%d {\n#define main program\n#include "../../programs/%s/program.cu"\n#undef main\n}\n' $n "$p"
        n=$((n + 1))
    done
    printf 'int main(int argc, char** argv)\n{\n    switch (atoi(argv[1])) {\n'
    for i in $(seq 0 $((n - 1))); do
        printf '    case %d: return p%d::program(argc - 1, argv + 1);\n' "$i" "$i"
    done
    printf '    }\n    return 9;\n}\n'
} > "$dir/all.cu"
if ! (cd "$dir" && eval "$build" > build.log 2>&1); then
    if [ $# -gt 1 ]; then
        for line; do sh batch.sh "$line"; done
    else
        printf '%s,does not build: %s\n' "$(printf '%s' "$1" | cut -f1,2 | tr '\t' ,)" \
            "$(grep -m 1 error "$dir/build.log" | tr ',"' ";'")"
    fi
    exit
fi
n=0
for line; do
    p=$(printf '%s' "$line" | cut -f1)
    graph=$(printf '%s' "$line" | cut -f2)
    source=$(printf '%s' "$line" | cut -f3)
    set -- --graph "../../graphs/$graph.hgr" --repeat 0
    if [ "$source" = - ]; then # a GraphIt program
        set -- "$@" --expected "../../expected/$(printf '%s' "$line" | cut -f4)" $(printf '%s' "$line" | cut -f5)
    elif [ "$source" != default ]; then
        set -- "$@" --source "$source"
    fi
    (cd "programs/$p" && timeout 300 ${WRAP:-} "../../$dir/all" $n "$@" > run.log 2>&1)
    code=$?
    if [ $code -eq 0 ] && grep -q '"result": "right"' "programs/$p/run.log"; then
        printf '%s,%s,right\n' "$p" "$graph"
    else
        printf '%s,%s,exit code %d: %s\n' "$p" "$graph" $code "$(tail -n 2 "programs/$p/run.log" | tr ',"\n' ";' ")"
    fi
    n=$((n + 1))
done
rm -r "$dir"
END

echo point,graph,result > "$result"
grep -e "${ONLY:-.}" points.txt |
    awk -v of="${part#*/}" -v nth="${part%/*}" 'NR % of == nth % of' |
    xargs -r -d '\n' -n "${BATCH:-8}" -P "$jobs" sh batch.sh >> "$result"
all=$(($(wc -l < "$result") - 1))
right=$(grep -c ',right$' "$result")
echo "$right of $all points right" >&2
[ "$right" -eq "$all" ]
