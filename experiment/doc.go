// Package experiment is experiments for programs in Go: a YAML file is loaded, its points are laid out, run on machines
// of their own, checked, and what they came to is stored in a directory or kept in memory; results of earlier runs are
// opened.
//
//	e, err := experiment.Load("my.yaml", "workload.damping=0.9") // settings are over the file's, as after --set
//	for _, p := range e.Points() { fmt.Println(p.Label(), p.Kernel()) }
//	r, err := e.Run(ctx, experiment.Options{Dir: "results/my"})  // resumed where it stopped, if it was killed
//	for _, p := range r.Points { fmt.Println(p.Label(), p.Cycles, p.Verified) }
//	r, err = experiment.Open("results/my")                       // later, by any program
//
// The files of a directory are those of heddle run: heddle report, heddle results and pandas read them
// (docs/guide/results.md, docs/guide/python.md). The keys of an experiment are in docs/reference/configuration.md.
// The same experiment comes to the same cycles and statistics on any host, whatever Jobs and Threads are.
package experiment
