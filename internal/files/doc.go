// Package files reads and writes the files that users name.
//
// Only regular files are read: a pipe or a device could block, or never end. A regular file is written atomically,
// whole or not at all, and is synced to disk before it receives its name; devices and pipes are written to, never
// replaced.
package files
