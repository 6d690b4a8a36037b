// Package documents tests the repository's documents: links and anchors must resolve, and some words and phrases are
// forbidden.
package documents
