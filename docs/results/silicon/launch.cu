// What a launch and a look cost the host: rounds of n empty kernels, with look = 1 followed by the copy of a word to the
// host, which waits for it. Prints n, look, and microseconds a round, the best of 20 repetitions of 2,000 rounds.
#include <algorithm>
#include <chrono>
#include <cstdio>

__global__ void nothing(unsigned *word) { if (threadIdx.x == 0 && blockIdx.x == 0) *word = 1; }

int main() {
  unsigned *word, host = 0;
  cudaMalloc(&word, 4);
  for (int kernels : {1, 2, 3, 4, 8}) {
    for (int look : {0, 1}) {
      double best = 1e9;
      for (int repeat = 0; repeat < 20; repeat++) {
        const int rounds = 2000;
        cudaDeviceSynchronize();
        auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < rounds; i++) {
          for (int k = 0; k < kernels; k++) nothing<<<132, 256>>>(word);
          if (look) cudaMemcpy(&host, word, 4, cudaMemcpyDeviceToHost);
        }
        cudaDeviceSynchronize();
        best = std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / rounds);
      }
      printf("%d,%d,%.3f\n", kernels, look, best);
    }
  }
  cudaError_t e = cudaGetLastError();
  if (e != cudaSuccess) { printf("%s\n", cudaGetErrorString(e)); return 1; }
  return host == 1 ? 0 : 1;
}
