package reproduce

import (
	"crypto/sha256"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFormerDefaults: a key with another default by now changes no identity where it has the former one, or means
// nothing.
func TestFormerDefaults(t *testing.T) {
	of := func(name, gini string) string {
		h := sha256.New()
		writeSettings(h, "graph:\n  like:\n    name: "+name+"\n"+gini)
		return string(h.Sum(nil))
	}
	require.Equal(t, of("soc-orkut", ""), of("soc-orkut", "    gini: 0\n"))
	require.NotEqual(t, of("soc-orkut", ""), of("soc-orkut", "    gini: 0.6\n"))
	require.Equal(t, of("road_usa", ""), of("road_usa", "    gini: 0.6\n"))
}
