// Package looptest has GraphIt programs with loops that can be fused, for tests.
package looptest

import "strings"

const (
	head = `
element Vertex end
element Edge end
const edges : edgeset{Edge}(Vertex, Vertex, int) = load(argv[1]);
const vertices : vertexset{Vertex} = edges.getVertices();
const degree : vector{Vertex}(int) = edges.getOutDegrees();
const parent : vector{Vertex}(int) = -1;
const seen : vector{Vertex}(int) = 0;
const left : vector{Vertex}(int) = 0;
const rounds : vector{Vertex}(int) = 0;
const a : vector{Vertex}(int) = 1;
const b : vector{Vertex}(int) = 0;
const distance : vector{Vertex}(int) = 2147483647;
const pq : priority_queue{Vertex}(int);
func unreached(v : Vertex) -> output : bool
    output = parent[v] == -1;
end
func reach(src : Vertex, dst : Vertex)
    parent[dst] = src;
end
func see(v : Vertex)
    seen[v] += 1;
end
func mark(v : Vertex)
    seen[v] = 1; % how often depends on who was first
end
func copy(v : Vertex)
    left[v] = distance[v];
end
func leave(v : Vertex)
    left[v] += rounds[v] + 1;
end
func count(v : Vertex)
    rounds[v] += 1;
end
func forget(v : Vertex)
    parent[v] = -1;
end
func there(src : Vertex, dst : Vertex)
    a[dst] += b[src];
end
func back(src : Vertex, dst : Vertex)
    b[dst] += a[src];
end
func halve(v : Vertex)
    a[v] = a[v] / 1024;
end
func odd(v : Vertex) -> output : bool
    rounds[v] += 1;
    output = a[v] - a[v] / 2 * 2 != 0;
end
func relax(src : Vertex, dst : Vertex, weight : int)
    pq.updatePriorityMin(dst, distance[dst], distance[src] + weight);
end
`
	reaching = `
    var next : vertexset{Vertex} = edges.from(frontier).to(unreached).applyModified(reach, parent, true);
`
)

// Programs are programs with a loop that can be fused, for constructs that heddle's own programs do not use.
var Programs = map[string]string{
	"an end after a number of rounds": head + `
func main()
    var frontier : vertexset{Vertex} = new vertexset{Vertex}(0);
    frontier.addVertex(3);
    parent[3] = 3;
    var limit : int = 1;
    var round : int = 0;
    #loop# while (frontier.size() > 0)` + reaching + `
        next.apply(see);
        delete frontier;
        frontier = next;
        round += 1;
        if round > limit
            if round == 2
                print round;
                break;
            end
        else
            limit = 2 - round;
        end
    end
    frontier.apply(leave);
    print round;
end`,
	"its vertices and the next ones": head + `
func main()
    var frontier : vertexset{Vertex} = new vertexset{Vertex}(0);
    frontier.addVertex(3);
    parent[3] = 3;
    #loop# while (frontier.size() > 0)
        frontier.apply(leave);` + reaching + `
        next.apply(see);
        vertices.apply(count);
        delete frontier;
        frontier = next;
    end
end`,
	"a list's sets, there and back": head + `
func main()
    var frontier : vertexset{Vertex} = new vertexset{Vertex}(0);
    var levels : list{vertexset{Vertex}} = new list{vertexset{Vertex}}();
    var depth : int = 0;
    frontier.addVertex(3);
    parent[3] = 3;
    levels.append(frontier);
    #loop# while (frontier.size() > 0)` + reaching + `
        next.apply(see);
        levels.append(next);
        delete frontier;
        frontier = next;
        depth += 1;
    end
    frontier = levels.pop();
    frontier = levels.pop();
    #back# while depth > 1
        edges.from(frontier).apply(back);
        frontier = levels.pop();
        frontier.apply(leave);
        depth += -1;
        print depth;
    end
end`,
	"the sets that it walks": head + `
func main()
    var frontier : vertexset{Vertex} = new vertexset{Vertex}(0);
    var levels : list{vertexset{Vertex}} = new list{vertexset{Vertex}}();
    frontier.addVertex(0);
    parent[0] = 0;
    for trial in 0:2
        #loop# for i in 0:4
            levels.append(frontier);` + reaching + `
            frontier = next;
        end
    end
    frontier.apply(leave);
    #back# for i in 0:3
        edges.from(frontier).apply(back);
        levels.retrieve(frontier);
        frontier.apply(see);
    end
    frontier = levels.pop();
    frontier.apply(leave);
    print frontier.size();
end`,
	"within a loop of the host's": head + `
func main()
    for i in 0:3
        vertices.apply(forget);
        var frontier : vertexset{Vertex} = new vertexset{Vertex}(0);
        frontier.addVertex(i);
        parent[i] = i;
        #loop# while (frontier.getVertexSetSize() != 0)` + reaching + `
            frontier = next;
            next.apply(see);
        end
    end
end`,
	"all edges, twice": head + `
func main()
    #loop# for i in 1:4
        edges.apply(there);
        edges.apply(back);
        vertices.apply(halve);
    end
end`,
	"a filter's set, in counted rounds": head + `
func main()
    var frontier : vertexset{Vertex} = new vertexset{Vertex}(edges.getVertices());
    var next : vertexset{Vertex};
    #loop# for i in 0:5
        edges.from(frontier).apply(back);
        edges.apply(there);
        vertices.apply(halve);
        frontier.apply(see);
        next = vertices.where(odd);
        next.apply(leave);
        frontier = next;
    end
    frontier.apply(see);
end`,
	"as often as it is asked for": head + `
func main()
    var frontier : vertexset{Vertex} = new vertexset{Vertex}(0);
    frontier.addVertex(0);
    parent[0] = 0;
    #loop# for i in 0:12` + reaching + `
        frontier = next;
        vertices.apply(count);
    end
end`,
	"a queue's vertices": head + `
func main()
    distance[0] = -70;
    pq = new priority_queue{Vertex}(int)(false, false, distance, 1, 2, false, 0);
    #loop# while (not pq.finished())
        var bucket : vertexset{Vertex} = pq.dequeue_ready_set();
        bucket.apply(mark);
        #step# edges.from(bucket).applyUpdatePriority(relax);
        vertices.apply(copy);
    end
end
schedule:
    SimpleGPUSchedule s1; s1.configDelta("argv[2]"); program->applyGPUSchedule("loop:step", s1);
`,
}

func init() {
	wide := strings.ReplaceAll(Programs["a queue's vertices"], `"argv[2]"`, "1000")
	Programs["a queue's last bucket, which ends where numbers do"] = strings.ReplaceAll(wide, "-70", "2147483000")
	Programs["a queue of unsigned numbers"] = strings.NewReplacer(
		"distance : vector{Vertex}(int) = 2147483647", "distance : vector{Vertex}(uint) = 4294967295",
		"pq : priority_queue{Vertex}(int)", "pq : priority_queue{Vertex}(uint)",
		"left : vector{Vertex}(int)", "left : vector{Vertex}(uint)", "-70", "4294966400", "new priority_queue{Vertex}(int)",
		"new priority_queue{Vertex}(uint)",
	).Replace(wide)
}

// Fused has a program's loops be one launch each.
func Fused(src string) string {
	if !strings.Contains(src, "\nschedule:") {
		src += "\nschedule:"
	}
	src += "\n    SimpleGPUSchedule fuse; fuse.configKernelFusion(ENABLED);"
	for _, loop := range []string{"loop", "back"} {
		if strings.Contains(src, "#"+loop+"#") {
			src += " program->applyGPUSchedule(\"" + loop + "\", fuse);"
		}
	}
	return src + "\n"
}
