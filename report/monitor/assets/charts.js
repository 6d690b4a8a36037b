'use strict';
// Lines over time, drawn by ECharts.
const charts = (function () {
  const palette = ['#0072B2', '#E69F00', '#009E73', '#D55E00', '#56B4E9', '#CC79A7', '#B8A800'];
  const rest = '#999999';
  const usual = 'core.issue.instructions,core.scheduler.*,l2.reads,l3.reads,dram.bytes';
  const boxes = new Map(); // by title
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

  function short(n) {
    if (n === null || n === undefined || isNaN(n)) return '–';
    const a = Math.abs(n);
    for (const [unit, of] of [['G', 1e9], ['M', 1e6], ['k', 1e3]]) if (a >= of) return trim(n / of) + unit;
    return trim(n);
  }
  const trim = (n) => String(Number(n.toPrecision(3)));

  // A chart with its title, and a legend with the last values.
  function box(parent, title, note) {
    let b = boxes.get(title);
    if (!b) {
      const e = document.createElement('div');
      e.className = 'chart';
      const head = document.createElement('h3');
      const plot = document.createElement('div');
      plot.className = 'plot';
      const legend = document.createElement('ul');
      e.append(head, plot, legend);
      parent.append(e);
      b = { e: e, head: head, legend: legend, plot: plot, chart: echarts.init(plot, null, { renderer: 'canvas' }), note: '' };
      e.dataset.title = title;
      boxes.set(title, b);
    }
    if (b.note !== note || !b.head.firstChild) {
      const s = document.createElement('span');
      s.textContent = ' ' + note;
      b.head.replaceChildren(title, s);
      b.note = note;
    }
    return b;
  }
  function remove(title) {
    const b = boxes.get(title);
    if (!b) return;
    b.chart.dispose();
    b.e.remove();
    boxes.delete(title);
  }

  // lines: name, points [x, y], colour, and how they are drawn. A value holds over the interval that ends at its x.
  function draw(b, lines, x, options) {
    const o = options || {};
    b.again = () => draw(b, lines, x, options);
    const text = css('dim'), edge = css('edge');
    b.chart.setOption({
      animation: false, aria: { enabled: true },
      grid: { left: 8, right: 16, top: 10, bottom: x.name ? 26 : 8, containLabel: true },
      tooltip: {
        trigger: 'axis', renderMode: 'richText', confine: true, backgroundColor: css('panel'), borderColor: edge, textStyle: { color: css('text'), fontSize: 12 },
        axisPointer: { lineStyle: { color: text } },
        formatter: (all) => [x.text(all[0].value[0]), ...all.map((p) => p.seriesName + ': ' + (o.format || short)(p.value.at(-1)))].join('\n'),
      },
      xAxis: {
        type: 'value', min: 'dataMin', max: 'dataMax', name: x.name, nameLocation: 'middle', nameGap: 24, nameTextStyle: { color: text, fontSize: 12 },
        axisLabel: { color: text, formatter: short, hideOverlap: true, showMinLabel: false, showMaxLabel: false }, axisLine: { lineStyle: { color: edge } }, splitLine: { show: false }, splitNumber: 4,
      },
      yAxis: {
        type: o.log ? 'log' : 'value', min: o.log ? undefined : 0, max: o.max, interval: o.stack ? 0.25 : undefined, axisLabel: { color: text, formatter: o.format || short }, splitLine: { lineStyle: { color: edge } }, splitNumber: 4,
      },
      series: (o.stack ? stacked(lines) : lines).map((l) => ({
        type: 'line', name: l.name, data: l.points, step: l.step === undefined ? 'start' : l.step, showSymbol: false,
        itemStyle: { color: l.colour }, lineStyle: { color: l.colour, width: o.stack ? 0 : 1.8 },
        areaStyle: o.stack ? { color: l.colour, opacity: 1, origin: 'start' } : undefined, emphasis: { disabled: true },
      })),
    }, { notMerge: true });
    b.legend.replaceChildren(...lines.map((l) => {
      const li = document.createElement('li');
      const mark = document.createElement('i');
      mark.style.background = l.colour;
      li.append(mark, l.name + ': ' + (o.format || short)(lastOf(l.points)));
      return li;
    }));
    b.chart.resize();
  }
  function lastOf(points) {
    for (let i = points.length - 1; i >= 0; i--) if (points[i][1] !== null) return points[i][1];
    return NaN;
  }
  // Areas from the ground to their upper edges, the highest first: lower ones are drawn over it. ECharts stacks no
  // series over a value axis. Points are [x, edge, own value].
  function stacked(lines) {
    const edge = lines.length ? lines[0].points.map(() => 0) : [];
    return lines.map((l) => ({
      ...l, points: l.points.map((p, i) => [p[0], p[1] === null ? null : (edge[i] += p[1]), p[1]]),
    })).reverse();
  }

  const per = (values, by) => values.map((v, i) => by[i] > 0 ? v / by[i] : null);
  const percent = (share) => share === null ? '–' : (share === 0 ? 0 : (100 * share).toFixed(share < 0.0995 ? 1 : 0)) + ' %';

  // Colours of causes stay while the causes are shown.
  let colours = new Map();
  function assign(names) {
    const next = new Map();
    for (const n of names) if (colours.has(n)) next.set(n, colours.get(n));
    const free = palette.filter((c) => ![...next.values()].includes(c));
    for (const n of names) if (!next.has(n)) next.set(n, free.shift());
    colours = next;
  }

  // The machine that is looked at: s is the answer of /series.
  function time(s, over, another) {
    const [usualBox, anotherBox] = document.querySelectorAll('#time .charts');
    names(s.names);
    const at = over === 'cycles' ? s.cycles : s.seconds;
    const from = over === 'cycles' ? s.from.cycle : s.from.seconds;
    const x = over === 'cycles' ? { name: 'simulated cycles', text: (v) => 'to cycle ' + v.toLocaleString('en-US') } : { name: 'host time, s', text: (v) => 'to ' + v.toFixed(2) + ' s' };
    const cycles = s.cycles.map((c, i) => c - (i ? s.cycles[i - 1] : s.from.cycle));
    const seconds = s.seconds.map((t, i) => t - (i ? s.seconds[i - 1] : s.from.seconds));
    const count = new Map(s.counts.map((c) => [c.name, c]));
    const points = (values) => values.length ? [[from, values[0]], ...values.map((v, i) => [at[i], v])] : [];
    const line = (name, values, i) => ({ name: name, points: points(values), colour: palette[i] });
    document.getElementById('span').textContent = s.seconds.length ? 'the last ' + (s.seconds.at(-1) - s.from.seconds).toFixed(1) + ' s, ' + s.seconds.length + (s.seconds.length === 1 ? ' interval' : ' intervals') : 'nothing is recorded yet';

    draw(box(usualBox, 'IPC', 'warp instructions issued a cycle, all cores'), [line('IPC', per(count.get('core.issue.instructions').values, cycles), 0)], x);
    draw(box(usualBox, 'Schedulers', 'share of their cycles'), stalls(s.counts.filter((c) => c.name.startsWith('core.scheduler.')), points), x, { stack: true, max: 1, format: percent });
    memory(usualBox, s, count, cycles, line, x);
    frontier(usualBox, s, over, at, from, x);
    draw(box(usualBox, 'Simulation speed', 'simulated kilocycles a second of the host'), [line('kilocycles/s', per(cycles, seconds.map((t) => 1000 * t)), 0)], x);
    for (const title of [...boxes.keys()]) if (anotherBox.contains(boxes.get(title).e) && title !== another) remove(title);
    if (another && count.has(another)) {
      const c = count.get(another);
      draw(box(anotherBox, another, (c.unit || 'count') + ' a cycle'), [line(another, per(c.values, cycles), 0)], x);
    }
  }

  function names(list) {
    const select = document.getElementById('another');
    if (select.options.length === list.length + 1) return;
    const value = select.value;
    select.replaceChildren(...['', ...list].map((n) => new Option(n || '(none)', n)));
    select.value = list.includes(value) ? value : '';
  }

  // Shares of all schedulers' cycles: those that issued, the most frequent causes, the other causes together.
  function stalls(counts, points) {
    const all = counts.length ? counts[0].values.map((_, i) => counts.reduce((sum, c) => sum + c.values[i], 0)) : [];
    const total = (c) => c.values.reduce((a, b) => a + b, 0);
    const name = (c) => c.name.replace(/^core\.scheduler\.(stall\.)?(scoreboard\.)?/, '');
    const some = counts.filter((c) => total(c) > 0);
    const first = some.filter((c) => name(c) === 'issued');
    const others = some.filter((c) => name(c) !== 'issued').sort((a, b) => total(b) - total(a));
    const own = [...first, ...others.slice(0, palette.length - 1)];
    const together = others.slice(palette.length - 1);
    assign(own.map(name));
    const lines = own.map((c) => ({ name: name(c), points: points(per(c.values, all)), colour: colours.get(name(c)) }));
    if (together.length) {
      const sum = all.map((_, i) => together.reduce((n, c) => n + c.values[i], 0));
      lines.push({ name: together.length === 1 ? name(together[0]) : together.length + ' other causes', points: points(per(sum, all)), colour: rest });
    }
    return lines;
  }

  function memory(parent, s, count, cycles, line, x) {
    const lines = [line('DRAM', per(count.get('dram.bytes').values, cycles), 0)];
    s.levels.forEach((l, i) => {
      const reads = count.get(l.name + '.reads').values.map((n) => n * l.read_bytes);
      lines.push(line(l.name.toUpperCase() + ' reads', per(reads, cycles), 1 + i));
    });
    const peak = s.dram_peak_bytes_per_cycle;
    draw(box(parent, 'Memory traffic', 'bytes a cycle' + (peak ? ', DRAM at most ' + short(peak) : '')), lines, x);
  }

  // The host program counts active vertices as a super-step begins; they hold until the next one.
  function frontier(parent, s, over, at, from, x) {
    const steps = s.steps.map((t) => [over === 'cycles' ? t.cycle : t.seconds, t.vertices]);
    const begun = steps.filter((p) => p[0] >= from);
    const before = steps.length - begun.length;
    if (before) begun.unshift([from, steps[before - 1][1]]);
    if (!begun.length) {
      remove('Frontier');
      return;
    }
    const end = at.length ? at.at(-1) : begun.at(-1)[0];
    if (end > begun.at(-1)[0]) begun.push([end, begun.at(-1)[1]]);
    const positive = begun.map((p) => p[1]).filter((v) => v > 0);
    const log = positive.length > 0 && Math.max(...positive) > 100 * Math.min(...positive);
    const points = log ? begun.map((p) => [p[0], p[1] || null]) : begun;
    draw(box(parent, 'Frontier', 'active vertices of each super-step' + (log ? ', logarithmic' : '')), [{ name: 'vertices', points: points, colour: palette[0], step: 'end' }], x, { log: log });
  }

  // This process: rows are totals at instants.
  function host(rows) {
    const parent = document.querySelector('#host .charts');
    const x = { name: 'host time, s', text: (v) => v.toFixed(1) + ' s' };
    const since = rows.length ? rows[0].seconds : 0;
    const rate = (of, scale) => {
      const rates = rows.slice(1).map((r, i) => [r.seconds, (of(r) - of(rows[i])) / (r.seconds - rows[i].seconds) / scale]);
      return rates.length ? [[since, rates[0][1]], ...rates] : [];
    };
    const level = (name, colour, of) => ({ name: name, points: rows.map((r) => [r.seconds, of(r)]), colour: colour, step: false });
    draw(box(parent, 'All machines', 'simulated kilocycles a second'), [{ name: 'kilocycles/s', points: rate((r) => r.cycles, 1000), colour: palette[0] }], x);
    draw(box(parent, 'Memory', 'MiB'), [
      level('Go runtime', palette[1], (r) => r.go_bytes / 1048576), level('heap objects', palette[0], (r) => r.heap_bytes / 1048576),
    ], x);
    draw(box(parent, 'Allocation', 'MiB a second'), [{ name: 'allocated', points: rate((r) => r.alloc_bytes, 1048576), colour: palette[0] }], x);
    draw(box(parent, 'Goroutines', ''), [level('goroutines', palette[0], (r) => r.goroutines)], x);
  }

  function forget() { colours = new Map(); }
  addEventListener('resize', () => { for (const b of boxes.values()) b.chart.resize(); });
  dark.addEventListener('change', () => { for (const b of boxes.values()) if (b.again) b.again(); });
  return { time: time, host: host, forget: forget, usual: usual };
})();
