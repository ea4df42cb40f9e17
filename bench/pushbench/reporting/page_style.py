"""The style of the one-file report. It is constant text: nothing of a record is in it."""

from __future__ import annotations

from pushbench.reporting.looks import DARK, LIGHT
from pushbench.reporting.pictures import dark_style


def _theme(tones: dict[str, str]) -> str:
    return "".join(f"--{name}:{tone};" for name, tone in tones.items())


STYLE = (
    f"""
:root{{color-scheme:light dark;{_theme(LIGHT)}}}
@media (prefers-color-scheme:dark){{:root{{{_theme(DARK)}}}{dark_style()}}}
"""
    + """
body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:84rem;margin:1.5rem auto;
padding:0 1rem}
h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:1.8rem}
.verdict{font-size:1.1rem}.fail strong,.invalid strong,td strong{color:var(--bad)}
.aside,small,figcaption{color:var(--muted)}.aside,small{font-size:.85rem}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.12rem .7rem .12rem 0;text-align:right;vertical-align:top;white-space:nowrap}
th[scope=row]{text-align:left;font-weight:normal}.opens>*{padding-top:.7rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--shade);padding:.5rem}
details{margin:.4rem 0}summary{cursor:pointer}
.legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem}.swatch{width:32px;height:12px}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1rem}figure{margin:0}
.chart{width:100%;height:auto}
@media print{body{margin:0;max-width:none}th,td{padding-right:.4rem;font-size:11px}figure{break-inside:avoid}}
"""
)
