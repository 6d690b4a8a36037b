#include "galois/Galois.h"
#include "galois/graphs/FileGraph.h"
#include <cstdio>
#include <fstream>
#include <iostream>
#include <vector>
// usage: w in.wel n out.gr void|int|float|int64|double
using W = galois::graphs::FileGraphWriter;
struct E { unsigned u, v; double w; };
template <typename T> void fill(W& g, std::vector<E>& es) {
  g.setNumEdges<T>(es.size()); g.phase1();
  for (auto& e : es) g.incrementDegree(e.u);
  g.phase2();
  for (auto& e : es) { if constexpr (std::is_void<T>::value) g.addNeighbor(e.u, e.v); else g.addNeighbor<T>(e.u, e.v, (T)e.w); }
  g.finish();
}
int main(int c, char** a) {
  galois::SharedMemSys G;
  std::ifstream in(a[1]); std::vector<E> es; E e;
  while (in >> e.u >> e.v >> e.w) es.push_back(e);
  W g; g.setNumNodes(atoi(a[2])); std::string t = a[4];
  if (t == "void") fill<void>(g, es); else if (t == "int") fill<int32_t>(g, es); else if (t == "float") fill<float>(g, es);
  else if (t == "int64") fill<int64_t>(g, es); else fill<double>(g, es);
  g.toFile(a[3]);
}
