// Package schema turns Go structs into a typed, strict configuration: a knob is
// one struct field with its tags, and everything else (reading, checking,
// layering, "did you mean", where a value came from, writing it back, the
// documentation) follows from the tags.
//
//	type Core struct {
//		Warps int `key:"warps" default:"4" min:"1" max:"64" unit:"warps" doc:"Warps of a core. Source: VX_config.toml."`
//	}
//
// # Tags
//
//	key       name in YAML: lower snake case, no double underscore; "group.name" puts it into a group (group.go).
//	          "-" keeps a field out of the configuration.
//	doc       required everywhere: the meaning, and the source of the default. Longer
//	          descriptions are in the struct's method Docs (see Documented), as other
//	          tags that are long may be in its method Tags (see Tagged).
//	default   required, unless required:"true"; lists are comma-separated.
//	min, max  inclusive; required for int and float, optional for unsigned.
//	unit      required for numbers, may be empty. "bytes" allows 64KiB, 16K, 1M.
//	pow2      "true": powers of two only.
//	multiple  "4": multiples of 4 only.
//	oneof     comma-separated names, for strings and for types that implement
//	          encoding.TextMarshaler and TextUnmarshaler (typed enumerations). An
//	          enumeration with a method Names() []string needs none; one with
//	          Explain (see Explained) completes doc.
//	required  "true": some layer must say it.
//	defaults  on a section: "size=1MiB; ways=8" replaces defaults of fields below,
//	          so that one struct can serve as L1 and as L2.
//	presets   on a section: the kind of preset that may stand for it, as in
//	          "machine: vortex-6c32w32t".
//
// A struct is a section, a pointer to a struct an optional one: nil until a
// layer mentions it, and nil again after "key: null". A struct around an interface can
// hold one of several sections: see Alternatives. The keys of an embedded
// struct without tags belong to the struct around it, whose Validate, if it has
// one, stands for both. Slices hold scalars.
// A Mapping is a leaf that holds a mapping whose keys are not the schema's.
// Axes hold the values of a sweep.
//
// # Layers
//
// Defaults, then extended files, then the file, then the environment, then
// --set; the later one wins, key by key, and lists are replaced as a whole.
//
// "extends: NAME" at the top of a file, or in a section that has presets, puts
// a preset under it; "extends: dir/base.yaml" does so with a file, relative to
// the file that says it. A section for which a layer names a preset starts from
// that preset alone: lower layers' values of the section are dropped, so that
// no key of the old machine survives in the new one.
//
// In the environment, two underscores part the keys:
// HEDDLE_MACHINE__CORE__ST_ENTRIES is machine.core.st_entries. As no key holds
// two underscores, begins or ends with one, this is unambiguous.
//
// # What this package must not know
//
// Any knob of the simulator. It imports nothing of ours.
package schema
