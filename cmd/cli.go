package cmd

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newCLI writes the reference of the command line. It is for this project's own use.
func newCLI() *cobra.Command {
	return &cobra.Command{
		Use: "cli", Short: "Write docs/reference/cli.md", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := c.OutOrStdout().Write(cliDoc(c.Root()))
			return err
		},
	}
}

// cliDoc is docs/reference/cli.md: every command that is not hidden, with its flags.
func cliDoc(root *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString("# Command line\n\nGenerated: `go run ./cmd/heddle cli > docs/reference/cli.md`. `heddle COMMAND --help` says the same.\n")
	commandDoc(&b, root)
	return b.Bytes()
}

func commandDoc(b *bytes.Buffer, c *cobra.Command) {
	c.InitDefaultHelpFlag()
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n", c.CommandPath(), paragraphs(text))
	if c.Runnable() {
		block(b, "    "+c.UseLine())
	}
	if c.Example != "" {
		block(b, indent(c.Example))
	}
	if flags := c.NonInheritedFlags(); flags.HasAvailableFlags() {
		block(b, indent(flags.FlagUsages()))
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			commandDoc(b, sub)
		}
	}
}

// paragraphs joins the lines that a terminal's width has broken.
func paragraphs(text string) string {
	var out []string
	for _, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		out = append(out, strings.Join(strings.Fields(p), " "))
	}
	return strings.ReplaceAll(strings.Join(out, "\n\n"), "<", "\\<")
}

func indent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("    "+strings.TrimPrefix(l, "  "), " ")
	}
	return strings.Join(lines, "\n")
}

func block(b *bytes.Buffer, text string) { fmt.Fprintf(b, "\n%s\n", text) }
