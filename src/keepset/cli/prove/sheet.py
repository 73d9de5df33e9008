"""The style sheet of a proof's page: light and dark, narrow and wide, and on paper."""

from __future__ import annotations

from typing import Final

SHEET: Final = """
:root {
  color-scheme: light dark;
  --ground: #fdfdfc; --raised: #ffffff; --ink: #1c1f23; --soft: #5c636b; --line: #dfe2e5;
  --link: #0b5cad; --focus: #0b5cad;
  --needed: #b3261e; --on-needed: #ffffff; --differs: #8e3a9d; --on-differs: #ffffff;
  --unknown: #f5d675; --on-unknown: #3b2f00; --restored: #bfe0f2; --on-restored: #0b3a52;
  --free: #eef1ee; --on-free: #5c636b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171a; --raised: #1d2125; --ink: #e7e9eb; --soft: #a2a9b1; --line: #343a40;
    --link: #8ec5ff; --focus: #8ec5ff;
    --needed: #e5645a; --on-needed: #1b0503; --differs: #d08be0; --on-differs: #22062a;
    --unknown: #cfae45; --on-unknown: #241c00; --restored: #2f6d8f; --on-restored: #eaf6fd;
    --free: #262b30; --on-free: #a2a9b1;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 76rem;
  background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 .5rem; }
p { margin: .4rem 0; max-width: 75ch; overflow-wrap: anywhere; }
a { color: var(--link); }
code, .name { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .9em; }
.name, code { overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.counts, .key, .legend { display: flex; flex-wrap: wrap; padding: 0; list-style: none; }
.counts { gap: .5rem; margin: 1rem 0; }
.counts li { padding: .15rem .6rem; border-radius: 1rem; }
.scroll { overflow-x: auto; max-width: 100%; border: 1px solid var(--line); border-radius: .5rem; }
.scroll.fit { width: fit-content; }
.scroll:focus-visible, a:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
table { border-collapse: collapse; background: var(--raised); }
.facts { width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; }
thead th { border-bottom: 1px solid var(--line); font-size: .85rem; color: var(--soft); }
.facts tbody tr + tr > * { border-top: 1px solid var(--line); }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.tag { display: inline-block; padding: 0 .5rem; border-radius: 1rem; white-space: nowrap; }
.needed { background: var(--needed); color: var(--on-needed); }
.differs { background: var(--differs); color: var(--on-differs); }
.unknown { background: var(--unknown); color: var(--on-unknown); }
.restored { background: var(--restored); color: var(--on-restored); }
.free { background: var(--free); color: var(--on-free); }
.map th[scope="row"] {
  position: sticky; left: 0; z-index: 1; background: var(--raised); font-weight: normal;
  min-width: min(var(--names) + 1.4rem, 18rem); border-right: 1px solid var(--line);
}
.map th[scope="col"] { text-align: center; padding: .35rem 0; font-variant-numeric: tabular-nums; }
.map td { padding: 1px; }
.map td > a {
  display: grid; place-items: center; width: 2.25rem; height: 2rem; border-radius: .25rem;
  text-decoration: none; font-weight: 600;
}
.map td > a:focus-visible { outline-offset: 0; position: relative; z-index: 2; }
.map td > a:hover { filter: brightness(1.1); box-shadow: inset 0 0 0 2px var(--ink); }
.card {
  display: none; position: fixed; z-index: 5; left: 50%; bottom: 1rem; transform: translateX(-50%);
  width: min(44rem, calc(100vw - 2rem)); max-height: 60vh; overflow: auto; padding: .75rem 1rem;
  background: var(--raised); border: 2px solid var(--ink); border-radius: .5rem;
  box-shadow: 0 .5rem 2rem rgb(0 0 0 / .35);
}
.card:target { display: block; }
a:focus-visible + .card { display: block; z-index: 6; }
.card h3 { font-size: 1rem; margin: 0 0 .25rem; padding-right: 4rem; overflow-wrap: anywhere; }
.card ul { margin: .25rem 0; padding-left: 1.25rem; overflow-wrap: anywhere; }
.close { display: none; position: absolute; right: 1rem; top: .75rem; }
.card:target .close { display: block; }
.key, .legend { gap: .25rem 1.25rem; margin: .75rem 0; }
.key b { font-variant-numeric: tabular-nums; }
.legend .tag { width: 1.75rem; text-align: center; padding: 0; font-weight: 600; }
.finding { border-left: .3rem solid var(--unknown); padding: .1rem .75rem; margin: .75rem 0; }
.finding.error { border-color: var(--needed); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: .5rem 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  .facts thead { position: absolute; width: 1px; height: 1px; overflow: hidden; opacity: 0; }
  .facts, .facts tbody { display: block; }
  .facts tr { display: flex; flex-wrap: wrap; gap: .1rem 1.25rem; align-items: baseline; }
  .facts tbody tr { padding: .5rem .6rem; }
  .facts td:nth-child(3) { flex-basis: 100%; }
  .facts tbody tr + tr { border-top: 1px solid var(--line); }
  .facts tbody tr + tr > * { border-top: 0; }
  .facts td, .facts th { padding: .1rem 0; }
  .facts .number { text-align: left; }
  .facts td[data-head]::before { content: attr(data-head) ": "; color: var(--soft); }
  .map th[scope="row"] { min-width: min(var(--names) + 1.4rem, 40vw); }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
}
@media print {
  :root {
    --ground: #ffffff; --raised: #ffffff; --ink: #000000; --soft: #444444; --line: #bbbbbb;
    --needed: #b3261e; --on-needed: #ffffff; --differs: #8e3a9d; --on-differs: #ffffff;
    --unknown: #f5d675; --on-unknown: #3b2f00; --restored: #bfe0f2; --on-restored: #0b3a52;
    --free: #eef1ee; --on-free: #444444;
  }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .scroll { overflow: visible; border: 0; }
  .map th[scope="row"] { position: static; }
  .map td > a { width: 1.5rem; height: 1.4rem; }
  .card, .card:target { display: none; }
  tr, .finding { break-inside: avoid; }
  .paper { display: block !important; }
}
.paper { display: none; }
"""
