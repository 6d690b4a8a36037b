"""Writes the two graphs of the fixtures with networkx, scipy and Python's struct; make.sh has the rest."""

import csv
import pickle
import random
import struct

import networkx as nx
import numpy
import scipy.io
import scipy.sparse

karate = nx.Graph()
karate.add_nodes_from(range(34))
karate.add_weighted_edges_from(nx.karate_club_graph().edges(data="weight"))

random.seed(5)
directed = nx.gnp_random_graph(24, 0.12, seed=7, directed=True)
directed.remove_edges_from([e for e in directed.edges if 5 in e or 11 in e])  # two vertices without an edge
directed.add_edge(23, 0)
nx.set_edge_attributes(directed, {e: random.randint(1, 99) for e in directed.edges}, "weight")


def arcs(g):
    """The directed edges, sorted by source, with their weights."""
    return sorted(g.to_directed().edges(data="weight"))


def galois2(name, g, padded):
    """Galois's version 2, as its FileGraph.cpp documents it; libgalois writes it for more than 2^32 vertices only."""
    n, list_ = g.number_of_nodes(), arcs(g)
    with open(name, "wb") as f:
        f.write(struct.pack("<4Q", 2, 4, n, len(list_)))
        for v in range(n):
            f.write(struct.pack("<Q", sum(1 for e in list_ if e[0] <= v)))
        for _, u, _ in list_:
            f.write(struct.pack("<Q", u))
        if padded and len(list_) % 2:
            f.write(bytes(8))
        for _, _, w in list_:
            f.write(struct.pack("<i", w))


for name, g in {"karate": karate, "directed": directed}.items():
    nx.write_edgelist(g, name + ".el", data=False)
    nx.write_weighted_edgelist(g.to_directed(), name + ".wel")
    matrix = nx.to_scipy_sparse_array(g, nodelist=range(g.number_of_nodes()), dtype=int, weight="weight")
    scipy.io.mmwrite(name + ".mtx", scipy.sparse.coo_matrix(matrix), field="integer", symmetry="symmetric" if name == "karate" else "general")
galois2("directed.v2.gr", directed, padded=True)
galois2("directed.v2unpadded.gr", directed, padded=False)

# Edge lists with headers and names.
members = nx.relabel_nodes(karate, {v: f"Member, no. {v + 1}" for v in karate})
with open("karate.names.csv", "w", newline="") as f:
    out = csv.writer(f)
    out.writerow(["source", "target", "weight"])
    out.writerows(members.edges(data="weight"))
with open("directed.gephi.csv", "w", newline="") as f:
    out = csv.writer(f, quoting=csv.QUOTE_ALL)
    out.writerow(["Id", "Label", "Source", "Target", "Type", "Weight"])
    out.writerows([i, "", u, v, "Directed", w] for i, (u, v, w) in enumerate(arcs(directed)))
with open("davis.txt", "w") as f:
    for u, v in nx.davis_southern_women_graph().edges:
        f.write(f"{u.replace(' ', '_')} {v}\n")

# Files that are no graphs.
numpy.save("foreign.npy", numpy.arange(4))
numpy.savez("foreign.npz", numpy.arange(4))
for protocol in (2, 3, 4, 5):
    with open(f"foreign{protocol}.pickle", "wb") as f:
        pickle.dump({"edges": [(0, 1)]}, f, protocol)
nx.write_graphml(nx.path_graph(3), "foreign.graphml")
nx.write_gml(nx.path_graph(3), "foreign.gml")
nx.write_pajek(nx.path_graph(3), "foreign.net")
