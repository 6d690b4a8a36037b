package concentrator

import "heddle/components/count"

// Stats are the counters of a concentrator.
type Stats struct {
	Reads   uint64 `stat:"reads" unit:"requests" doc:"Reads passed on."`
	Writes  uint64 `stat:"writes" unit:"requests" doc:"Writes passed on."`
	Atomics uint64 `stat:"atomics" unit:"requests" doc:"Atomics passed on."`
	Flushes uint64 `stat:"flushes" unit:"requests" doc:"Flushes passed on."`
	Answers uint64 `stat:"answers" unit:"answers" doc:"Answers passed back."`
	// Messages are those of CarryThere and CarryBack.
	Messages uint64 `stat:"messages" unit:"messages" doc:"Messages between graph units and the control processor, which took a turn at a port (ctrlproc.network: shared)."`

	Conflicts uint64      `stat:"conflicts" unit:"requests" doc:"Requests and messages that lost a cycle to another requester's at the same port."`
	PortFull  count.Level `stat:"stall.port" unit:"port-cycles" doc:"A port had a request to take, and the way to the next level was full."`
	Busy      count.Level `stat:"stall.line" unit:"port-cycles" doc:"An answer waited for the end of the line before it."`
	NoEntry   count.Level `stat:"stall.outstanding" unit:"requester-cycles" doc:"A request waited because its requester had as many outstanding as it may."`
}
