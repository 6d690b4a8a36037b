'use strict';
(function () {
  const data = JSON.parse(document.getElementById('data').textContent);
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);

  // Numbers as the SVG files show them.
  function compact(v) {
    const digits = (x) => String(Number(x.toPrecision(4)));
    const size = Math.abs(v);
    if (size >= 1e9) return digits(v / 1e9) + 'G';
    if (size >= 1e6) return digits(v / 1e6) + 'M';
    if (size >= 1e4) return digits(v / 1e3) + 'k';
    return digits(v);
  }
  const show = (v, scale) => v === null || v === undefined ? '–' : scale.percent ? Number((100 * v).toPrecision(3)) + ' %' : compact(v);

  // Colours of the page, which follow its theme.
  function colours() {
    const css = getComputedStyle(root);
    const of = (name) => css.getPropertyValue('--' + name).trim();
    return { back: of('panel'), text: of('text'), dim: of('dim'), grid: of('grid'), edge: of('edge') };
  }
  const symbols = ['circle', 'rect', 'triangle', 'diamond'];
  const dashes = ['solid', [7, 3], [2, 3], [8, 3, 2, 3]];
  const colour = (i, s, of, f) => s.bound ? data.bound : s.other ? data.other : s.fixed || of[(i + (f && f.skip || 0)) % of.length];
  const longest = (names) => names.reduce((n, s) => Math.max(n, s.length), 0);
  
  // The legend lists each series, in as many rows as it takes, also a variant that is alone.
  function legend(f, width) {
    if (!f.series || f.series.length === 1 && f.series[0].name === f.y.name) return { rows: 0 };
    const room = width - 16;
    let rows = 1, used = 0;
    for (const s of f.series) {
      const lines = Math.ceil(7.2 * s.name.length / (room - 40)), item = Math.min(room, 45 + 7.2 * s.name.length);
      if (used > 0 && used + item > room) { rows++; used = 0; }
      used += item;
      rows += lines - 1;
    }
    return { rows, room };
  }
  function common(f, c, width) {
    const { rows, room } = legend(f, width);
    return {
      animation: false, backgroundColor: 'transparent', textStyle: { color: c.text, fontFamily: 'system-ui, sans-serif' },
      aria: { enabled: true, label: { description: f.title } },
      // Plain text: no name or value ever becomes markup.
      tooltip: { renderMode: 'richText', confine: true, backgroundColor: c.back, borderColor: c.edge, textStyle: { color: c.text } },
      legend: rows ? { top: 0, left: 'center', width: room, textStyle: { color: c.text, width: room - 40, overflow: 'break' } } : undefined,
      grid: { left: 16, right: 24, top: 22 + 24 * rows, bottom: 34, containLabel: true },
    };
  }
  function valueAxis(scale, c, more) {
    return Object.assign({
      type: scale.log ? 'log' : 'value', name: scale.from ? scale.name + ' (from ' + show(scale.from, scale) + ')' : scale.name, nameLocation: 'middle', nameTextStyle: { color: c.text, width: c.width / 2, overflow: 'break' },
      axisLabel: { color: c.text, hideOverlap: true, formatter: (v) => show(v, scale) }, axisLine: { lineStyle: { color: c.dim } }, splitLine: { lineStyle: { color: c.grid } },
    }, more);
  }
  function nameAxis(names, c, more) {
    return Object.assign({
      type: 'category', data: names, nameLocation: 'middle', nameTextStyle: { color: c.text, width: c.width / 2, overflow: 'break' },
      axisLabel: { color: c.text, width: Math.min(280, 0.4 * c.width), overflow: 'break', lineHeight: 14 }, axisLine: { lineStyle: { color: c.dim } }, axisTick: { show: false },
    }, more);
  }

  const reference = (f, c) => f.line ? { silent: true, symbol: 'none', data: [{ yAxis: f.line }], lineStyle: { color: c.dim, type: 'dashed' }, label: { show: false } } : undefined;

  // Confidence intervals, on top of bars (by place) or of a line's points.
  function whiskers(f, c, i, data, place) {
    const s = f.series[i];
    if (!s.errors) return [];
    return [{
      type: 'custom', name: s.name, data: data, z: 5, silent: true, tooltip: { show: false }, itemStyle: { color: c.text },
      renderItem: (_, api) => {
        if (isNaN(api.value(2))) return null;
        const low = api.coord([api.value(0), Math.max(0, api.value(1) - api.value(2))]), high = api.coord([api.value(0), api.value(1) + api.value(2)]);
        const x = high[0] + place(api), line = (x1, y1, x2, y2) => ({ type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke: c.text, lineWidth: 1.2 } });
        return { type: 'group', children: [line(x, high[1], x, low[1]), line(x - 4, high[1], x + 4, high[1]), line(x - 4, low[1], x + 4, low[1])] };
      },
    }];
  }
  // The end of an axis that shows them all.
  function reach(f, values) {
    const ends = f.series.flatMap((s) => s.errors ? values(s).map((v, k) => v === null ? 0 : v + (s.errors[k] || 0)) : []);
    return ends.length ? { max: (v) => Math.max(v.max, 1.05 * Math.max(...ends)) } : {};
  }
  const interval = (s, i, scale) => s.errors && s.errors[i] !== null ? ' ± ' + show(s.errors[i], scale) : '';

  const draw = {};
  draw.bars = function (f, c) {
    const width = c.width;
    const o = common(f, c, c.width);
    const tilt = longest(f.columns) * 7 > (width - 90) / f.columns.length;
    o.xAxis = nameAxis(f.columns, c);
    const upright = tilt && (width - 90) / f.columns.length < 30; // tilted names would overlap
    o.xAxis.axisLabel.rotate = upright ? 90 : tilt ? 40 : 0;
    if (tilt) o.xAxis.axisLabel.overflow = longest(f.columns) > 44 ? 'break' : 'none';
    o.xAxis.axisLabel.interval = f.columns.length > 40 ? 'auto' : 0;
    o.yAxis = valueAxis(f.y, c, Object.assign({ nameGap: 52, min: f.y.from || undefined }, reach(f, (s) => s.values)));
    o.yAxis.axisLabel.showMaxLabel = o.yAxis.max ? false : null;
    if (upright) Object.assign(o.xAxis.axisLabel, { overflow: 'truncate', width: 180 });
    o.grid.left = tilt && !upright ? Math.max(40, 4.8 * Math.min(60, f.columns[0].length) - 20) : 40;
    o.grid.bottom = 10;
    // A value that is the same everywhere is a line across; its own, without a stroke, makes room for it on the axis.
    const level = (s, i) => ({
      type: 'line', name: s.name, data: s.values, symbol: 'none', itemStyle: { color: colour(i, s, data.palette, f) }, lineStyle: { opacity: 0 },
      markLine: { silent: true, symbol: 'none', data: [{ yAxis: s.values[0] }], lineStyle: { color: colour(i, s, data.palette, f), type: [9, 4], width: 2 }, label: { show: false } },
    });
    const uprights = f.series.filter((s) => !s.level);
    o.series = f.series.map((s, i) => s.level ? level(s, i) : ({
      type: 'bar', name: s.name, data: s.values, itemStyle: { color: colour(i, s, data.palette, f) }, barMaxWidth: 56,
      label: { show: !s.errors && f.columns.length * uprights.length <= 16, position: 'top', color: c.text, formatter: (p) => show(p.value, f.y) },
      markLine: s === uprights[0] ? reference(f, c) : undefined,
    }));
    f.series.forEach((s, i) => s.level || o.series.push(...whiskers(f, c, i, s.values.map((v, k) => [k, v, s.errors ? s.errors[k] : null]),
      (api) => api.barLayout({ count: uprights.length, barMaxWidth: 56 })[uprights.indexOf(s)].offsetCenter)));
    o.tooltip.formatter = (p) => p.seriesName + '\n' + p.name + ': ' + show(p.value, f.y) + interval(f.series[p.seriesIndex], p.dataIndex, f.y);
    if (f.columns.length > 40) {
      o.dataZoom = [{ type: 'slider', bottom: 4, height: 18, end: 100 * 40 / f.columns.length }];
      o.grid.bottom = 50;
    }
    return o;
  };
  draw.stack = function (f, c) {
    const o = common(f, c, c.width);
    o.xAxis = valueAxis(f.x, c, { nameGap: 30, max: f.x.percent ? 1 : undefined });
    o.yAxis = nameAxis(f.columns, c, { inverse: true });
    o.yAxis.axisLabel.interval = 0;
    o.series = f.series.map((s, i) => s.gap ? {
      type: 'bar', stack: 'all', data: s.values, silent: true, tooltip: { show: false }, itemStyle: { color: 'transparent' }, barMaxWidth: 24,
    } : ({
      type: 'bar', stack: 'all', name: s.name, data: s.values, barMaxWidth: 24,
      itemStyle: { color: colour(i, s, data.stack), borderColor: c.back, borderWidth: 1 },
      label: { show: true, color: '#1b1f24', fontSize: 11, formatter: (p) => f.x.percent ? (p.value >= 0.045 && p.value * (0.6 * c.width - 60) >= 28 ? Math.round(100 * p.value) + ' %' : '') : '' },
    }));
    o.tooltip.formatter = (p) => p.name + '\n' + p.seriesName + ': ' + show(p.value, f.x);
    return o;
  };
  draw.lines = function (f, c) {
    if (!f.x.ticks) return overTime(f, c);
    const o = common(f, c, c.width);
    const ticks = f.x.ticks;
    const near = (a, b) => Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
    o.grid.left = 40;
    // A swept axis has a mark at each value. ECharts' logarithmic axes cannot, so the logarithm is taken here.
    const named = (x) => { const i = ticks.findIndex((t) => near(t, x)); return f.x.names && i >= 0 ? f.x.names[i] : compact(x); };
    const place = (x) => f.x.log ? Math.log2(x) : x;
    const low = place(ticks[0]), high = place(ticks[ticks.length - 1]);
    o.xAxis = valueAxis({ name: f.x.name }, c, { nameGap: 28, min: low, max: high, boundaryGap: false });
    o.xAxis.axisLabel.customValues = ticks.map(place);
    o.xAxis.axisTick = { customValues: ticks.map(place) };
    o.xAxis.splitLine = { show: false };
    o.xAxis.axisLabel.formatter = (v) => { const t = ticks.find((t) => near(place(t), v)); return t === undefined ? '' : named(t); };
    o.yAxis = valueAxis(f.y, c, Object.assign({ nameGap: 52, min: f.y.log ? undefined : f.y.from || 0 }, reach(f, (s) => s.points.map((p) => p[1]))));
    o.yAxis.axisLabel.showMaxLabel = o.yAxis.max ? false : null;
    o.series = f.series.map((s, i) => ({
      type: 'line', name: s.name, data: s.points.map((p) => [place(p[0]), p[1], p[0]]), symbol: s.level ? 'none' : symbols[i % 4], symbolSize: 9, connectNulls: false, clip: false,
      itemStyle: { color: colour(i, s, data.palette, f) }, lineStyle: { color: colour(i, s, data.palette, f), width: 2, type: s.level ? [9, 4] : dashes[i % 4] },
      markLine: i === 0 ? reference(f, c) : undefined,
    }));
    f.series.forEach((s, i) => o.series.push(...whiskers(f, c, i, s.points.map((p, k) => [place(p[0]), p[1], s.errors ? s.errors[k] : null]), () => 0)));
    o.tooltip.formatter = (p) => p.seriesName + '\n' + f.x.name + ' ' + named(p.value[2]) + ': ' + show(p.value[1], f.y) + interval(f.series[p.seriesIndex], p.dataIndex, f.y);
    return o;
  };
  // Over the cycles of a run: many points, without marks; all series at the cycle under the pointer.
  function overTime(f, c) {
    const o = common(f, c, c.width);
    o.grid.left = 40;
    o.grid.bottom = 64;
    o.dataZoom = [{ type: 'slider', bottom: 4, height: 18, labelFormatter: compact, textStyle: { color: c.text } }];
    o.xAxis = valueAxis(f.x, c, { nameGap: 28, min: 'dataMin', max: 'dataMax' });
    o.xAxis.splitLine = { show: false };
    o.xAxis.axisLabel.showMinLabel = o.xAxis.axisLabel.showMaxLabel = false;
    o.yAxis = valueAxis(f.y, c, { nameGap: 52, min: 0, max: f.kind === 'area' ? 1 : undefined });
    o.tooltip.trigger = 'axis';
    o.tooltip.axisPointer = { type: 'line', label: { show: false } };
    o.tooltip.formatter = (all) => f.x.name + ' ' + compact(all[0].value[0]) + all.map((p) => '\n' + p.seriesName + ': ' + show(p.value[1], f.y)).join('');
    if (f.kind === 'area') {
      // ECharts stacks on axes of names only: each area reaches to the sum with those below it, which cover it.
      const sums = f.series[0].points.map(() => 0);
      o.series = f.series.map((s, i) => {
        const at = colour(i, s, data.stack);
        const points = s.points.map((p, k) => [p[0], sums[k] += p[1], p[1]]);
        return { type: 'line', name: s.name, data: points, showSymbol: false, z: 100 - i, itemStyle: { color: at }, lineStyle: { width: 0 }, areaStyle: { color: at, opacity: 1 } };
      });
      o.tooltip.formatter = (all) => f.x.name + ' ' + compact(all[0].value[0]) + all.map((p) => '\n' + p.seriesName + ': ' + show(p.value[2], f.y)).join('');
      return o;
    }
    o.series = f.series.map((s, i) => ({
      type: 'line', name: s.name, data: s.points, showSymbol: false, itemStyle: { color: colour(i, s, data.palette, f) },
      lineStyle: { color: colour(i, s, data.palette, f), width: 1.5, type: dashes[i % 4] },
    }));
    return o;
  }
  draw.area = overTime;
  draw.scatter = function (f, c) {
    const o = common(f, c, c.width);
    o.grid.left = 40;
    const all = f.series.flatMap((s) => s.points);
    const span = (k) => { const v = all.map((p) => p[k]).filter((x) => x > 0); return { min: Math.min(...v) / 1.2, max: Math.max(...v) * 1.2 }; };
    o.xAxis = valueAxis(f.x, c, Object.assign({ nameGap: 28 }, span(0)));
    o.yAxis = valueAxis(f.y, c, Object.assign({ nameGap: 66 }, span(1)));
    for (const a of [o.xAxis, o.yAxis]) {
      a.logBase = a.max / a.min > 500 ? 10 : 2; // ECharts' marks are one base apart below ten powers of it, ten above
      a.axisLabel.showMinLabel = a.axisLabel.showMaxLabel = false;
    }
    o.series = f.series.map((s, i) => s.bound
      ? { type: 'line', name: s.name, data: s.points, symbol: 'none', silent: true, lineStyle: { color: data.bound, type: 'dashed', width: 2 }, itemStyle: { color: data.bound } }
      : { type: 'scatter', name: s.name, data: s.points, symbol: symbols[i % 4], symbolSize: 12, itemStyle: { color: colour(i, s, data.palette, f), opacity: 0.9 } });
    o.tooltip.formatter = (p) => { const s = f.series[p.seriesIndex]; return s.labels ? s.labels[p.dataIndex] : s.name; };
    return o;
  };
  draw.heat = function (f, c) {
    const o = common(f, c, c.width);
    const cells = f.cells.flatMap((row, r) => row.map((v, k) => [k, r, v])).filter((x) => x[2] !== null);
    const values = cells.map((x) => x[2]);
    o.grid = { left: 40, right: 110, top: 16, bottom: 34, containLabel: true };
    o.xAxis = nameAxis(f.columns, c, { name: f.x.name, nameGap: 30 });
    o.yAxis = nameAxis(f.rows, c, { name: f.y.name, nameGap: 20 + 7.5 * longest(f.rows) });
    o.visualMap = {
      min: Math.min(...values), max: Math.max(...values), show: values.length > 1 && Math.min(...values) < Math.max(...values), right: 0, top: 'middle', itemHeight: 140, textStyle: { color: c.text },
      text: [show(Math.max(...values), f.y), show(Math.min(...values), f.y)], inRange: { color: ['#440154', '#3b528b', '#21918c', '#5ec962', '#fde725'] },
    };
    const half = o.visualMap.min + (o.visualMap.max - o.visualMap.min) * 0.55;
    o.series = [{
      type: 'heatmap', data: cells.map((x) => ({ value: x, label: { color: x[2] > half ? '#1b1f24' : '#ffffff' } })),
      label: { show: cells.length <= 200, formatter: (p) => show(p.value[2], f.y) }, itemStyle: { borderColor: c.back, borderWidth: 1 },
    }];
    o.tooltip.formatter = (p) => f.columns[p.value[0]] + ', ' + f.rows[p.value[1]] + ': ' + show(p.value[2], f.y);
    return o;
  };

  function height(f, width) {
    const more = 24 * Math.max(0, legend(f, width).rows - 1);
    switch (f.kind) {
      case 'stack': return more + 100 + f.columns.reduce((n, s) => n + 16 + 14 * Math.ceil(7.2 * s.length / Math.min(280, 0.4 * width)), 0);
      case 'heat': return 110 + 44 * f.rows.length;
      case 'bars': return more + 380 + Math.min(120, 3 * longest(f.columns));
    }
    return more + 400;
  }

  // Place is where the figures of a group are shown, one at a time.
  class Place {
    constructor(element) {
      this.element = element;
      this.figures = data.figures.filter((f) => f.group === element.dataset.group);
      this.choice = element.querySelector('select');
      if (this.choice) this.choice.addEventListener('change', () => this.draw());
      element.querySelector('.download').addEventListener('click', () => this.download());
      this.draw();
    }
    figure() { return this.figures[this.choice ? Number(this.choice.value) : 0]; }
    draw() {
      if (this.element.closest('details:not([open])')) return; // it has no size, and is drawn when it is opened
      const f = this.figure(), box = this.element.querySelector('.chart');
      this.element.querySelector('h3').textContent = f.title;
      this.element.querySelector('.note').textContent = f.note;
      if (this.chart) this.chart.dispose();
      const width = box.clientWidth;
      box.style.height = height(f, width) + 'px';
      this.chart = echarts.init(box, null, { renderer: 'svg' });
      this.chart.setOption(draw[f.kind](f, Object.assign(colours(), { width })));
    }
    download() {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([this.chart.renderToSVGString()], { type: 'image/svg+xml' }));
      link.download = this.figure().id + '.svg';
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }
  }
  const places = Array.from(document.querySelectorAll('figure'), (e) => new Place(e));
  const folds = Array.from(document.querySelectorAll('details'));
  const drawIn = (fold) => places.forEach((p) => { if (fold.contains(p.element)) p.draw(); });
  folds.forEach((d) => d.addEventListener('toggle', () => { if (d.open) drawIn(d); }));
  // The target of a link is open, and so is everything on paper.
  document.querySelectorAll('nav a').forEach((a) => a.addEventListener('click', () => {
    document.querySelectorAll(a.getAttribute('href') + ' > details.all').forEach((d) => { d.open = true; });
  }));
  let unfolded = [];
  addEventListener('beforeprint', () => {
    unfolded = folds.filter((d) => !d.open);
    unfolded.forEach((d) => { d.open = true; drawIn(d); });
  });
  addEventListener('afterprint', () => { unfolded.forEach((d) => { d.open = false; }); unfolded = []; });
  let resizing = 0;
  addEventListener('resize', () => { clearTimeout(resizing); resizing = setTimeout(() => places.forEach((p) => p.draw()), 150); });

  // The theme is the system's until the reader chooses.
  const system = matchMedia('(prefers-color-scheme: dark)');
  const dark = () => root.dataset.theme ? root.dataset.theme === 'dark' : system.matches;
  function themed() {
    byId('theme').textContent = dark() ? 'Light' : 'Dark';
    places.forEach((p) => p.draw());
  }
  byId('theme').addEventListener('click', () => { root.dataset.theme = dark() ? 'light' : 'dark'; themed(); });
  system.addEventListener('change', themed);
  themed();

  // Columns of numbers are sorted as numbers; cells without a value come last.
  function sort(table, column) {
    const heads = Array.from(table.tHead.rows[0].cells), head = heads[column];
    const turn = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
    heads.forEach((h) => h.setAttribute('aria-sort', 'none'));
    head.setAttribute('aria-sort', turn > 0 ? 'ascending' : 'descending');
    const rows = Array.from(table.tBodies[0].rows, (row) => ({ row, key: row.cells[column].dataset.sort }));
    const numbers = rows.every((r) => r.key === '' || !isNaN(Number(r.key)));
    rows.sort((a, b) => {
      if (a.key === '' || b.key === '') return (a.key === '') - (b.key === '');
      return turn * (numbers ? Number(a.key) - Number(b.key) : a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
    });
    table.tBodies[0].append(...rows.map((r) => r.row));
  }
  Array.from(byId('table').tHead.rows[0].cells).forEach((cell, i) => cell.firstChild.addEventListener('click', () => sort(byId('table'), i)));

  // Statistics: those that hold all words of the search, of two points side by side.
  const stats = data.statistics, most = 300;
  const hay = stats.names.map((n, i) => (n + ' ' + stats.units[i] + ' ' + stats.docs[i]).toLowerCase());
  for (const id of ['first', 'second']) {
    data.labels.forEach((label, i) => byId(id).add(new Option(label, i)));
  }
  byId('second').selectedIndex = Math.min(1, data.labels.length - 1);
  const exact = (v) => v === null ? '–' : Number.isInteger(v) ? v.toLocaleString('en') : String(Number(v.toPrecision(6)));
  const within = (i, p, v) => stats.halves && stats.halves[i][p] && v !== null && Number(v) ? ' ±' + (100 * stats.halves[i][p] / Math.abs(v)).toFixed(1) + ' %' : '';
  function search() {
    const words = byId('query').value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = stats.names.map((_, i) => i).filter((i) => words.every((w) => hay[i].includes(w)));
    const a = Number(byId('first').value), b = Number(byId('second').value);
    byId('stats').tBodies[0].replaceChildren(...hits.slice(0, most).map((i) => {
      const row = document.createElement('tr'), x = stats.rows[i][a], y = stats.rows[i][b];
      [stats.names[i], stats.units[i], exact(x) + within(i, a, x), exact(y) + within(i, b, y), x && y ? exact(x / y) : '–', stats.docs[i]].forEach((text, k) => {
        const cell = row.insertCell();
        cell.textContent = text;
        if (k >= 2 && k <= 4) cell.className = 'number';
      });
      return row;
    }));
    byId('found').textContent = hits.length + ' of ' + stats.names.length + ' statistics' + (hits.length > most ? '; the first ' + most + ' are shown' : '') + '. ' + stats.note;
  }
  for (const id of ['query', 'first', 'second']) byId(id).addEventListener('input', search);
  document.querySelector('.search').addEventListener('submit', (e) => e.preventDefault());
  search();
  root.dataset.ready = 'yes';
})();
