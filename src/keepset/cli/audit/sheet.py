"""What an audit's page adds to the style sheet of a proof's: charts and severities."""

from __future__ import annotations

from typing import Final

from keepset.cli.prove.sheet import SHEET as _SHEET

SHEET: Final = f"""{_SHEET}
:root {{
  --c1: #0b5cad; --c2: #b3261e; --c3: #2e7d32; --c4: #8e3a9d; --c5: #a15c00;
  --bar: #5b8fc7; --bad: #c4443b;
}}
@media (prefers-color-scheme: dark) {{
  :root {{
    --c1: #8ec5ff; --c2: #ff8a80; --c3: #81c784; --c4: #d08be0; --c5: #ffb74d;
    --bar: #4f86bf; --bad: #d9635a;
  }}
}}
@media print {{
  :root {{
    --c1: #0b5cad; --c2: #b3261e; --c3: #2e7d32; --c4: #8e3a9d; --c5: #a15c00;
    --bar: #5b8fc7; --bad: #c4443b;
  }}
}}
.charts {{
  display: grid; gap: 1rem; margin: 1rem 0;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr));
}}
figure {{
  margin: 0; padding: .75rem 1rem; min-width: 0; break-inside: avoid;
  background: var(--raised); border: 1px solid var(--line); border-radius: .5rem;
}}
figcaption {{ margin-bottom: .5rem; }}
.chart {{ display: block; width: 100%; height: auto; }}
.chart text {{ font: 11px system-ui, sans-serif; fill: var(--ink); }}
.chart .name {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 10px; }}
.chart .grid {{ stroke: var(--line); stroke-width: 1; }}
.chart .line {{ fill: none; stroke-width: 2; stroke-linejoin: round; }}
.bar {{ fill: var(--bar); }}
.bad {{ fill: var(--bad); }}
.line.c1 {{ stroke: var(--c1); }} .dot.c1 {{ fill: var(--c1); }}
.line.c2 {{ stroke: var(--c2); }} .dot.c2 {{ fill: var(--c2); }}
.line.c3 {{ stroke: var(--c3); }} .dot.c3 {{ fill: var(--c3); }}
.line.c4 {{ stroke: var(--c4); }} .dot.c4 {{ fill: var(--c4); }}
.line.c5 {{ stroke: var(--c5); }} .dot.c5 {{ fill: var(--c5); }}
.swatch {{ display: inline-block; width: .8em; height: .8em; border-radius: 2px; }}
.swatch.c1 {{ background: var(--c1); }} .swatch.c2 {{ background: var(--c2); }}
.swatch.c3 {{ background: var(--c3); }} .swatch.c4 {{ background: var(--c4); }}
.swatch.c5 {{ background: var(--c5); }}
.legend {{ align-items: center; }}
.legend .swatch {{ margin-right: .4em; }}
.error {{ background: var(--needed); color: var(--on-needed); }}
.warning {{ background: var(--unknown); color: var(--on-unknown); }}
.advice {{ background: var(--restored); color: var(--on-restored); }}
.yes {{ background: var(--free); color: var(--on-free); }}
.no {{ background: var(--needed); color: var(--on-needed); }}
.facts th.name {{ min-width: 14ch; overflow-wrap: break-word; }}
.facts thead .number {{ text-align: right; }}
.hint {{ color: var(--soft); font-size: .9em; }}
@media (max-width: 40rem) {{
  .facts th.name {{ min-width: 0; }}
  .facts td:empty {{ display: none; }}
  .facts td.wide {{ flex-basis: 100%; }}
  .facts td:nth-child(3) {{ flex-basis: auto; }}
}}
"""
