// Four of ONYX's algorithms on k = 4 features (L. Vaz, SFU 2021, Fig. 2.1), with and without feature-aware (FA) and
// change-driven (CD) processing, written from the thesis and apart from heddle's kernels: edges are shared by a warp,
// which finds an edge's source by a binary search over its 32 vertices' degrees (§5.1). Prints, for each, the
// milliseconds of the least of three runs to convergence (no feature changes by more than 0.001; als: ten super-steps),
// the host's loop and its look at a flag included, the super-steps, the edges handled, and the largest difference of a
// feature from NFA/NCD's, over 1 and its magnitude. Nothing else checks the results: those of CD lose changes below
// 0.001, and als, which does not converge, makes roundings large.
//
//   nvcc -O3 -arch=native -o features features.cu (-DFEATURES=8: other numbers, lp and mmr alone)
//   ./features NAME EDGES.txt     pairs of numbers, made symmetric (uniform: 8 million pairs below 524,288, by awk's rand); or
//   ./features NAME rmat SCALE EDGE_FACTOR; or
//   ./features NAME grid WIDTH KEPT: a lattice, of whose edges a part is kept
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>
#define OK(x) do { cudaError_t e_ = (x); if (e_) { fprintf(stderr, "%s: %s\n", #x, cudaGetErrorString(e_)); exit(2); } } while (0)
typedef uint32_t u32;
typedef unsigned long long u64;
enum Algorithm { LP, ALS, MMR, MML };
const char *names[] = {"lp", "als", "mmr", "mml"};
#ifndef FEATURES
#define FEATURES 4
#endif
const int K = FEATURES; // 1, 2, 4, 8, 16 or 32
const u32 ALL = 0xffffffffu;
const float damping = 0.85f, lambda = 0.05f, epsilon = 0.001f;

struct Graph {
	u32 n;
	u64 m;
	u32 *off, *ids;
	float *w, *ew, *shares; // one, K and K numbers an edge
};

struct State {
	float *now, *before, *first, *sum, *weights, *matrix; // K numbers a vertex; matrix: K·K
	unsigned char *active;
	u64 *counts; // of changed vertices, and of their edges
};

__device__ __host__ inline float draw(u64 i, u64 purpose) {
	u64 z = (i + 1) * 0x9E3779B97F4A7C15ull ^ purpose << 32;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ z >> 27) * 0x94D049BB133111EBull;
	return float((z ^ z >> 31) >> 40) * 0x1p-24f;
}

template <int A, bool CD> __device__ inline void edge(const Graph &g, const State &s, u32 e, u32 u, u32 v, int f, bool once) {
	float x = s.now[u * K + f], old = CD ? s.before[u * K + f] : 0, change = x - old;
	if (A == LP) atomicAdd(&s.sum[v * K + f], g.w[e] * change);
	if (A == MMR) {
		float w = g.ew[e * K + f];
		if (once) atomicAdd(&s.weights[v * K + f], w);
		atomicAdd(&s.sum[v * K + f], w * change);
	}
	if (A == MML)
		for (int r = 0; r < K; r++) atomicAdd(&s.matrix[(v * K + r) * K + f], g.shares[e * K + r] * change);
	if (A == ALS) {
		atomicAdd(&s.sum[v * K + f], g.w[e] * change);
		for (int r = 0; r < K; r++) {
			float product = s.now[u * K + r] * x;
			if (CD) product -= s.before[u * K + r] * old;
			atomicAdd(&s.matrix[(v * K + r) * K + f], product);
		}
	}
}

template <int A, bool FA, bool CD> __global__ void edges(Graph g, State s, bool once) {
	__shared__ u32 ends[32][32], starts[32][32];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	for (u32 base = (blockIdx.x * (blockDim.x / 32) + warp) * 32; base < g.n; base += gridDim.x * blockDim.x) {
		u32 v = base + lane, degree = 0, start = 0;
		if (v < g.n && (!CD || s.active[v])) start = g.off[v], degree = g.off[v + 1] - start;
		u32 end = degree;
		for (int d = 1; d < 32; d *= 2) {
			u32 x = __shfl_up_sync(ALL, end, d);
			if (lane >= d) end += x;
		}
		u32 total = __shfl_sync(ALL, end, 31);
		ends[warp][lane] = end, starts[warp][lane] = start - (end - degree);
		__syncwarp();
		for (u32 i = FA ? lane / K : lane; i < total; i += FA ? 32 / K : 32) {
			int at = 0;
			for (int d = 16; d; d /= 2)
				if (ends[warp][at + d - 1] <= i) at += d;
			u32 e = starts[warp][at] + i, to = g.ids[e];
			if (FA) edge<A, CD>(g, s, e, base + at, to, lane % K, once);
			else for (int f = 0; f < K; f++) edge<A, CD>(g, s, e, base + at, to, f, once);
		}
		__syncwarp();
	}
}

// solve by Gauss-Jordan elimination: a lane has the whole system, or with FA a row of it.
__device__ inline void solveAlone(float a[K][K], float b[K]) {
	for (int c = 0; c < K; c++) {
		float by = 1 / a[c][c];
		for (int k = 0; k < K; k++) a[c][k] *= by;
		b[c] *= by;
		for (int r = 0; r < K; r++) {
			if (r == c) continue;
			float x = a[r][c];
			for (int k = 0; k < K; k++) a[r][k] -= x * a[c][k];
			b[r] -= x * b[c];
		}
	}
}

__device__ inline float solveTogether(float a[K], float b, int row) {
	for (int c = 0; c < K; c++) {
		float by = 1 / __shfl_sync(ALL, a[c], c, K), x = a[c];
		for (int k = 0; k < K; k++) {
			float p = __shfl_sync(ALL, a[k], c, K) * by;
			a[k] = row == c ? p : a[k] - x * p;
		}
		float p = __shfl_sync(ALL, b, c, K) * by;
		b = row == c ? p : b - x * p;
	}
	return b;
}

__device__ inline float total(float x) {
	for (int d = 1; d < K; d *= 2) x += __shfl_xor_sync(ALL, x, d);
	return x;
}

template <int A> __device__ inline float mean(const State &s, u32 v, int f) {
	u32 at = v * K + f;
	if (A == MMR) {
		float w = s.weights[at];
		return damping * s.sum[at] / (w > 0 ? w : 1) + (1 - damping) * s.first[at];
	}
	float x = (1 - damping) * s.first[at]; // MML
	for (int r = 0; r < K; r++) x += damping * 2 * (r + 1) / (K * (K + 1)) * s.matrix[(v * K + r) * K + f];
	return x;
}

template <int A, bool FA> __global__ void vertices(Graph g, State s) {
	u32 lanes = FA ? K : 1, all = (g.n * lanes + 31) / 32 * 32, edges = 0, changed = 0;
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += gridDim.x * blockDim.x) {
		u32 v = i / lanes;
		bool in = v < g.n, differs = false;
		if (FA) {
			int f = i % K;
			u32 at = in ? v * K + f : 0;
			float own = s.now[at], next;
			if (A == LP) {
				float x = s.sum[at], all = total(x);
				next = all > 0 ? damping * (x / all) + (1 - damping) * own : own;
				next /= total(next);
			} else if (A == ALS) {
				float a[K];
				for (int c = 0; c < K; c++) a[c] = s.matrix[at * K + c] + (c == f ? lambda : 0);
				next = solveTogether(a, s.sum[at], f);
			} else next = mean<A>(s, in ? v : 0, f);
			differs = in && fabsf(next - own) > epsilon;
			if (in) s.before[at] = own, s.now[at] = next;
			u32 votes = __ballot_sync(ALL, differs) >> (threadIdx.x % 32 / K * K) & ALL >> 32 - K;
			differs = votes != 0;
			if (f) in = false;
		} else if (in) {
			float next[K];
			if (A == LP) {
				float all = 0, left = 0;
				for (int f = 0; f < K; f++) all += s.sum[v * K + f];
				for (int f = 0; f < K; f++) {
					float own = s.now[v * K + f];
					next[f] = all > 0 ? damping * (s.sum[v * K + f] / all) + (1 - damping) * own : own;
					left += next[f];
				}
				for (int f = 0; f < K; f++) next[f] /= left;
			} else if (A == ALS) {
				float a[K][K];
				for (int r = 0; r < K; r++) {
					next[r] = s.sum[v * K + r];
					for (int c = 0; c < K; c++) a[r][c] = s.matrix[(v * K + r) * K + c] + (r == c ? lambda : 0);
				}
				solveAlone(a, next);
			} else
				for (int f = 0; f < K; f++) next[f] = mean<A>(s, v, f);
			for (int f = 0; f < K; f++) {
				float own = s.now[v * K + f];
				differs |= fabsf(next[f] - own) > epsilon;
				s.before[v * K + f] = own, s.now[v * K + f] = next[f];
			}
		}
		if (in) {
			s.active[v] = differs;
			if (differs) changed++, edges += g.off[v + 1] - g.off[v];
		}
	}
	changed = __reduce_add_sync(ALL, changed), edges = __reduce_add_sync(ALL, edges);
	if (threadIdx.x % 32 == 0 && changed) atomicAdd(&s.counts[0], changed), atomicAdd(&s.counts[1], edges);
}

__global__ void start(u32 n, State s, bool distributions) {
	for (u32 v = blockIdx.x * blockDim.x + threadIdx.x; v < n; v += gridDim.x * blockDim.x) {
		float x[K], sum = 0;
		for (int f = 0; f < K; f++) sum += x[f] = draw(u64(v) * K + f, 1) + (distributions ? 0x1p-10f : 0);
		for (int f = 0; f < K; f++) {
			u32 at = v * K + f;
			s.now[at] = s.first[at] = distributions ? x[f] / sum : x[f];
			s.before[at] = s.sum[at] = s.weights[at] = 0;
			for (int r = 0; r < K; r++) s.matrix[at * K + r] = 0;
		}
		s.active[v] = 1;
	}
}

template <int A, bool FA, bool CD> void measure(const char *graph, const Graph &g, const State &s, int sms, std::vector<float> &want) {
	cudaEvent_t begin, end;
	OK(cudaEventCreate(&begin));
	OK(cudaEventCreate(&end));
	float best = 1e30f;
	int steps = 0;
	u64 handled = 0;
	for (int n = 0; n < 3; n++) {
		start<<<1024, 256>>>(g.n, s, A == LP);
		OK(cudaDeviceSynchronize());
		OK(cudaEventRecord(begin));
		u64 counts[2] = {g.n, g.m};
		for (steps = 0, handled = 0; counts[0] && steps < (A == ALS ? 10 : 300); steps++) {
			handled += CD ? counts[1] : g.m;
			if (!CD) {
				OK(cudaMemsetAsync(s.sum, 0, u64(g.n) * K * 4));
				if (A == MMR) OK(cudaMemsetAsync(s.weights, 0, u64(g.n) * K * 4));
				if (A == MML || A == ALS) OK(cudaMemsetAsync(s.matrix, 0, u64(g.n) * K * K * 4));
			}
			OK(cudaMemsetAsync(s.counts, 0, 16));
			edges<A, FA, CD><<<sms * 8, 256>>>(g, s, !CD || steps == 0);
			vertices<A, FA><<<sms * 8, 256>>>(g, s);
			OK(cudaMemcpy(counts, s.counts, 16, cudaMemcpyDeviceToHost));
		}
		OK(cudaEventRecord(end));
		OK(cudaEventSynchronize(end));
		float ms;
		OK(cudaEventElapsedTime(&ms, begin, end));
		best = std::min(best, ms);
	}
	std::vector<float> got(u64(g.n) * K);
	OK(cudaMemcpy(got.data(), s.now, got.size() * 4, cudaMemcpyDeviceToHost));
	if (want.empty()) want = got;
	double most = 0;
	for (u64 i = 0; i < got.size(); i++) most = std::max(most, double(fabsf(got[i] - want[i])) / (1 + fabsf(want[i])));
	printf("%s,%u,%llu,%s,%s/%s,%.3f,%d,%llu,%.2g\n", graph, g.n, g.m, names[A], FA ? "FA" : "NFA", CD ? "CD" : "NCD", best, steps, handled, most);
	fflush(stdout);
}

template <int A> void all(const char *graph, const Graph &g, const State &s, int sms) {
	std::vector<float> want;
	measure<A, false, false>(graph, g, s, sms, want);
	measure<A, true, false>(graph, g, s, sms, want);
	measure<A, false, true>(graph, g, s, sms, want);
	measure<A, true, true>(graph, g, s, sms, want);
}

template <class T> T *room(u64 n) {
	T *p;
	OK(cudaMalloc(&p, std::max<u64>(n, 1) * sizeof(T)));
	return p;
}

__global__ void weigh(Graph g) {
	for (u64 e = blockIdx.x * u64(blockDim.x) + threadIdx.x; e < g.m; e += u64(gridDim.x) * blockDim.x) {
		g.w[e] = 1 + floorf(draw(e, 2) * 64);
		for (int f = 0; f < K; f++) g.ew[e * K + f] = draw(e * K + f, 3) + 0x1p-8f;
	}
}

__global__ void sums(Graph g, float *of) {
	for (u64 e = blockIdx.x * u64(blockDim.x) + threadIdx.x; e < g.m; e += u64(gridDim.x) * blockDim.x)
		for (int f = 0; f < K; f++) atomicAdd(&of[g.ids[e] * K + f], g.ew[e * K + f]);
}

__global__ void share(Graph g, float *of) {
	for (u64 e = blockIdx.x * u64(blockDim.x) + threadIdx.x; e < g.m; e += u64(gridDim.x) * blockDim.x)
		for (int f = 0; f < K; f++) g.shares[e * K + f] = g.ew[e * K + f] / of[g.ids[e] * K + f];
}

int main(int argc, char **argv) {
	if (argc < 3) return 2;
	std::vector<std::pair<u32, u32>> list;
	u32 n = 0;
	auto both = [&](u32 a, u32 b) { if (a != b) list.push_back({a, b}), list.push_back({b, a}); };
	if (!strcmp(argv[2], "rmat")) {
		int scale = atoi(argv[3]);
		n = 1u << scale;
		std::vector<u32> number(n);
		for (u32 i = 0; i < n; i++) number[i] = i;
		for (u32 i = n - 1; i; i--) std::swap(number[i], number[u32(draw(i, 9) * (i + 1))]);
		for (u64 e = 0; e < u64(atof(argv[4]) * n); e++) {
			u32 a = 0, b = 0;
			for (int i = 0; i < scale; i++) {
				float x = draw(e * 32 + i, 10);
				a = a * 2 + (x >= 0.76f), b = b * 2 + (x >= 0.57f && x < 0.76f || x >= 0.95f);
			}
			both(number[a], number[b]);
		}
	} else if (!strcmp(argv[2], "grid")) {
		u32 width = atoi(argv[3]);
		n = width * width;
		for (u32 v = 0; v < n; v++) {
			if (v % width + 1 < width && draw(v, 11) < atof(argv[4])) both(v, v + 1);
			if (v + width < n && draw(v, 12) < atof(argv[4])) both(v, v + width);
		}
	} else {
		std::unordered_map<u64, u32> numbers;
		auto number = [&](u64 id) { return numbers.emplace(id, u32(numbers.size())).first->second; };
		FILE *f = fopen(argv[2], "r");
		if (!f) return 2;
		char line[256];
		u64 a, b;
		while (fgets(line, sizeof line, f))
			if (line[0] != '#' && line[0] != '%' && sscanf(line, "%llu %llu", (u64 *)&a, (u64 *)&b) == 2) {
				u32 x = number(a), y = number(b);
				both(x, y);
			}
		n = numbers.size();
	}
	std::sort(list.begin(), list.end());
	list.erase(std::unique(list.begin(), list.end()), list.end());
	Graph g;
	g.n = n, g.m = list.size();
	std::vector<u32> off(n + 1), ids(g.m);
	for (auto &e : list) off[e.first + 1]++;
	for (u32 v = 0; v < n; v++) off[v + 1] += off[v];
	for (u64 e = 0; e < g.m; e++) ids[e] = list[e].second;
	g.off = room<u32>(n + 1), g.ids = room<u32>(g.m), g.w = room<float>(g.m), g.ew = room<float>(g.m * K), g.shares = room<float>(g.m * K);
	OK(cudaMemcpy(g.off, off.data(), off.size() * 4, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(g.ids, ids.data(), ids.size() * 4, cudaMemcpyHostToDevice));
	State s;
	for (float **x : {&s.now, &s.before, &s.first, &s.sum, &s.weights}) *x = room<float>(u64(n) * K);
	s.matrix = room<float>(u64(n) * K * K), s.active = room<unsigned char>(n), s.counts = room<u64>(2);
	weigh<<<1024, 256>>>(g);
	OK(cudaMemset(s.weights, 0, u64(n) * K * 4));
	sums<<<1024, 256>>>(g, s.weights);
	share<<<1024, 256>>>(g, s.weights);
	OK(cudaDeviceSynchronize());
	cudaDeviceProp p;
	OK(cudaGetDeviceProperties(&p, 0));
	all<LP>(argv[1], g, s, p.multiProcessorCount);
	all<MMR>(argv[1], g, s, p.multiProcessorCount);
#if FEATURES == 4
	all<ALS>(argv[1], g, s, p.multiProcessorCount);
	all<MML>(argv[1], g, s, p.multiProcessorCount);
#endif
}
