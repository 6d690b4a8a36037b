package cmd

import (
	"github.com/spf13/cobra"

	"heddle/kernels/program"
)

func newKernelBlock() *cobra.Command {
	var f machineFlags
	var assembly bool
	c := &cobra.Command{
		Use:   "block EXPERIMENT",
		Short: "Write the argument block of your own program, as a C header or for assembly",
		Long: `Write the block that a program of one's own (workload.program) is handed at each
launch, as workload.host of an experiment says: as the C header heddle_block.h,
or as assembly. heddle gives it to the C and assembly that it builds itself; who
builds an ELF file writes it out, and builds with it.`,
		Example: `  heddle kernel block my.yaml > heddle_block.h
  heddle kernel block my.yaml --assembly > block.inc`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := loadExperiment(args[0], f.set)
			if err != nil {
				return err
			}
			h, err := program.NewHost(l.Value.Workload.Host)
			if err != nil {
				return err
			}
			text := h.Header()
			if assembly {
				text = h.Include()
			}
			_, err = c.OutOrStdout().Write(text)
			return err
		},
	}
	c.Flags().BoolVar(&assembly, "assembly", false, "write it for assembly: offsets, as symbols")
	f.add(c)
	return c
}
