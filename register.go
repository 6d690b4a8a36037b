package heddle

import "heddle/internal/registry"

// Entry is a part to add: a schedule, an algorithm, a layout, a graph unit or a statistic. WithSchedule and its like
// return entries.
type Entry = registry.Entry

// Register adds parts, in order, for a program with its own command line; cmd.Main does it for its arguments. It must
// be called before any configuration is read, as configuration keys and their documentation are built from the
// registered parts. The error names the entry and the reason: it comes too late, its name is taken, or it lacks a
// required field. Entries after a failed one are not added.
func Register(entries ...Entry) error { return registry.Add(entries...) }
