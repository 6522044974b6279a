// SPDX-License-Identifier: BSD-3-Clause
#include "bench/report/drawing.hpp"

namespace tessera::bench::report {

// Colours that people with colour blindness can distinguish (after Okabe and Ito); dark colours on
// white, bright ones on black. Lines also differ in dashes and markers.
std::string style_sheet() {
  return R"css(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1b1f24; --faint: #5c6570;
  --grid: #e3e6ea; --card: #f6f7f9; --warn: #8a4b00; --warn-paper: #fff4e0; --good: #00663f;
  --bad: #a3261b; --c0: #0060a8; --c1: #4b4f55; --c2: #c04a00; --c3: #00805c; --c4: #a83f86;
  --c5: #9a6a00; --c6: #6a4fc0; --c7: #45a9d6; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #e6e9ec; --faint: #a3acb5;
  --grid: #2d3339; --card: #1c2024; --warn: #ffc46b; --warn-paper: #33260f; --good: #5fd3a2;
  --bad: #ff8f84; --c0: #4d9ff5; --c1: #c3c8ce; --c2: #ff9457; --c3: #3fcf9f; --c4: #f09ad2;
  --c5: #eec04a; --c6: #b3a3ff; --c7: #a8ecf5; } }
body { margin: 0 auto; padding: 1rem 1.5rem 4rem; max-width: 78rem; background: var(--paper);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0.5rem 0; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 0.5rem; border-bottom: 1px solid var(--grid); }
h3 { font-size: 1.1rem; margin: 1.8rem 0 0.3rem; }
h4 { font-size: 1rem; margin: 1.2rem 0 0.3rem; }
p { max-width: 50rem; margin: 0.4rem 0; }
code { font: 0.92em ui-monospace, monospace; }
code span { display: inline-block; max-width: 100%; overflow-wrap: anywhere; }
figure.full { grid-column: 1 / -1; }
a { color: var(--c0); }
nav ul { display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; padding: 0; list-style: none; }
.faint { color: var(--faint); }
.box { background: var(--warn-paper); color: var(--warn); padding: 0.5rem 1rem; margin: 0.8rem 0;
  border-left: 4px solid var(--warn); }
.box ul { margin: 0.2rem 0; padding-left: 1.2rem; }
.later { background: var(--card); padding: 0.4rem 1rem; border-left: 4px solid var(--faint);
  max-width: 50rem; }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums;
  margin: 0.5rem 0; }
th, td { padding: 0.15rem 0.6rem; text-align: right; border-bottom: 1px solid var(--grid);
  white-space: nowrap; vertical-align: middle; }
thead th { color: var(--faint); font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: 500; text-align: left; white-space: normal; }
td.ci { color: var(--faint); }
td.text, th.text { text-align: left; }
td.long { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 9rem; }
.figures { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 30rem), 1fr)); }
.figures .later { grid-column: 1 / -1; margin: 0; }
figure { margin: 0; padding: 0.7rem 0.8rem; background: var(--card); border-radius: 6px;
  min-width: 0; }
figcaption { font-weight: 600; }
figcaption small { display: block; color: var(--faint); font-weight: 400; }
summary { color: var(--faint); cursor: pointer; font-size: 0.86rem; }
.legend { display: flex; flex-wrap: wrap; gap: 0 1rem; margin: 0.2rem 0; padding: 0;
  list-style: none; font-size: 0.86rem; }
.legend li { display: flex; align-items: center; gap: 0.35rem; }
svg.chart { display: block; width: 100%; height: auto; }
svg.cells { display: block; width: min(100%, 24rem); height: auto; background: var(--paper);
  border: 1px solid var(--faint); }
.cell { fill: currentColor; }
.shade0 { opacity: 0.2; } .shade1 { opacity: 0.4; } .shade2 { opacity: 0.6; }
.shade3 { opacity: 0.8; } .shade4 { opacity: 1; }
svg.strip { display: block; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .tick-x, svg .axis-x, svg .value { text-anchor: middle; }
svg .tick-y { text-anchor: end; }
svg .tick-x, svg .tick-y, svg .axis-x, svg .axis-y { fill: var(--faint); }
svg .value { font-size: 11px; }
.grid { stroke: var(--grid); fill: none; }
.axis { stroke: var(--faint); fill: none; }
.level { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 3 3; fill: none; }
.line { stroke: currentColor; stroke-width: 2; fill: none; stroke-linejoin: round; }
.band { fill: currentColor; opacity: 0.18; }
.bar { fill: currentColor; opacity: 0.85; }
.mark { fill: currentColor; stroke: var(--card); stroke-width: 0.8; }
.whisker { stroke: var(--ink); stroke-width: 1; fill: none; }
.s0 { color: var(--c0); } .s1 { color: var(--c1); } .s2 { color: var(--c2); }
.s3 { color: var(--c3); } .s4 { color: var(--c4); } .s5 { color: var(--c5); }
.s6 { color: var(--c6); } .s7 { color: var(--c7); }
.legend svg { flex: none; }
@media print { details { display: none; } figure { break-inside: avoid; } }
)css";
}

}  // namespace tessera::bench::report
