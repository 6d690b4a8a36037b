package store

import "database/sql"

// migration upgrades a store from one version of the schema to the next.
type migration struct {
	tables string                 // SQL that changes tables and views
	rows   func(tx *sql.Tx) error // converts stored rows; may be nil
}

// migrations create the tables, the first in an empty file. A released migration must never change, not even in its
// comments, which SQLite keeps in the file: stores that have passed it would differ from new ones.
var migrations = []migration{{tables: `
-- What the store is of: one row.
CREATE TABLE experiment (
	only    INTEGER PRIMARY KEY CHECK (only = 1),
	name    TEXT NOT NULL,
	version TEXT NOT NULL,     -- of the program
	config  TEXT NOT NULL,     -- the whole experiment, resolved, as YAML
	points  INTEGER NOT NULL   -- that it has, stored or not
) STRICT;

-- A row a point that has ended.
CREATE TABLE points (
	id           INTEGER PRIMARY KEY,
	identity     TEXT NOT NULL,           -- SHA-256 of config, graph and version; points may have it in common
	position     INTEGER NOT NULL UNIQUE, -- in the experiment, from 0
	baseline     INTEGER,                 -- position of the point its speedup is relative to
	config       TEXT NOT NULL,           -- of this point, resolved, as YAML
	graph        TEXT NOT NULL,           -- content hash
	version      TEXT NOT NULL,           -- of the program
	cycles       INTEGER NOT NULL,
	verified     INTEGER NOT NULL,        -- 1: the result was compared with the reference, and is right
	failure      TEXT NOT NULL,           -- its class; '': none
	error        TEXT NOT NULL,
	host_seconds REAL NOT NULL,
	finished     TEXT NOT NULL            -- UTC
) STRICT;

-- A row a point and axis.
CREATE TABLE axes (
	point INTEGER NOT NULL REFERENCES points ON DELETE CASCADE,
	place INTEGER NOT NULL,  -- order of the axes
	key   TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (point, place)
) STRICT, WITHOUT ROWID;

-- A row a statistic's name.
CREATE TABLE names (
	id    INTEGER PRIMARY KEY,
	name  TEXT NOT NULL UNIQUE,
	unit  TEXT NOT NULL,
	doc   TEXT NOT NULL,
	ratio INTEGER NOT NULL  -- 1: a quotient; 0: a count
) STRICT;

-- A row a point and statistic.
CREATE TABLE statistics (
	point INTEGER NOT NULL REFERENCES points ON DELETE CASCADE,
	place INTEGER NOT NULL,  -- order of the statistics
	name  INTEGER NOT NULL REFERENCES names,
	value ANY NOT NULL,      -- INTEGER of a count, REAL of a ratio
	PRIMARY KEY (point, place)
) STRICT, WITHOUT ROWID;

-- A row a point, super-step and kernel launched in it.
CREATE TABLE super_steps (
	id     INTEGER PRIMARY KEY,
	point  INTEGER NOT NULL REFERENCES points ON DELETE CASCADE,
	step   INTEGER NOT NULL,  -- from 0
	kernel TEXT NOT NULL,
	cycles INTEGER NOT NULL
) STRICT;
CREATE INDEX super_steps_point ON super_steps (point);

-- For queries: statistics with their names and points.
CREATE VIEW stats AS
	SELECT p.position, n.name, s.value, n.unit
	FROM statistics s JOIN names n ON n.id = s.name JOIN points p ON p.id = s.point;

-- For queries: the speedups over the baseline, of verified points.
CREATE VIEW speedups AS
	SELECT p.position, p.cycles, CAST(b.cycles AS REAL) / p.cycles AS speedup
	FROM points p JOIN points b ON b.position = p.baseline
	WHERE p.verified AND b.verified AND p.cycles > 0`}, {tables: `
-- A row a graph that some point has run on.
CREATE TABLE graphs (
	hash          TEXT PRIMARY KEY,  -- of the content, as in points.graph
	source        TEXT NOT NULL,     -- file or generator, and what was done to it
	vertices      INTEGER NOT NULL,
	edges         INTEGER NOT NULL,
	max_in_degree INTEGER NOT NULL
) STRICT, WITHOUT ROWID`}, {tables: `
-- A row a statistic of one kernel in one super-step.
CREATE TABLE step_statistics (
	super_step INTEGER NOT NULL REFERENCES super_steps ON DELETE CASCADE,
	place      INTEGER NOT NULL,  -- order of the statistics
	name       INTEGER NOT NULL REFERENCES names,
	value      ANY NOT NULL,      -- INTEGER of a count, REAL of a ratio
	PRIMARY KEY (super_step, place)
) STRICT, WITHOUT ROWID;

-- For queries: what super-steps' kernels counted.
CREATE VIEW step_stats AS
	SELECT p.position, t.step, t.kernel, n.name, s.value, n.unit
	FROM step_statistics s JOIN names n ON n.id = s.name JOIN super_steps t ON t.id = s.super_step JOIN points p ON p.id = t.point;

-- For queries: where resident warps' time went.
CREATE VIEW phases AS
	SELECT p.position, substr(n.name, 12, length(n.name) - 23) AS phase, s.value AS warp_cycles,
		CAST(s.value AS REAL) / max(1, sum(s.value) OVER (PARTITION BY p.position)) AS share
	FROM statistics s JOIN names n ON n.id = s.name JOIN points p ON p.id = s.point
	WHERE n.name GLOB 'core.phase.*.warp_cycles'`}, {tables: `
-- For queries: where schedulers' time went, and warps'.
DROP VIEW phases;
CREATE VIEW phases AS
	SELECT p.position, substr(n.name, 12, length(n.name) - 28) AS phase, s.value AS scheduler_cycles, w.value AS warp_cycles,
		CAST(s.value AS REAL) / max(1, sum(s.value) OVER (PARTITION BY p.position)) AS share
	FROM statistics s JOIN names n ON n.id = s.name JOIN points p ON p.id = s.point
	JOIN names m ON m.name = substr(n.name, 1, length(n.name) - 17) || '.warp_cycles'
	JOIN statistics w ON w.point = s.point AND w.name = m.id
	WHERE n.name GLOB 'core.phase.*.scheduler_cycles'
	ORDER BY p.position, s.place`}, {tables: `
-- What the result of a replayed trace is called, which nobody verified; '': it was executed.
ALTER TABLE points ADD COLUMN replay TEXT NOT NULL DEFAULT '';
DROP VIEW speedups;
-- For queries: the speedups over the baseline, of points that are verified or replayed.
CREATE VIEW speedups AS
	SELECT p.position, p.cycles, CAST(b.cycles AS REAL) / p.cycles AS speedup
	FROM points p JOIN points b ON b.position = p.baseline
	WHERE (p.verified OR p.replay <> '' AND p.failure = '') AND (b.verified OR b.replay <> '' AND b.failure = '') AND p.cycles > 0`}, {tables: `
-- Why a point's run was ended before it was done, as asked for: max_edges, region; '': it was not.
ALTER TABLE points ADD COLUMN partial TEXT NOT NULL DEFAULT '';

-- A row a point and interval of its run.
CREATE TABLE intervals (
	point INTEGER NOT NULL REFERENCES points ON DELETE CASCADE,
	place INTEGER NOT NULL,  -- from 0
	start INTEGER NOT NULL,  -- the last cycle before it, of the machine's clock
	stop  INTEGER NOT NULL,  -- its last cycle
	PRIMARY KEY (point, place)
) STRICT, WITHOUT ROWID;

-- A row a point, interval and statistic.
CREATE TABLE samples (
	point INTEGER NOT NULL REFERENCES points ON DELETE CASCADE,
	place INTEGER NOT NULL,  -- of the interval
	name  INTEGER NOT NULL REFERENCES names,
	value ANY NOT NULL,      -- in this interval: INTEGER of a count, REAL of a ratio
	PRIMARY KEY (point, name, place)
) STRICT, WITHOUT ROWID;

-- For queries: samples with their names, intervals and points.
CREATE VIEW timeline AS
	SELECT p.position, i.start, i.stop, n.name, s.value, n.unit
	FROM samples s JOIN intervals i ON i.point = s.point AND i.place = s.place
		JOIN names n ON n.id = s.name JOIN points p ON p.id = s.point;

-- For queries: the speedups over the baseline, of points that are verified or replayed, and of parts of runs over such parts.
DROP VIEW speedups;
CREATE VIEW speedups AS
	SELECT p.position, p.cycles, CAST(b.cycles AS REAL) / p.cycles AS speedup
	FROM points p JOIN points b ON b.position = p.baseline
	WHERE p.failure = '' AND b.failure = '' AND p.partial = b.partial
		AND (p.verified OR p.replay <> '' OR p.partial <> '') AND (b.verified OR b.replay <> '' OR b.partial <> '') AND p.cycles > 0`}, {tables: `
-- Super-steps count from 1, as region.from and region.to do; 0 is the part before the first.
UPDATE super_steps SET step = step + 1`}, {tables: `
-- Half the 95 % confidence interval of what was sampled (docs/guide/sampling.md), in the unit of the value; NULL: it is exact.
ALTER TABLE points ADD COLUMN half REAL;
ALTER TABLE super_steps ADD COLUMN half REAL;
ALTER TABLE statistics ADD COLUMN half REAL;
ALTER TABLE step_statistics ADD COLUMN half REAL;
DROP VIEW stats;
CREATE VIEW stats AS
	SELECT p.position, n.name, s.value, n.unit, s.half
	FROM statistics s JOIN names n ON n.id = s.name JOIN points p ON p.id = s.point;
DROP VIEW step_stats;
CREATE VIEW step_stats AS
	SELECT p.position, t.step, t.kernel, n.name, s.value, n.unit, s.half
	FROM step_statistics s JOIN names n ON n.id = s.name JOIN super_steps t ON t.id = s.super_step JOIN points p ON p.id = t.point;
DROP VIEW speedups;
-- For queries: the speedups over the baseline, of points that are verified or replayed, and of parts of runs over such parts;
-- half is as if the errors of both went against each other.
CREATE VIEW speedups AS
	SELECT p.position, p.cycles, CAST(b.cycles AS REAL) / p.cycles AS speedup,
		CASE WHEN p.half IS NULL AND b.half IS NULL THEN NULL
			ELSE CAST(b.cycles AS REAL) / p.cycles * (coalesce(p.half, 0) / p.cycles + coalesce(b.half, 0) / b.cycles) END AS half
	FROM points p JOIN points b ON b.position = p.baseline
	WHERE p.failure = '' AND b.failure = '' AND p.partial = b.partial
		AND (p.verified OR p.replay <> '' OR p.partial <> '') AND (b.verified OR b.replay <> '' OR b.partial <> '') AND p.cycles > 0`}, {tables: `
-- Statistics are in the rows that they are of, and each row has a checksum of all that it says: CRC-64, as a signed number.
ALTER TABLE points ADD COLUMN stats TEXT NOT NULL DEFAULT '{}';  -- by the numbers of their names, in order: {"7":123,"9":0.25}
ALTER TABLE points ADD COLUMN halves TEXT;                       -- half the 95 % confidence intervals of those that are estimates; NULL: none is
ALTER TABLE points ADD COLUMN steps INTEGER NOT NULL DEFAULT 0;      -- rows of super_steps
ALTER TABLE points ADD COLUMN intervals INTEGER NOT NULL DEFAULT 0;  -- rows of intervals
ALTER TABLE points ADD COLUMN config_sum INTEGER NOT NULL DEFAULT 0; -- of config
ALTER TABLE points ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;        -- of all else, and of the point's axes
ALTER TABLE super_steps ADD COLUMN stats TEXT NOT NULL DEFAULT '{}';
ALTER TABLE super_steps ADD COLUMN halves TEXT;
ALTER TABLE super_steps ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE intervals ADD COLUMN stats TEXT NOT NULL DEFAULT '{}';
ALTER TABLE intervals ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE names ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE graphs ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE experiment ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;
ALTER TABLE experiment ADD COLUMN summarised INTEGER NOT NULL DEFAULT 0; -- 1: summary.json and summary.csv are of these points
DROP VIEW stats;
DROP VIEW step_stats;
DROP VIEW phases;
DROP VIEW timeline`, rows: pack}, {tables: `
DROP TABLE statistics;
DROP TABLE step_statistics;
DROP TABLE samples;

-- For queries: what the tables of these names once had, a row a statistic.
CREATE VIEW statistics AS
	SELECT p.id AS point, v.id AS place, CAST(v.key AS INTEGER) AS name, v.value, h.value AS half
	FROM points p JOIN json_each(p.stats) v LEFT JOIN json_each(p.halves) h ON h.key = v.key;
CREATE VIEW step_statistics AS
	SELECT t.id AS super_step, v.id AS place, CAST(v.key AS INTEGER) AS name, v.value, h.value AS half
	FROM super_steps t JOIN json_each(t.stats) v LEFT JOIN json_each(t.halves) h ON h.key = v.key;
CREATE VIEW samples AS
	SELECT i.point, i.place, CAST(v.key AS INTEGER) AS name, v.value FROM intervals i JOIN json_each(i.stats) v;

-- For queries: statistics with their names and points.
CREATE VIEW stats AS
	SELECT p.position, n.name, v.value, n.unit, h.value AS half
	FROM points p JOIN json_each(p.stats) v LEFT JOIN json_each(p.halves) h ON h.key = v.key
		JOIN names n ON n.id = CAST(v.key AS INTEGER);

-- For queries: what super-steps' kernels counted.
CREATE VIEW step_stats AS
	SELECT p.position, t.step, t.kernel, n.name, v.value, n.unit, h.value AS half
	FROM points p JOIN super_steps t ON t.point = p.id JOIN json_each(t.stats) v LEFT JOIN json_each(t.halves) h ON h.key = v.key
		JOIN names n ON n.id = CAST(v.key AS INTEGER);

-- For queries: samples with their names, intervals and points.
CREATE VIEW timeline AS
	SELECT p.position, i.start, i.stop, n.name, v.value, n.unit
	FROM points p JOIN intervals i ON i.point = p.id JOIN json_each(i.stats) v JOIN names n ON n.id = CAST(v.key AS INTEGER);

-- For queries: where schedulers' time went, and warps'.
CREATE VIEW phases AS
	SELECT p.position, substr(n.name, 12, length(n.name) - 28) AS phase, p.stats ->> ('$."' || n.id || '"') AS scheduler_cycles,
		p.stats ->> ('$."' || m.id || '"') AS warp_cycles,
		CAST(p.stats ->> ('$."' || n.id || '"') AS REAL) / max(1, sum(p.stats ->> ('$."' || n.id || '"')) OVER (PARTITION BY p.position)) AS share
	FROM points p JOIN names n ON n.name GLOB 'core.phase.*.scheduler_cycles' AND p.stats ->> ('$."' || n.id || '"') IS NOT NULL
		JOIN names m ON m.name = substr(n.name, 1, length(n.name) - 17) || '.warp_cycles'
	ORDER BY p.position, n.id`}, {tables: `
-- Points stay stored when the experiment no longer has them: tables have all, and views of their former names the
-- experiment's.
DROP VIEW speedups;
DROP VIEW phases;
DROP VIEW timeline;
DROP VIEW step_stats;
DROP VIEW stats;
DROP VIEW samples;
DROP VIEW step_statistics;
DROP VIEW statistics;
ALTER TABLE points RENAME TO stored_points;  -- a position below 0: the experiment does not have the point
ALTER TABLE axes RENAME TO stored_axes;
ALTER TABLE super_steps RENAME TO stored_super_steps;
ALTER TABLE intervals RENAME TO stored_intervals;
ALTER TABLE stored_points ADD COLUMN model TEXT NOT NULL DEFAULT '';  -- digest of the sources that cycles depend on; '': not recorded
ALTER TABLE stored_points ADD COLUMN numbering TEXT NOT NULL DEFAULT '';  -- SHA-256 of the numbers that the graph's vertices had when it was read; '': they have kept them
ALTER TABLE experiment ADD COLUMN model TEXT NOT NULL DEFAULT '';
CREATE INDEX stored_points_identity ON stored_points (identity, position, verified, failure, cycles, model);

-- A row a description of a generated graph: its content is known without generating it.
CREATE TABLE generated (
	spec      TEXT NOT NULL,  -- SHA-256 of the section graph, resolved, as YAML
	model     TEXT NOT NULL,  -- that generated it
	hash      TEXT NOT NULL,  -- of the content, as in graphs
	numbering TEXT NOT NULL,  -- as in points
	sum       INTEGER NOT NULL,
	PRIMARY KEY (spec, model)
) STRICT, WITHOUT ROWID;

CREATE VIEW points AS SELECT * FROM stored_points WHERE position >= 0;
CREATE VIEW axes AS SELECT a.* FROM points p JOIN stored_axes a ON a.point = p.id;
CREATE VIEW super_steps AS SELECT t.* FROM points p JOIN stored_super_steps t ON t.point = p.id;
CREATE VIEW intervals AS SELECT i.* FROM points p JOIN stored_intervals i ON i.point = p.id;

-- For queries: a row a statistic.
CREATE VIEW statistics AS
	SELECT p.id AS point, v.id AS place, CAST(v.key AS INTEGER) AS name, v.value, h.value AS half
	FROM points p JOIN json_each(p.stats) v LEFT JOIN json_each(p.halves) h ON h.key = v.key;
CREATE VIEW step_statistics AS
	SELECT t.id AS super_step, v.id AS place, CAST(v.key AS INTEGER) AS name, v.value, h.value AS half
	FROM super_steps t JOIN json_each(t.stats) v LEFT JOIN json_each(t.halves) h ON h.key = v.key;
CREATE VIEW samples AS
	SELECT i.point, i.place, CAST(v.key AS INTEGER) AS name, v.value FROM intervals i JOIN json_each(i.stats) v;

-- For queries: statistics with their names and points.
CREATE VIEW stats AS
	SELECT p.position, n.name, v.value, n.unit, h.value AS half
	FROM points p JOIN json_each(p.stats) v LEFT JOIN json_each(p.halves) h ON h.key = v.key
		JOIN names n ON n.id = CAST(v.key AS INTEGER);

-- For queries: what super-steps' kernels counted.
CREATE VIEW step_stats AS
	SELECT p.position, t.step, t.kernel, n.name, v.value, n.unit, h.value AS half
	FROM points p JOIN stored_super_steps t ON t.point = p.id JOIN json_each(t.stats) v
		LEFT JOIN json_each(t.halves) h ON h.key = v.key JOIN names n ON n.id = CAST(v.key AS INTEGER);

-- For queries: samples with their names, intervals and points.
CREATE VIEW timeline AS
	SELECT p.position, i.start, i.stop, n.name, v.value, n.unit
	FROM points p JOIN stored_intervals i ON i.point = p.id JOIN json_each(i.stats) v JOIN names n ON n.id = CAST(v.key AS INTEGER);

-- For queries: where schedulers' time went, and warps'.
CREATE VIEW phases AS
	SELECT p.position, substr(n.name, 12, length(n.name) - 28) AS phase, p.stats ->> ('$."' || n.id || '"') AS scheduler_cycles,
		p.stats ->> ('$."' || m.id || '"') AS warp_cycles,
		CAST(p.stats ->> ('$."' || n.id || '"') AS REAL) / max(1, sum(p.stats ->> ('$."' || n.id || '"')) OVER (PARTITION BY p.position)) AS share
	FROM points p JOIN names n ON n.name GLOB 'core.phase.*.scheduler_cycles' AND p.stats ->> ('$."' || n.id || '"') IS NOT NULL
		JOIN names m ON m.name = substr(n.name, 1, length(n.name) - 17) || '.warp_cycles'
	ORDER BY p.position, n.id;

-- For queries: the speedups over the baseline, of points that are verified or replayed, and of parts of runs over such parts;
-- half is as if the errors of both went against each other.
CREATE VIEW speedups AS
	SELECT p.position, p.cycles, CAST(b.cycles AS REAL) / p.cycles AS speedup,
		CASE WHEN p.half IS NULL AND b.half IS NULL THEN NULL
			ELSE CAST(b.cycles AS REAL) / p.cycles * (coalesce(p.half, 0) / p.cycles + coalesce(b.half, 0) / b.cycles) END AS half
	FROM points p JOIN points b ON b.position = p.baseline
	WHERE p.failure = '' AND b.failure = '' AND p.partial = b.partial
		AND (p.verified OR p.replay <> '' OR p.partial <> '') AND (b.verified OR b.replay <> '' OR b.partial <> '') AND p.cycles > 0`}, {tables: `
-- Points are numbered from 1, in the column point of every view; positions, from 0, are internal.
DROP VIEW speedups;
DROP VIEW phases;
DROP VIEW timeline;
DROP VIEW step_stats;
DROP VIEW stats;
DROP VIEW samples;
DROP VIEW step_statistics;
DROP VIEW statistics;
DROP VIEW intervals;
DROP VIEW super_steps;
DROP VIEW axes;
DROP VIEW points;
CREATE INDEX stored_points_number ON stored_points (position + 1);

CREATE VIEW points AS
	SELECT position + 1 AS point, baseline + 1 AS baseline, identity, config, graph, numbering, version, model, cycles,
		half, verified, replay, partial, failure, error, host_seconds, finished, stats, halves, steps, intervals,
		config_sum, sum
	FROM stored_points WHERE position >= 0;
CREATE VIEW axes AS
	SELECT p.position + 1 AS point, a.place, a.key, a.value
	FROM stored_points p JOIN stored_axes a ON a.point = p.id WHERE p.position >= 0;
CREATE VIEW super_steps AS
	SELECT p.position + 1 AS point, t.id, t.step, t.kernel, t.cycles, t.half, t.stats, t.halves, t.sum
	FROM stored_points p JOIN stored_super_steps t ON t.point = p.id WHERE p.position >= 0;
CREATE VIEW intervals AS
	SELECT p.position + 1 AS point, i.place, i.start, i.stop, i.stats, i.sum
	FROM stored_points p JOIN stored_intervals i ON i.point = p.id WHERE p.position >= 0;

-- For queries: a row a statistic.
CREATE VIEW statistics AS
	SELECT p.point, v.id AS place, CAST(v.key AS INTEGER) AS name, v.value, h.value AS half
	FROM points p JOIN json_each(p.stats) v LEFT JOIN json_each(p.halves) h ON h.key = v.key;
CREATE VIEW step_statistics AS
	SELECT t.id AS super_step, v.id AS place, CAST(v.key AS INTEGER) AS name, v.value, h.value AS half
	FROM super_steps t JOIN json_each(t.stats) v LEFT JOIN json_each(t.halves) h ON h.key = v.key;
CREATE VIEW samples AS
	SELECT i.point, i.place, CAST(v.key AS INTEGER) AS name, v.value FROM intervals i JOIN json_each(i.stats) v;

-- For queries: statistics with their names.
CREATE VIEW stats AS
	SELECT p.point, n.name, v.value, n.unit, h.value AS half
	FROM points p JOIN json_each(p.stats) v LEFT JOIN json_each(p.halves) h ON h.key = v.key
		JOIN names n ON n.id = CAST(v.key AS INTEGER);

-- For queries: what super-steps' kernels counted.
CREATE VIEW step_stats AS
	SELECT t.point, t.step, t.kernel, n.name, v.value, n.unit, h.value AS half
	FROM super_steps t JOIN json_each(t.stats) v LEFT JOIN json_each(t.halves) h ON h.key = v.key
		JOIN names n ON n.id = CAST(v.key AS INTEGER);

-- For queries: samples with their names and intervals.
CREATE VIEW timeline AS
	SELECT i.point, i.start, i.stop, n.name, v.value, n.unit
	FROM intervals i JOIN json_each(i.stats) v JOIN names n ON n.id = CAST(v.key AS INTEGER);

-- For queries: where schedulers' time went, and warps'.
CREATE VIEW phases AS
	SELECT p.point, substr(n.name, 12, length(n.name) - 28) AS phase,
		p.stats ->> ('$."' || n.id || '"') AS scheduler_cycles, p.stats ->> ('$."' || m.id || '"') AS warp_cycles,
		CAST(p.stats ->> ('$."' || n.id || '"') AS REAL) /
			max(1, sum(p.stats ->> ('$."' || n.id || '"')) OVER (PARTITION BY p.point)) AS share
	FROM points p
		JOIN names n ON n.name GLOB 'core.phase.*.scheduler_cycles' AND p.stats ->> ('$."' || n.id || '"') IS NOT NULL
		JOIN names m ON m.name = substr(n.name, 1, length(n.name) - 17) || '.warp_cycles'
	ORDER BY p.point, n.id;

-- For queries: the speedups over the baseline, of points that are verified or replayed, and of parts of runs over such
-- parts; half is as if the errors of both went against each other.
CREATE VIEW speedups AS
	SELECT p.point, p.cycles, CAST(b.cycles AS REAL) / p.cycles AS speedup,
		CASE WHEN p.half IS NULL AND b.half IS NULL THEN NULL
			ELSE CAST(b.cycles AS REAL) / p.cycles *
				(coalesce(p.half, 0) / p.cycles + coalesce(b.half, 0) / b.cycles) END AS half
	FROM points p JOIN points b ON b.point = p.baseline
	WHERE p.failure = '' AND b.failure = '' AND p.partial = b.partial AND p.cycles > 0
		AND (p.verified OR p.replay <> '' OR p.partial <> '') AND (b.verified OR b.replay <> '' OR b.partial <> '')`},
}
