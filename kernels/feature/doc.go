// Package feature computes on graphs whose vertices and edges have k numbers each, features: graph-based learning as in
// ONYX (L. Vaz, Towards Feature-Aware Graph Processing on the GPU, SFU 2021). An algorithm consists of functions of
// edges and of vertices, written once; their mapping to lanes is a choice:
//
//   - feature-aware (FA), a group of lanes shares an edge or a vertex, a lane a feature, so that its loads, stores and
//     atomics access neighbouring words (§5.1); not feature-aware (NFA), one lane has all of them;
//   - change-driven (CD), only vertices of which a feature has changed by more than epsilon send, and they send the
//     change (§4.2); not change-driven (NCD), all vertices send their values in every super-step;
//   - functions of vertices folded into one kernel, or a kernel for each (§6).
//
// Properties are arrays of structures (Fig. 4.3): feature f of vertex v is word v·k + f.
//
// It knows no schedule: package featured distributes the edges by any of them.
package feature
