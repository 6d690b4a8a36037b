package heddle

import "heddle/internal/registry"

// Entry is a part to add: a schedule, an algorithm, a layout, a graph unit or a statistic. WithSchedule and its like
// make entries.
type Entry = registry.Entry

// Register adds parts, in their order, for a program with a command line of its own; cmd.Main does it for those it is
// given. It has to come before any configuration is read, as the keys of configurations and their documentation are
// made of the parts that exist by then. An error names the entry and what is wrong: it comes too late, its name is
// taken, or it lacks something. Entries behind one in error are not added.
func Register(entries ...Entry) error { return registry.Add(entries...) }
