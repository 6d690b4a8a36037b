package graph

import "io"

// maxWord is the longest word that is looked at as a whole: no number is as long.
const maxWord = 512

// wordReader reads a text word by word: in METIS's and Ligra's files the length of a line is unbounded, as a vertex's
// number of neighbours is. It buffers beyond the line reader, so the two must not be alternated.
type wordReader struct {
	*lines
	b     []byte // buffered data
	i     int    // number of bytes consumed
	ended bool   // the input ends after b
}

// fill reads on until there are maxWord bytes at least, unless the file ends before.
func (w *wordReader) fill() error {
	w.r.Discard(w.i) //nolint:errcheck // it is buffered
	w.b, w.i = nil, 0
	switch _, err := w.r.Peek(maxWord); {
	case err == io.EOF:
		w.ended = true
	case err != nil:
		return w.readError(err)
	}
	b, err := w.r.Peek(w.r.Buffered())
	w.b = b
	return err
}

// window returns the coming bytes: at least maxWord, unless the file ends before.
func (w *wordReader) window() ([]byte, error) {
	if len(w.b)-w.i < maxWord && !w.ended {
		if err := w.fill(); err != nil {
			return nil, err
		}
	}
	return w.b[w.i:], nil
}

// more skips blanks, and reports whether the line has another word.
func (w *wordReader) more() (bool, error) {
	for {
		b, err := w.window()
		if err != nil || len(b) == 0 {
			return false, err
		}
		i := 0
		for i < len(b) && blank(b[i]) {
			i++
		}
		w.i += i
		if i < len(b) {
			return b[i] != '\n', nil
		}
	}
}

// moreLines skips blanks and line ends, and reports whether the file has another word.
func (w *wordReader) moreLines() (bool, error) {
	for {
		ok, err := w.more()
		if ok || err != nil {
			return ok, err
		}
		if ended, err := w.endLine(); ended || err != nil {
			return false, err
		}
		w.n++
	}
}

// endLine skips the end of a line without further words, and reports whether the file has ended.
func (w *wordReader) endLine() (ended bool, err error) {
	b, err := w.window()
	if err != nil || len(b) == 0 {
		return true, err
	}
	w.i++
	return false, nil
}

// skipLine skips the rest of a line.
func (w *wordReader) skipLine() error {
	for {
		b, err := w.window()
		if err != nil || len(b) == 0 {
			return err
		}
		for i, c := range b {
			if c == '\n' {
				w.i += i + 1
				return nil
			}
		}
		w.i += len(b)
	}
}

// unsigned reads the number at the position found by more, of at most limit.
func (w *wordReader) unsigned(limit uint64, what string) (uint64, error) {
	b, err := w.window()
	if err != nil {
		return 0, err
	}
	n, i := uint64(0), 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		if n = n*10 + uint64(b[i]-'0'); n > limit {
			return 0, w.expectedWord(what)
		}
	}
	if i == 0 || i < len(b) && !blank(b[i]) && b[i] != '\n' {
		return 0, w.expectedWord(what)
	}
	w.i += i
	return n, nil
}

// word is the word at the place that more has found, cut off if it is longer than maxWord. It is not skipped, and valid
// until something is.
func (w *wordReader) word() (cursor, error) {
	b, err := w.window()
	if err != nil {
		return cursor{}, err
	}
	i := 0
	for i < min(len(b), maxWord) && !blank(b[i]) && b[i] != '\n' {
		i++
	}
	return cursor{b: b[:i]}, nil
}

// skip advances by bytes of the word that word has returned.
func (w *wordReader) skip(n int) { w.i += n }

// expectedWord returns the error for the word that word returns.
func (w *wordReader) expectedWord(what string) error {
	c, err := w.word()
	if err != nil {
		return err
	}
	return w.expected(&c, what)
}
