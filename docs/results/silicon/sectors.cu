// Do a cache's sectors take room alone, or does one take a line's? A thread follows a chain through all elements, stride
// bytes apart, in random order, again and again; from as many elements on as have no room, a load takes longer. Where a
// sector has room and tag of its own, that number does not depend on the stride; where four share a line, a stride of 128
// bytes has a quarter of it. Prints the cache, stride, elements, and cycles a load in the second pass over them, the least
// of three.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

template <bool l1> __device__ unsigned load(const unsigned char *p) {
  unsigned v;
  if (l1) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  else asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

template <bool l1> __global__ void chase(const unsigned char *base, size_t stride, unsigned n, long long *cycles, unsigned *last) {
  unsigned at = 0;
  for (unsigned i = 0; i < n; i++) at = load<l1>(base + at * stride);
  long long begin = clock64();
  for (unsigned i = 0; i < n; i++) at = load<l1>(base + at * stride);
  *cycles = clock64() - begin;
  *last = at;
}

int main() {
  const size_t room = size_t(4) << 30;
  unsigned char *base;
  long long *cycles;
  unsigned *last;
  cudaMalloc(&base, room);
  cudaMallocManaged(&cycles, 8);
  cudaMallocManaged(&last, 4);
  cudaFuncSetAttribute(chase<true>, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxL1);
  std::mt19937_64 random(1);
  for (bool l1 : {true, false}) {
    std::vector<unsigned> sizes;
    double from = l1 ? 512 : 1 << 17, to = l1 ? 20000 : 3.5e6, step = l1 ? 1.1 : 1.19;
    for (double n = from; n < to; n *= step) sizes.push_back(unsigned(n));
    for (size_t stride : {32, 64, 128, 256}) {
      for (unsigned n : sizes) {
        if (n * stride > room) continue;
        std::vector<unsigned> order(n), next(n);
        std::iota(order.begin(), order.end(), 0u);
        std::shuffle(order.begin() + 1, order.end(), random);
        for (unsigned i = 0; i < n; i++) next[order[i]] = order[(i + 1) % n];
        cudaMemcpy2D(base, stride, next.data(), 4, 4, n, cudaMemcpyHostToDevice);
        long long best = 1LL << 62;
        for (int repeat = 0; repeat < 3; repeat++) {
          if (l1) chase<true><<<1, 1>>>(base, stride, n, cycles, last);
          else chase<false><<<1, 1>>>(base, stride, n, cycles, last);
          cudaDeviceSynchronize();
          if (*last != 0) { printf("wrong\n"); return 1; }
          best = std::min(best, *cycles);
        }
        printf("%s,%zu,%u,%.1f\n", l1 ? "L1" : "L2", stride, n, double(best) / n);
      }
    }
  }
  cudaError_t e = cudaGetLastError();
  if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); return 1; }
}
