// What a device-wide barrier costs: a cooperative launch of n blocks of 512 threads that meet 20,000 times. Prints n and
// microseconds a barrier, the best of 10 launches, less those of an empty one.
#include <algorithm>
#include <chrono>
#include <cooperative_groups.h>
#include <cstdio>

__global__ void meet(unsigned *word, int times) {
  auto grid = cooperative_groups::this_grid();
  for (int i = 0; i < times; i++) grid.sync();
  if (grid.thread_rank() == 0) *word += times;
}

static double launch(unsigned *word, int blocks, int times) {
  double best = 1e18;
  for (int repeat = 0; repeat < 10; repeat++) {
    void *arguments[] = {&word, &times};
    cudaDeviceSynchronize();
    auto begin = std::chrono::steady_clock::now();
    cudaLaunchCooperativeKernel((void *)meet, blocks, 512, arguments, 0, 0);
    cudaDeviceSynchronize();
    best = std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

int main() {
  unsigned *word;
  cudaMalloc(&word, 4);
  cudaMemset(word, 0, 4);
  const int times = 20000;
  for (int blocks : {1, 2, 8, 30, 60, 132, 264, 528}) {
    double all = launch(word, blocks, times), empty = launch(word, blocks, 0);
    printf("%d,%.3f\n", blocks, (all - empty) / times);
  }
  cudaError_t e = cudaGetLastError();
  if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); return 1; }
  return 0;
}
