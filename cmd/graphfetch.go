package cmd

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"heddle/graph/fetch"
	"heddle/graph/graphspec"
	"heddle/internal/fit"
)

// graphFetch holds the flags of heddle graph fetch.
type graphFetch struct {
	dir, sum, url string
}

func newGraphFetch() *cobra.Command {
	var f graphFetch
	c := &cobra.Command{
		Use: "fetch [NAME]", Short: "Download a public graph, with its checksum; without a name, list them",
		Args: cobra.MaximumNArgs(1),
		Long: `Download a public graph of SNAP or the SuiteSparse collection into a directory, print where it
comes from and whom to cite, and compare its vertices and edges with the published counts.
Its SHA-256 is compared with --sha256, or with the line of SHA256SUMS in that directory; the
collections publish none, so a first download's is recorded there: keep that file with your
experiments. A file that differs is not kept. Without a name, list the graphs.`,
		Example: "  heddle graph fetch\n  heddle graph fetch wiki-Vote\n  heddle run quickstart --set name=votes " +
			"--set graph.file=graphs/wiki-Vote.txt.gz",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listFetchable(c.OutOrStdout())
			}
			return f.fetch(c, args[0])
		},
	}
	c.Flags().StringVar(&f.dir, "dir", "graphs", "`directory` for the graph")
	c.Flags().StringVar(&f.sum, "sha256", "", "the `checksum` that the stored file must have")
	c.Flags().StringVar(&f.url, "url", "", "fetch from this `address`, a mirror's")
	return c
}

func listFetchable(w io.Writer) error {
	var b strings.Builder
	for _, g := range fetch.Catalogue {
		edges := "edges not checked"
		if g.Lines > 0 {
			edges = grouped(g.Lines) + " listed edges"
		}
		fmt.Fprintf(&b, "%-18s  %s; %s vertices, %s\n", g.Name, g.About, grouped(g.Vertices), edges)
	}
	b.WriteString("\nto be downloaded manually (heddle graph fetch NAME explains how):\n")
	for _, g := range fetch.NotFetched {
		fmt.Fprintf(&b, "%-18s  %s; %s vertices, %s listed edges\n", g.Name, g.Page, grouped(g.Vertices),
			grouped(g.Lines))
	}
	b.WriteString("\nof papers; graph: {like: {name: NAME}} generates a stand-in with the counts that they print:\n")
	for _, o := range graphspec.Originals {
		fmt.Fprintf(&b, "%-18s  %s; %s vertices, %s directed edges (%s)\n", o.Name, o.Get, grouped(o.Vertices),
			grouped(o.Edges), o.Source)
	}
	return fit.Print(w, b.String())
}

func (f *graphFetch) fetch(c *cobra.Command, name string) error {
	g, ok := fetch.Lookup(name)
	if !ok {
		for _, g := range fetch.NotFetched {
			if g.Name == name {
				return fmt.Errorf("%s is not fetched: take %s from %s, put it into %s, and see that heddle graph "+
					"info FILE says %s vertices and %s edges listed. Cite %s", g.Name, g.Take, g.Page, f.dir,
					grouped(g.Vertices),
					grouped(g.Lines), g.Cite)
			}
		}
		if o, ok := (&graphspec.Like{Name: name}).Original(); ok {
			return fmt.Errorf("%s is not fetched: take it from %s. graph: {like: {name: %s}} generates a stand-in",
				name, o.Get, name)
		}
		var names []string
		for _, g := range fetch.Catalogue {
			names = append(names, g.Name)
		}
		return fmt.Errorf("no graph %q to fetch: expected one of %s", name, strings.Join(names, ", "))
	}
	if err := fetch.CheckSum(f.sum); err != nil {
		return fmt.Errorf("--sha256: %w", err)
	}
	if f.url != "" {
		g.URL = f.url
	}
	fmt.Fprintln(c.ErrOrStderr(), "heddle: fetching", g.URL)
	got, err := fetch.NewClient(f.dir).Get(c.Context(), g, f.sum)
	if err != nil {
		return &codeError{exitFailed, fmt.Errorf("graph fetch %s: %w", name, err)}
	}
	counts, err := published(c, g, got.Path)
	if err != nil {
		return err
	}
	state := "recorded in " + fetch.Sums + " for the next time"
	if got.Known {
		state = "as expected"
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s\nsha256   %s, %s\ncounts   %s\nsource   %s\ncite     %s\nlicence  %s\n",
		got.Path, got.SHA256, state, counts, g.URL, g.Cite, fetch.Licence)
	return err
}

// published compares a fetched file with the counts that its publisher states.
func published(c *cobra.Command, g fetch.Graph, path string) (string, error) {
	read, err := new(graphFlags).named(c, path)
	if err != nil {
		if errors.As(err, new(*codeError)) {
			return "", err
		}
		return "", &codeError{exitFailed, err}
	}
	vertices, lines := read.Record.FileVertices, read.Record.FileEdges
	text := fmt.Sprintf("%s vertices, %s listed edges", grouped(vertices), grouped(lines))
	if vertices != g.Vertices || g.Lines > 0 && lines != g.Lines {
		return "", &codeError{exitFailed, fmt.Errorf("%s: %s; published are %s and %s: it is kept, but it is not "+
			"the published graph",
			path, text, grouped(g.Vertices), grouped(g.Lines))}
	}
	return text + ", as published", nil
}
