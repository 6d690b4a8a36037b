package looptest

// Language has GraphIt programs with the constructs that Check replaces by simpler ones, or that few programs have, for
// tests. argv[2] is a vertex; operators over edges have the labels one and two.
var Language = map[string]string{
	"functors": languageHead + `
const total : vector[1](int) = 0;
func twice[a : vector{Vertex}(int)](v : Vertex) -> n : int
    n = 2 * a[v];
end
func add[a : vector{Vertex}(int), b : vector{Vertex}(int), by : int](src : Vertex, dst : Vertex)
    b[dst] += twice[a](src) + by;
end
func small[a : vector{Vertex}(int), most : int](v : Vertex) -> yes : bool
    yes = a[v] < most;
end
func count(v : Vertex)
    atomicAdd(total, 0, 1);
end
func main()
    var local : vector{Vertex}(int) = 1;
    par_for round in 0:3
        var sums : vector{Vertex}(int) = 0;
        var limit : int = 5 + round;
        #one# edges.to(small[local, 100]).apply(add[local, sums, round]);
        var few : vertexset{Vertex} = vertices.filter(small[sums, limit]);
        few.apply(count);
        local = sums;
        delete few;
        delete sums;
    end
    numbers = local;
    print total[0] > 0;
end`,
	"functions of the host": languageHead + `
const four : vector[4](int) = {4, 3, 2, 1};
func reach(src : Vertex, dst : Vertex)
    numbers[dst] min= numbers[src] + 1;
end
func far(v : Vertex)
    numbers[v] = 1000;
end
func search(from : int, most : int) -> rounds : int
    vertices.apply(far);
    numbers[from] = 0;
    var frontier : vertexset{Vertex} = new vertexset{Vertex}(0);
    frontier.addVertex(from);
    while (frontier.getVertexSetSize() != 0)
        #one# var next : vertexset{Vertex} = edges.from(frontier).applyModified(reach, numbers, true);
        delete frontier;
        frontier = next;
        rounds += 1;
        if (rounds == most)
            break;
        end
    end
    delete frontier;
end
func larger(v : vector[4](int)) -> w : vector[4](int)
    for i in 0:4
        w[i] = v[i] + four[i];
    end
end
func show(v : Vertex)
    if numbers[v] < 2
        print numbers[v];
    end
end
func main()
    var found : vector[4](int) = larger(four);
    var rounds : int = search(found[3], 2) + search(atoi(argv[2]), 1000000);
    print found.sum(), found.max(), rounds > 2;
    vertices.apply(show);
end`,
	"vectors of vectors": languageHead + `
const rows : vector{Vertex}(vector[3](int)) = 1;
const before : vector{Vertex}(vector[3](int)) = 1;
const reals : vector{Vertex}(vector[2](float)) = 0.5;
const table : vector[2](vector[2](int));
func mix(src : Vertex, dst : Vertex)
    for i in 0:3
        rows[dst][i] max= before[src][2 - i] + i;
    end
    reals[dst][1] += reals[src][0] * 0.25;
end
func level(v : Vertex)
    var all : int = 0;
    for i in 0:3
        all += rows[v][i];
        before[v][i] = rows[v][i] - v;
    end
    numbers[v] = all;
    rows[v][0] = v;
end
func main()
    for i in 0:2
        #one# edges.apply(mix);
        vertices.apply(level);
        table[i][1 - i] = 7 + i;
    end
    print table[0][1], table[1][0], table.sum(), rows[3][0];
end`,
	"triangles": languageHead + `
const counts : vector{Vertex}(uint_64) = 0;
const sizes : vector{Vertex}(int) = 0;
const all : uint_64 = 0;
func triangle(src : Vertex, dst : Vertex)
    if dst < src
        counts[src] += intersectNeighbor(edges, src, dst);
    end
end
func meet(src : Vertex, dst : Vertex)
    var a : vertexset{Vertex} = edges.getNgh(src);
    var b : vertexset{Vertex} = edges.getNgh(dst);
    var n : uint_64 = intersection(a, b, edges.getOutDegree(src), b.getVertexSetSize());
    sizes[src] max= n;
end
func main()
    edges = edges.relabel();
    #one# edges.apply(triangle);
    #two# edges.apply(meet);
    all = counts.sum();
    print all;
end`,
	"a path": languageHead + `
const dist : vector{Vertex}(int) = 2147483647;
const pq : priority_queue{Vertex}(int);
func relax(src : Vertex, dst : Vertex, weight : int)
    pq.updatePriorityMin(dst, dist[dst], dist[src] + weight);
end
func main()
    var from : int = atoi(argv[2]);
    dist[from] = 0;
    pq = new priority_queue{Vertex}(int)(false, false, dist, 1, 2, false, from);
    while (pq.finishedNode(1) == false)
        var bucket : vertexset{Vertex} = pq.dequeue_ready_set();
        #one# edges.from(bucket).applyUpdatePriority(relax);
        delete bucket;
    end
    print dist[1];
end`,
	"results of functions of edges": languageHead + `
func better(src : Vertex, dst : Vertex) -> output : bool
    numbers[dst] min= src;
    output = src * 3 < dst * 2 or src == dst;
end
func quiet(src : Vertex, dst : Vertex) -> unused : bool
    numbers[src] max= dst;
end
func start(v : Vertex)
    numbers[v] = 100000;
end
func main()
    vertices.apply(start);
    var n : int = 0;
    var frontier : vertexset{Vertex} = new vertexset{Vertex}(vertices.size());
    for i in 0:3
        #one# var output : vertexset{Vertex} = edges.from(frontier).apply(better);
        delete frontier;
        frontier = output;
        n += frontier.size();
    end
    #two# edges.apply(quiet);
    edges.from(frontier).apply(better);
    print n;
end`,
	"writeMin": languageHead + `
const dist : vector{Vertex}(int) = 2147483647;
const bound : vector{Vertex}(int) = 2147483647;
const pq : priority_queue{Vertex}(int);
func relax(src : Vertex, dst : Vertex, weight : int)
    var now : int = dist[src] + weight;
    var changed : bool = writeMin(dist, dst, now);
    if changed
        pq.updatePriorityMin(dst, bound[dst], max(now, bound[src]));
    end
end
func main()
    var from : int = atoi(argv[2]);
    dist[from] = 0;
    bound[from] = 0;
    pq = new priority_queue{Vertex}(int)(false, false, bound, 1, 2, false, from);
    while (pq.finished() == false)
        var bucket : vertexset{Vertex} = pq.dequeue_ready_set();
        #one# edges.from(bucket).applyUpdatePriority(relax);
        delete bucket;
    end
end`,
	"exported functions": `
element Vertex end
element Edge end
const edges : edgeset{Edge}(Vertex, Vertex, int);
const vertices : vertexset{Vertex};
const level : vector{Vertex}(int);
const degree : vector{Vertex}(int);
const share : float;
const ranks : vector{Vertex}(float);
func far(v : Vertex)
    level[v] = 1000;
    ranks[v] = share * degree[v];
end
func reach(src : Vertex, dst : Vertex)
    level[dst] min= level[src] + 1;
end
export func load_graph(given : edgeset{Edge}(Vertex, Vertex, int))
    edges = given;
    vertices = edges.getVertices();
    degree = edges.getOutDegrees();
    level = new vector{Vertex}(int)();
    ranks = new vector{Vertex}(float)();
    share = 1.0 / edges.getVertices();
    vertices.apply(far);
end
export func search(from : int) -> found : vector{Vertex}(int)
    level[from] = 0;
    for i in 0:4
        #one# edges.apply(reach);
    end
    found = level;
end`,
}

const languageHead = `
element Vertex end
element Edge end
const edges : edgeset{Edge}(Vertex, Vertex, int) = load(argv[1]);
const vertices : vertexset{Vertex} = edges.getVertices();
const numbers : vector{Vertex}(int) = 0;
`
