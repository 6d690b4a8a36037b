// Package documents tests the repository's documents: that links and anchors resolve, and what no document may say.
package documents
