package ctrlproc

// Stats are the counters of a control processor.
type Stats struct {
	Polls    uint64 `stat:"polls" unit:"polls" doc:"Times all cores' loads were read."`
	Commands uint64 `stat:"messages.commands" unit:"messages" doc:"Messages to cores."`
	Reports  uint64 `stat:"messages.reports" unit:"messages" doc:"Messages from cores."`

	Offers         uint64 `stat:"donations.offered" unit:"donations" doc:"Donations that were ordered: taken, refused, or still open."`
	Taken          uint64 `stat:"donations.taken" unit:"donations" doc:"Of them, those whose donor had edges in its table."`
	Refused        uint64 `stat:"donations.refused" unit:"donations" doc:"Of them, those whose donor had none."`
	Busy           uint64 `stat:"donations.busy" unit:"donations" doc:"Donations that would have been ordered, but the donor or the receiver was not through with its last."`
	EdgesMoved     uint64 `stat:"edges.moved" unit:"edges" doc:"Edges that changed the core."`
	EdgesAbandoned uint64 `stat:"edges.abandoned" unit:"edges" doc:"Edges on their way when a launch ended before they came."`

	VerticesMoved uint64 `stat:"vertices.moved" unit:"vertices" doc:"Vertices of output lists that changed the core."`
	Abandoned     uint64 `stat:"donations.abandoned" unit:"donations" doc:"Donations that were open when a launch ended."`

	LoadMax uint64 `stat:"load.max" unit:"edges or vertices" doc:"The largest load that was balanced, summed over polls; times cores over load.sum: the mean imbalance."`
	LoadSum uint64 `stat:"load.sum" unit:"edges or vertices" doc:"The loads of all cores, summed over polls."`
}
