package graphpeg

import "slices"

// tlb translates the addresses of the unit's requests as they leave for memory (§3.3.1). It is fully associative and
// replaces the page not used for longest. One page is walked to at a time, in a fixed number of cycles without accesses
// to memory; meanwhile requests to pages that it holds leave (ours: the paper prints nothing but that there is a TLB).
// A page translates to itself, so that only times change.
type tlb struct {
	entries int      // 0: none
	shift   int      // log₂ of a page's bytes
	latency uint64   // of a walk
	pages   []uint32 // held, by last use, the latest last
	walking bool
	page    uint32 // that the walk is for
	ready   uint64 // cycle in which it is held
}

func (s *Spec) tlb() tlb {
	t := tlb{entries: s.TLBEntries, latency: uint64(s.TLBWalk)}
	for 1<<t.shift < s.TLBPage {
		t.shift++
	}
	t.pages = make([]uint32, 0, t.entries)
	return t
}

// walked ends a walk whose time has come.
func (e *Engine) walked() {
	t := &e.tlb
	if !t.walking || e.self.Now < t.ready {
		return
	}
	if len(t.pages) == t.entries {
		t.pages = slices.Delete(t.pages, 0, 1)
	}
	t.pages = append(t.pages, t.page)
	t.walking, e.moved = false, true
}

// held reports whether a request to addr may leave; if not, a walk to its page begins, or waits for the one under way.
func (e *Engine) held(addr uint32) bool {
	t := &e.tlb
	if t.entries == 0 || slices.Contains(t.pages, addr>>t.shift) {
		return true
	}
	if !t.walking {
		t.walking, t.page, t.ready = true, addr>>t.shift, e.self.Now+t.latency
		e.TLBMisses++
		e.moved = true
	}
	return false
}

// translate counts a request that leaves, and makes its page the latest used.
func (e *Engine) translate(addr uint32) {
	t := &e.tlb
	if t.entries == 0 {
		return
	}
	i := slices.Index(t.pages, addr>>t.shift)
	t.pages = append(slices.Delete(t.pages, i, i+1), addr>>t.shift)
	e.TLBRequests++
}
