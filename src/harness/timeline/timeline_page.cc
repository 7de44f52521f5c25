#include "harness/timeline/timeline_page.h"

namespace caip::harness {

const char kTimelineStyle[] = R"(:root { color-scheme: light dark; --fg: #1c1e21; --bg: #ffffff;
  --faint: #6b7280; --rule: #d6d9de; --up: #8fc7a0; --starting: #dfe5df; --write: #0b7285;
  --bad: #c92a2a; --good: #2b8a3e; --step: #2f5d3c; --tip: #f1f3f5; }
@media (prefers-color-scheme: dark) { :root { --fg: #e6e6e6; --bg: #16181b; --faint: #9aa0a6;
  --rule: #3a3f45; --up: #2f6b45; --starting: #2a302c; --write: #4fc3d7; --bad: #ff7b72;
  --good: #57c77a; --step: #b7e3c4; --tip: #24282d; } }
body { font: 14px/1.45 system-ui, sans-serif; color: var(--fg); background: var(--bg);
  margin: 1.5rem; }
h1 { font-size: 1.15rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
p { margin: .3rem 0; } .faint, .legend { color: var(--faint); }
.scroll { overflow-x: auto; margin: 1rem 0 .3rem; }
.good, .good > td:first-child { color: var(--good); }
.bad, .bad > td:first-child { color: var(--bad); }
svg text { font: 12px ui-monospace, monospace; fill: var(--fg); }
svg .row { font-weight: 600; } svg .name { font-weight: 600; }
svg .steps, svg .boot { fill: var(--faint); } svg .folder { fill: var(--write); }
.rule { stroke: var(--rule); } .up { fill: var(--up); } .starting { fill: var(--starting); }
.mark { stroke: var(--fg); stroke-width: 1.5; fill: none; pointer-events: all; }
.mark:hover { stroke-width: 3; }
.mark.state { stroke-width: 2; } .mark.step, .mark.live { stroke: var(--step); }
.mark.write { fill: var(--write); stroke: var(--write); } .mark.delete { stroke: var(--write); }
.mark.fault { fill: var(--bad); stroke: var(--bad); }
.mark.exit { stroke: var(--good); stroke-width: 2.5; } .mark.exit.bad { stroke: var(--bad); }
.mark.read, .mark.line, .mark.start { stroke: var(--faint); }
table { border-collapse: collapse; margin: .6rem 0; }
th, td { text-align: left; vertical-align: top; padding: .1rem .8rem .1rem 0;
  overflow-wrap: anywhere; }
th { color: var(--faint); font-weight: 500; } td { font: 12px/1.5 ui-monospace, monospace; }
.highlight { color: var(--bad); } summary { cursor: pointer; margin-top: 1rem; }
code { font: 12px ui-monospace, monospace; }
#tip { position: fixed; max-width: 40rem; padding: .4rem .6rem; border-radius: 6px;
  background: var(--tip); border: 1px solid var(--rule); font: 12px/1.4 ui-monospace, monospace;
  white-space: pre-wrap; overflow-wrap: anywhere; pointer-events: none; }
)";

const char kTimelineLegend[] =
    R"(<p class="legend">Bars are boots (pale: starting). &#9670; written, &#9671; deleted,
ticks: steps (on the bar), reads and listings (below), log lines (above), &#9650; fault,
&#10007; an end: red when it was killed or failed. Point at a mark to read it.</p>
)";

const char kTimelineScript[] = R"(const tip = document.getElementById('tip');
document.addEventListener('pointerover', (event) => {
  const text = event.target.dataset && event.target.dataset.tip;
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8);
  const top = Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8);
  tip.style.left = Math.max(left, 8) + 'px';
  tip.style.top = Math.max(top, 8) + 'px';
});
)";

}  // namespace caip::harness
