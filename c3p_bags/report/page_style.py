# SPDX-License-Identifier: Apache-2.0
"""Style sheet of a report, for light and dark screens and for paper."""

STYLE = """
:root{--ink:#1b1f24;--muted:#6a737d;--rule:#e1e4e8;--paper:#fff;--desk:#f4f6f8;--good:#1a7f37;
--note:#b26a00;--bad:#cf222e;--none:#6a737d;--link:#0b62b8}
@media (prefers-color-scheme:dark){:root{--ink:#e6eaef;--muted:#98a2ad;--rule:#333b45;
--paper:#1b2027;--desk:#12161b;--good:#4cc36b;--note:#e3a33b;--bad:#ff7b72;--none:#98a2ad;
--link:#6cb2ff}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:3.6rem}
body{margin:0;background:var(--desk);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main,header>div,nav>div{max-width:1120px;margin:0 auto;padding:0 20px}
header{padding:28px 0 6px}
h1{font-size:25px;line-height:1.25;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:18px;margin:0 0 2px}
p{margin:0 0 12px}
.sub,.about,.more{color:var(--muted)}
.about{font-size:13.5px;max-width:90ch}
nav{position:sticky;top:0;background:var(--desk);z-index:5;border-bottom:1px solid var(--rule)}
nav>div{display:flex;gap:18px;padding-top:9px;padding-bottom:9px;overflow-x:auto;font-size:14px}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
nav a{white-space:nowrap}
.answers{display:grid;grid-template-columns:repeat(auto-fit,minmax(310px,1fr));gap:12px;
margin:18px 0}
.answer{display:block;color:inherit;background:var(--paper);border:1px solid var(--rule);
border-left:5px solid var(--c);border-radius:8px;padding:12px 14px}
a.answer:hover{text-decoration:none;border-color:var(--c)}
.answer small{display:block;color:var(--muted);font-size:13px}
.answer strong{display:block;font-size:19px;line-height:1.3;color:var(--c)}
.answer span{display:block;font-size:13.5px;margin-top:3px}
.good{--c:var(--good)}.note{--c:var(--note)}.bad{--c:var(--bad)}.none{--c:var(--none)}
.run{margin:22px 0 -6px;font-size:16px;overflow-wrap:anywhere}
section{background:var(--paper);border:1px solid var(--rule);border-radius:10px;
padding:18px 20px;margin:0 0 16px}
figure{margin:6px 0 0}
figure svg{display:block;width:100%;height:auto}
figure svg text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,
sans-serif!important}
.scroll{overflow-x:auto;margin-top:12px}
table{border-collapse:collapse;font-size:13.5px;width:100%}
th{font-weight:600;text-align:left;color:var(--muted);border-bottom:1px solid var(--rule);
padding:5px 14px 5px 0;vertical-align:bottom}
td{padding:5px 14px 5px 0;border-bottom:1px solid var(--rule);vertical-align:top}
tr:last-child td{border-bottom:0}
thead th:empty{padding:0;border:0}
.n{text-align:right;font-variant-numeric:tabular-nums}
.chip{display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:7px}
.level{font-weight:600;font-size:12px}.warn{color:var(--note)}.error{color:var(--bad)}
.stale,.ok{color:var(--none)}
.two{display:grid;gap:8px}
.two h3{font-size:14px;margin:14px 0 0}
details summary{cursor:pointer;font-weight:600}
footer{color:var(--muted);font-size:13px;padding:2px 0 34px}
@media print{body{background:#fff;font-size:11pt}nav{display:none}section,.answer{
break-inside:avoid;border-color:#ccc}main,header>div{max-width:none;padding:0}
.answers{grid-template-columns:repeat(3,1fr)}@page{margin:14mm}}
"""
