'use strict';
(function () {
  const byId = (id) => document.getElementById(id);
  const make = (tag, text, name) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (name) e.className = name;
    return e;
  };
  const count = (n) => n.toLocaleString('en-US');
  const every = 500; // ms between two looks

  let chosen = 0; // the machine's number; 0: none
  let shown = 'time';
  let over = false;
  let before = new Map(); // by machine: its cycle and instructions at the last look
  const rates = new Map(); // by machine: its rates between two polls

  async function get(path) {
    const r = await fetch(path);
    if (!r.ok) throw new Error((await r.text()).trim());
    return r.json();
  }
  const ofMachine = (what) => 'api/machines/' + chosen + '/' + what;

  // Keeps the rows of a table or list, by key, so that open and focused rows stay so.
  function keep(parent, items, key, create, update) {
    const have = new Map([...parent.children].map((e) => [e.dataset.key, e]));
    items.forEach((item, i) => {
      const k = String(key(item, i));
      let e = have.get(k);
      have.delete(k);
      if (!e) {
        e = create(item);
        e.dataset.key = k;
      }
      if (parent.children[i] !== e) parent.insertBefore(e, parent.children[i] || null);
      update(e, item);
    });
    for (const e of have.values()) e.remove();
  }
  function put(e, text) {
    if (e.textContent !== text) e.textContent = text;
  }

  function showState(s) {
    document.title = s.name + ' – heddle';
    put(byId('name'), s.name);
    const bar = byId('points');
    bar.max = Math.max(1, s.total);
    bar.value = s.done;
    put(byId('points-text'), s.done + ' of ' + s.total + ' points done' + (s.failed ? ', ' + s.failed + ' failed' : ''));
    measure(s.machines);
    if (!s.machines.some((m) => m.id === chosen)) choose(s.machines.length ? s.machines[0].id : 0);
    keep(byId('machines').tBodies[0], s.machines, (m) => m.id, machineRow, showMachine);
    showEnded(s.ended);
  }

  function measure(machines) {
    const now = performance.now();
    const next = new Map();
    for (const m of machines) {
      const b = before.get(m.id);
      if (b && now - b.at < every / 2) {
        next.set(m.id, b);
        continue;
      }
      if (b) {
        const cycles = m.cycle - b.cycle;
        rates.set(m.id, { speed: cycles / (now - b.at), ipc: cycles > 0 ? (m.warp_instrs - b.instrs) / cycles : NaN });
      }
      next.set(m.id, { at: now, cycle: m.cycle, instrs: m.warp_instrs });
    }
    before = next;
  }

  function machineRow(m) {
    const row = make('tr');
    const radio = make('input');
    radio.type = 'radio';
    radio.name = 'machine';
    radio.setAttribute('aria-label', 'look at ' + m.label);
    radio.addEventListener('change', () => { choose(m.id); tick(); });
    const button = make('button');
    button.addEventListener('click', () => turn(m.id, button.dataset.to));
    for (let i = 0; i < 11; i++) row.append(make('td', undefined, i > 2 && i < 9 ? 'number' : ''));
    row.cells[0].append(radio);
    row.cells[9].append(make('progress'));
    row.cells[10].append(button);
    return row;
  }

  function showMachine(row, m) {
    const rate = rates.get(m.id);
    const c = row.cells;
    row.className = m.id === chosen ? 'chosen' : '';
    c[0].firstChild.checked = m.id === chosen;
    put(c[1], m.label);
    put(c[2], m.error ? m.state + ': ' + m.error.split('\n')[0] : m.state);
    put(c[3], count(m.cycle));
    put(c[4], rate ? count(Math.round(rate.speed)) : '');
    put(c[5], rate && !isNaN(rate.ipc) ? rate.ipc.toFixed(2) : '');
    put(c[6], m.launches ? String(m.launches) : '');
    put(c[7], m.super_step ? String(m.super_step) : '');
    put(c[8], count(m.edges) + (m.all_edges ? ' of ' + count(m.all_edges) : ''));
    const bar = c[9].firstChild;
    bar.hidden = !m.all_edges;
    bar.max = Math.max(1, m.all_edges);
    bar.value = Math.min(m.edges, m.all_edges);
    const to = m.state === 'running' ? 'pause' : 'continue';
    c[10].firstChild.dataset.to = to;
    put(c[10].firstChild, to);
  }

  function showEnded(list) {
    const box = byId('ended');
    box.hidden = list.length === 0;
    const failed = list.filter((e) => e.error).length;
    put(box.querySelector('summary'), 'ended: ' + list.length + (failed ? ', failed: ' + failed : ''));
    if (failed && !box.dataset.opened) box.open = box.dataset.opened = true;
    keep(box.querySelector('ul'), list, (e, i) => list.length - i + e.label, () => {
      const li = make('li');
      li.append(make('span'), make('pre'));
      return li;
    }, (li, e) => {
      put(li.firstChild, e.label + ': ' + count(e.cycles) + ' cycles');
      put(li.lastChild, e.error || '');
      li.lastChild.hidden = !e.error;
      li.className = e.error ? 'bad' : '';
    });
  }

  async function turn(id, to) {
    try {
      const r = await fetch('api/machines/' + id + '/' + to, { method: 'POST' });
      if (!r.ok) throw new Error((await r.text()).trim());
    } catch (e) {
      say(e.message);
    }
    tick();
  }

  // The machine that is looked at.
  function choose(id) {
    if (id === chosen) return;
    if (id === 0) return; // the last values stay
    chosen = id;
    byId('machine').hidden = false;
    byId('component').replaceChildren();
    byId('tree').replaceChildren();
    charts.forget();
  }
  function say(text) { put(byId('trouble'), text); }

  const looks = {
    async time() {
      const another = byId('another').value;
      const keys = another ? '?keys=' + encodeURIComponent(charts.usual + ',' + another) : '';
      const id = chosen;
      const s = await get(ofMachine('series' + keys));
      if (id === chosen) charts.time(s, byId('over').value, another);
    },
    async host() {
      charts.host(await get('api/host'));
    },
    async fields() {
      const names = byId('component');
      if (!names.children.length) {
        const id = chosen;
        const list = await get(ofMachine('components'));
        if (id !== chosen) return;
        names.replaceChildren(...list.map((n) => make('option', n)));
        grow();
      }
      const open = [...byId('tree').querySelectorAll('ul')].filter((u) => u.closest('details') === null || allOpen(u));
      for (const u of open) if (u.isConnected) await u.look();
    },
    async buffers() {
      const b = await get(ofMachine('buffers?limit=100&sort=' + byId('sort').value));
      put(byId('buffers-text'), b.full + ' of ' + count(b.all) + ' are full');
      keep(byId('buffers').querySelector('tbody'), b.buffers, (l) => l.name, () => {
        const row = make('tr');
        row.append(make('td', undefined, 'name'), make('td'), make('td', undefined, 'number'), make('td', undefined, 'number'));
        row.cells[1].append(make('meter'));
        return row;
      }, (row, l) => {
        put(row.cells[0], l.name);
        row.cells[1].firstChild.value = l.capacity ? l.level / l.capacity : 0;
        put(row.cells[2], count(l.level));
        put(row.cells[3], count(l.capacity));
      });
    },
    async waits() {
      const lines = await get(ofMachine('waits'));
      put(byId('waits').querySelector('pre'), lines.join('\n') || 'No warp or unit waits.');
    },
    async statistics() {
      const list = await get(ofMachine('statistics?search=' + encodeURIComponent(byId('search').value)));
      keep(byId('statistics').querySelector('tbody'), list, (s) => s.name, () => {
        const row = make('tr');
        row.append(make('td', undefined, 'name'), make('td', undefined, 'number'), make('td'), make('td'));
        return row;
      }, (row, s) => {
        put(row.cells[0], s.name);
        put(row.cells[1], s.value.includes('.') ? s.value.slice(0, 8) : count(Number(s.value)));
        put(row.cells[2], s.unit);
        put(row.cells[3], s.doc);
      });
    },
  };

  // The tree of fields. Every list knows how to look again.
  function grow() {
    byId('tree').replaceChildren(branch([]));
  }
  function allOpen(u) {
    for (let d = u.closest('details'); d; d = d.parentElement.closest('details')) if (!d.open) return false;
    return true;
  }
  function branch(path) {
    const list = make('ul');
    const fields = ofMachine('fields?'); // whatever is chosen later
    const component = byId('component').value;
    let from = 0;
    list.look = async () => {
      const q = new URLSearchParams({ component: component, from: from });
      for (const p of path) q.append('at', p);
      const v = await get(fields + q);
      const rows = v.fields || [];
      const more = v.length > rows.length ? [{ turn: true, length: v.length, from: v.from, n: rows.length }] : [];
      keep(list, [...more, ...rows], (f) => f.turn ? 'turn' : f.name + (f.opens ? '/' : ''), (f) => f.turn ? pager() : leaf(path, f), (li, f) => li.show(f));
    };
    function pager() {
      const li = make('li', undefined, 'dim');
      const back = make('button', 'before');
      const on = make('button', 'after');
      const text = make('span');
      li.append(back, on, text);
      li.show = (f) => {
        put(text, ' ' + f.from + ' to ' + (f.from + f.n - 1) + ' of ' + count(f.length));
        back.disabled = f.from === 0;
        on.disabled = f.from + f.n >= f.length;
        back.onclick = () => { from = Math.max(0, f.from - 100); list.look(); };
        on.onclick = () => { from = f.from + 100; list.look(); };
      };
      return li;
    }
    return list;
  }
  function leaf(path, f) {
    const li = make('li');
    const at = [...path, f.name];
    const line = f.opens ? make('summary') : make('div', undefined, 'leaf');
    const text = make('span', undefined, 'text');
    const type = make('span', undefined, 'type');
    line.append(make('b', f.name), text, type);
    if (f.opens) {
      const box = make('details');
      box.append(line);
      box.addEventListener('toggle', () => {
        if (!box.open || box.querySelector(':scope > ul')) return;
        const below = branch(at);
        box.append(below);
        below.look().catch((e) => say(e.message));
      });
      li.append(box);
    } else {
      li.append(line);
    }
    li.show = (now) => {
      text.classList.toggle('changed', text.textContent !== '' && text.textContent !== now.text);
      put(text, now.text);
      put(type, now.type);
    };
    return li;
  }

  // Where the simulator's own time goes.
  async function observe() {
    const seconds = byId('length').value;
    byId('observe').disabled = true;
    put(byId('profile-text'), 'observing for ' + seconds + ' s …');
    try {
      const r = await fetch('api/host/profile?seconds=' + encodeURIComponent(seconds), { method: 'POST' });
      if (!r.ok) throw new Error((await r.text()).trim());
      showProfile(await r.json());
    } catch (e) {
      put(byId('profile-text'), e.message);
    }
    byId('observe').disabled = over;
  }
  const percent = (share) => (100 * share).toFixed(1) + ' %';
  function showProfile(p) {
    put(byId('profile-text'), p.cpu_seconds.toFixed(2) + ' s of processor time in ' + p.seconds.toFixed(1) + ' s, ' + count(p.samples) + ' samples');
    byId('profile').hidden = p.samples === 0;
    const rows = (id, list, order) => byId(id).tBodies[0].replaceChildren(...list.map((s) => {
      const row = make('tr');
      for (const cell of order(make('td', s.name, 'name'), make('td', percent(s.own), 'number'), make('td', percent(s.total), 'number'))) row.append(cell);
      return row;
    }));
    rows('profile-components', p.components, (name, own, total) => [name, own, total]);
    rows('profile-functions', p.functions, (name, own, total) => [own, total, name]);
  }

  function show(what) {
    shown = what;
    for (const b of document.querySelectorAll('nav button')) b.setAttribute('aria-selected', String(b.dataset.show === what));
    for (const name of Object.keys(looks)) byId(name).hidden = name !== what;
    tick();
  }
  for (const b of document.querySelectorAll('nav button')) b.addEventListener('click', () => show(b.dataset.show));
  byId('component').addEventListener('change', () => { grow(); tick(); });
  byId('sort').addEventListener('change', tick);
  byId('over').addEventListener('change', tick);
  byId('another').addEventListener('change', tick);
  byId('observe').addEventListener('click', observe);
  byId('search').addEventListener('input', tick);

  // One request at a time; requests made meanwhile follow it.
  let looking = false;
  let again = false;
  async function tick() {
    if (looking) {
      again = true;
      return;
    }
    looking = true;
    try {
      do {
        again = false;
        await once();
      } while (again && !over);
    } finally {
      looking = false;
    }
  }
  async function once() {
    if (over) return;
    let s;
    try {
      s = await get('api/state?page');
    } catch (e) {
      end('The simulation does not answer any more: it has ended, or was ended. The page shows its last state.');
      return;
    }
    showState(s);
    if (s.over) {
      end('The simulation has ended. The page shows its last state.');
      return;
    }
    if (shown !== 'host' && !s.machines.some((m) => m.id === chosen)) return;
    try {
      await looks[shown]();
      say('');
    } catch (e) {
      say(e.message);
    }
  }
  function end(text) {
    over = true;
    put(byId('news'), text);
    for (const b of document.querySelectorAll('#machines button, #observe')) b.disabled = true;
  }
  document.documentElement.dataset.ready = 'yes';
  tick();
  setInterval(() => { if (!looking) tick(); }, every);
})();
