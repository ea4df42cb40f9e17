"""The style of the one-file report. Text only: nothing of a record is in it."""

from __future__ import annotations

STYLE = """
:root{color-scheme:light dark;--text:#1b1f24;--ground:#fff;--dim:#59616b;--rule:#d5d9de;--band:#eef2f6;--bad:#a3261b;
--c0:#0072b2;--c1:#c24e00;--c2:#00795a;--c3:#a8457f;--c4:#9a6700;--c5:#2b84b8;--c6:#1b1f24;--c7:#6b5b95}
@media (prefers-color-scheme:dark){:root{--text:#e6e8eb;--ground:#15181c;--dim:#9aa4af;--rule:#3a414a;--band:#20262d;
--bad:#ff8a7a;--c0:#56b4e9;--c1:#ff8c42;--c2:#3cc99b;--c3:#e59ac6;--c4:#e6b93c;--c5:#8ecdf2;--c6:#e6e8eb;--c7:#b7a7e0}}
body{font:15px/1.45 system-ui,sans-serif;color:var(--text);background:var(--ground);max-width:84rem;margin:1.5rem auto;
padding:0 1rem}
h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:1.8rem}
.verdict{font-size:1.1rem}.fail strong,.invalid strong,td strong{color:var(--bad)}
.aside,small,figcaption{color:var(--dim)}.aside,small{font-size:.85rem}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.12rem .7rem .12rem 0;text-align:right;vertical-align:top;white-space:nowrap}
th[scope=row]{text-align:left;font-weight:normal}.opens>*{padding-top:.7rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--band);padding:.5rem}
details{margin:.4rem 0}summary{cursor:pointer}
.legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem}.swatch{width:32px;height:8px}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1rem}figure{margin:0}
.chart{width:100%;height:auto}.chart text{font-size:12px;fill:var(--dim)}
.band{fill:var(--band)}.grid{stroke:var(--rule);stroke-width:1}
.limit{stroke:var(--bad);stroke-width:1.5;stroke-dasharray:2 3}
.line{fill:none;stroke-width:1.8;stroke-linejoin:round}.dots{fill:none;stroke-width:6;stroke-linecap:round}
.d1{stroke-dasharray:7 4}.d2{stroke-dasharray:2 3}.d3{stroke-dasharray:9 3 2 3}
.c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}
.c4{stroke:var(--c4)}.c5{stroke:var(--c5)}.c6{stroke:var(--c6)}.c7{stroke:var(--c7)}
@media print{body{margin:0;max-width:none}th,td{padding-right:.4rem;font-size:11px}figure{break-inside:avoid}}
"""
