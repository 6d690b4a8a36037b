package cmd

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"heddle/internal/version"
)

// newMan returns the command that generates the manual pages, for packagers and make man.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use: "man DIRECTORY", Short: "Write a manual page for every command", Args: cobra.ExactArgs(1),
		Long: `Write a manual page for every command (heddle.1, heddle-run.1, …) into a directory, which is
made if it is not there. They are of this program: generated from the same text as --help.`,
		Example: "  heddle man man1 && man ./man1/heddle-run.1",
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writeManual(c.Root(), args[0])
		},
	}
}

// writeManual dates pages by the build, so that equal programs write equal files.
func writeManual(root *cobra.Command, dir string) error {
	date := version.Time()
	if date.IsZero() {
		date = time.Unix(0, 0).UTC()
	}
	root.DisableAutoGenTag = true
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "heddle " + version.Short(), Manual: "heddle",
		Date: &date}, dir)
}
