package graph

import "io"

// maxWord is the longest word that is looked at as a whole: no number is as long.
const maxWord = 512

// The methods below read a text word by word: in METIS and Ligra's files lines have no bound, as a vertex has none to its
// neighbours.

// window returns what is buffered: the next maxWord bytes at least, unless the file ends before.
func (l *lines) window() ([]byte, error) {
	if l.r.Buffered() < maxWord {
		if _, err := l.r.Peek(maxWord); err != nil && err != io.EOF {
			return nil, l.readError(err)
		}
	}
	return l.r.Peek(l.r.Buffered())
}

func (l *lines) discard(n int) {
	l.r.Discard(n) //nolint:errcheck // it is buffered
}

// more skips blanks, and reports whether another word is on the line.
func (l *lines) more() (bool, error) {
	for {
		b, err := l.window()
		if err != nil || len(b) == 0 {
			return false, err
		}
		i := 0
		for i < len(b) && blank(b[i]) {
			i++
		}
		l.discard(i)
		if i < len(b) {
			return b[i] != '\n', nil
		}
	}
}

// moreLines skips blanks and ends of lines, and reports whether another word is in the file.
func (l *lines) moreLines() (bool, error) {
	for {
		ok, err := l.more()
		if ok || err != nil {
			return ok, err
		}
		if ended, err := l.endLine(); ended || err != nil {
			return false, err
		}
		l.n++
	}
}

// endLine skips the end of a line that has no more words, and reports whether it was the file's.
func (l *lines) endLine() (ended bool, err error) {
	b, err := l.window()
	if err != nil || len(b) == 0 {
		return true, err
	}
	l.discard(1)
	return false, nil
}

// unsigned reads the number at the place that more has found, of at most limit.
func (l *lines) unsigned(limit uint64, what string) (uint64, error) {
	b, err := l.window()
	if err != nil {
		return 0, err
	}
	n, i := uint64(0), 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		if n = n*10 + uint64(b[i]-'0'); n > limit {
			return 0, l.expectedWord(what)
		}
	}
	if i == 0 || i < len(b) && !blank(b[i]) && b[i] != '\n' {
		return 0, l.expectedWord(what)
	}
	l.discard(i)
	return n, nil
}

// word is the word at the place that more has found, cut off if it is longer than maxWord. It is not skipped, and valid
// until something is.
func (l *lines) word() (cursor, error) {
	b, err := l.window()
	if err != nil {
		return cursor{}, err
	}
	i := 0
	for i < min(len(b), maxWord) && !blank(b[i]) && b[i] != '\n' {
		i++
	}
	return cursor{b: b[:i]}, nil
}

// expectedWord blames the word that word returns.
func (l *lines) expectedWord(what string) error {
	c, err := l.word()
	if err != nil {
		return err
	}
	return l.expected(&c, what)
}
