package ctrlproc

// Stats is what a control processor counts.
type Stats struct {
	Polls    uint64 `stat:"polls" unit:"polls" doc:"Times all cores' loads were read."`
	Commands uint64 `stat:"messages.commands" unit:"messages" doc:"Messages to cores."`
	Reports  uint64 `stat:"messages.reports" unit:"messages" doc:"Messages from cores."`

	Offers         uint64 `stat:"donations.offered" unit:"donations" doc:"Donations that were ordered: taken, refused, or still open."`
	Taken          uint64 `stat:"donations.taken" unit:"donations" doc:"Of them, those whose donor had edges in its table."`
	Refused        uint64 `stat:"donations.refused" unit:"donations" doc:"Of them, those whose donor had none."`
	Busy           uint64 `stat:"donations.busy" unit:"polls" doc:"Polls that would have ordered one, but the donor or the receiver was not through with its last."`
	EdgesMoved     uint64 `stat:"edges.moved" unit:"edges" doc:"Edges that changed the core."`
	EdgesAbandoned uint64 `stat:"edges.abandoned" unit:"edges" doc:"Edges on their way when a launch ended before they came."`

	LoadMax uint64 `stat:"load.max" unit:"edges" doc:"The largest R_EFS, summed over polls; times cores over load.sum: the mean imbalance."`
	LoadSum uint64 `stat:"load.sum" unit:"edges" doc:"R_EFS of all cores, summed over polls."`
}
