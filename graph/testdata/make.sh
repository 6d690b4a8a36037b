#!/bin/sh
# Makes the fixtures again, beside this script; README.md says what is needed.
set -e
cd "$(dirname "$0")"
: "${GAPBS:?the directory of GAPBS, with converter built}" "${LIGRA:?Ligra's utils, built}" "${GALOIS:?galois.cpp, linked with libgalois}"

"${PYTHON:-python3}" make.py

"$GAPBS/converter" -f karate.el -s -b karate.sg
"$GAPBS/converter" -f karate.wel -s -w -b karate.wsg
"$GAPBS/converter" -f directed.el -b directed.sg
"$GAPBS/converter" -f directed.wel -w -b directed.wsg

"$LIGRA/SNAPtoAdj" -s karate.el karate.adj
"$LIGRA/wghSNAPtoAdj" -s karate.wel karate.wadj
"$LIGRA/SNAPtoAdj" directed.el directed.adj
"$LIGRA/wghSNAPtoAdj" directed.wel directed.wadj

for type in void int float int64 double; do
	"$GALOIS" directed.wel 24 "directed.$type.gr" "$type"
done

# Scotch writes the graph without weights. METIS's graphchk adds the reverse edges that the file it is given lacks (and says
# that they were missing), and writes the result with all that a METIS file may have.
gcv -im -oc karate.mtx karate.graph
awk 'BEGIN { for (v = 0; v < 34; v++) row[v] = 1 + v " " v " " v % 3 }
	$1 < $2 { row[$1] = row[$1] " " $2 + 1 " " $3; edges++ }
	END { print 34, edges / 2, "111", 2; for (v = 0; v < 34; v++) print row[v] }' karate.wel > half.graph
graphchk half.graph karate.weighted.graph || true
rm half.graph

for file in karate.el karate.sg; do
	xz -k -f $file
	bzip2 -k -f $file
	zstd -q -19 -k -f $file
done
{ head -n 40 karate.el | xz -9e; tail -n +41 karate.el | xz --check=sha256; } > karate.streams.el.xz
zstd -q --ultra -22 --long=27 -f karate.wel -o karate.long.wel.zst

# Decompression bombs: 64 MiB of empty comments, and windows larger than what is allowed.
yes '#' | head -c 67108864 > bomb
xz -9 -k -f bomb
bzip2 -k -f bomb
zstd -q -19 -k -f bomb
zstd -q --long=29 -c < bomb > window.zst
xz --lzma2=dict=192MiB -c < bomb > window.xz
rm bomb
