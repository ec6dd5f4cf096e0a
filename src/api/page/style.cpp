// The page's stylesheet. Uses system fonts and colours; loads nothing from elsewhere.
#include "api/common/layout.h"

namespace sk::api::page {

std::string_view stylesheet() {
  return R"css(
:root {
  color-scheme: light dark;
  --ground: #faf8f4; --card: #ffffff; --ink: #23211c; --soft: #6b665b; --line: #e4dfd4; --accent: #8a5a12; --on-accent: #ffffff;
  --hover: #f4efe4; --bad: #a3281f; --badge: #f2e4c8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #181613; --card: #211f1b; --ink: #ece7dc; --soft: #a49d8e; --line: #38342c; --accent: #e0ad5a; --on-accent: #241a08;
    --hover: #2a2721; --bad: #f0857b; --badge: #4a3a1c;
  }
}
* { box-sizing: border-box; }
html { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; background: var(--ground); color: var(--ink); }
body { margin: 0; }
a { color: var(--accent); text-underline-offset: 0.15em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--card); padding: 0.5rem 1rem; z-index: 1; }
.bar { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; justify-content: space-between; padding: 0.7rem clamp(1rem, 4vw, 2.5rem);
  border-bottom: 1px solid var(--line); background: var(--card); }
.brand { font-weight: 650; font-size: 1.1rem; color: var(--ink); text-decoration: none; letter-spacing: 0.01em; }
.brand span { color: var(--accent); }
.who { display: flex; gap: 0.7rem; align-items: center; color: var(--soft); margin: 0; }
main { max-width: 68rem; margin: 0 auto; padding: clamp(1rem, 3vw, 2rem) clamp(1rem, 4vw, 2.5rem) 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0.3rem 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.6rem; }
p { margin: 0.4rem 0; }
.soft { color: var(--soft); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.2rem; margin: 1rem 0; }
.cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); padding: 0; list-style: none; }
.cards .card { margin: 0; }
.cards h2 { margin: 0 0 0.3rem; overflow-wrap: anywhere; }
.crumbs ol { display: flex; flex-wrap: wrap; gap: 0.2rem 0; list-style: none; padding: 0; margin: 0; color: var(--soft); }
.crumbs li + li::before { content: "/"; padding: 0 0.5rem; color: var(--line); }
.crumbs li { overflow-wrap: anywhere; }
.table { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.55rem 0.9rem; border-top: 1px solid var(--line); vertical-align: middle; }
thead th { border-top: 0; font-size: 0.82rem; font-weight: 600; color: var(--soft); white-space: nowrap; }
tbody tr:hover { background: var(--hover); }
td.name { overflow-wrap: anywhere; min-width: 11rem; }
td.number, th.number { text-align: right; white-space: nowrap; }
td.when { white-space: nowrap; color: var(--soft); }
td.acts { white-space: nowrap; text-align: right; }
td form { display: inline; }
.icon { display: inline-block; width: 1.6em; color: var(--soft); }
.empty { padding: 2rem 1rem; text-align: center; color: var(--soft); }
.badge { display: inline-block; background: var(--badge); border-radius: 99px; padding: 0 0.6em; font-size: 0.8rem; white-space: nowrap; }
.acts-row { display: flex; flex-wrap: wrap; gap: 0.6rem; align-items: center; margin: 0.8rem 0; }
.acts-row form { margin: 0; }
button, .button { font: inherit; font-weight: 550; display: inline-block; padding: 0.4rem 0.95rem; border-radius: 8px; border: 1px solid var(--accent);
  background: var(--accent); color: var(--on-accent); cursor: pointer; text-decoration: none; }
button:hover, .button:hover { filter: brightness(1.08); }
button.quiet, .button.quiet { background: transparent; color: var(--accent); border-color: var(--line); }
button.small { padding: 0.1rem 0.6rem; font-size: 0.85rem; }
button.bad { background: transparent; color: var(--bad); border-color: var(--line); }
input[type=text], input[type=password], input[type=file] { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line);
  border-radius: 8px; padding: 0.4rem 0.7rem; max-width: 100%; min-width: 0; }
label { display: block; font-weight: 550; margin-bottom: 0.3rem; }
.tools { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); margin-top: 1.5rem; }
.tools .card { margin: 0; }
.tools .row { display: flex; gap: 0.6rem; flex-wrap: wrap; }
.tools input { flex: 1 1 10rem; }
.sign-in { max-width: 26rem; margin: 10vh auto 0; }
.sign-in input { width: 100%; margin-bottom: 0.8rem; }
.preview { background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; margin: 1rem 0; }
.preview img { display: block; max-width: 100%; max-height: 32rem; margin: 0 auto; }
.preview pre { margin: 0; padding: 1rem 1.2rem; overflow: auto; max-height: 32rem; tab-size: 4;
  font: 0.85rem/1.5 ui-monospace, "Cascadia Mono", "SF Mono", Menlo, "DejaVu Sans Mono", monospace; }
.facts { display: grid; grid-template-columns: auto 1fr; gap: 0.25rem 1.2rem; margin: 0; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
code { font: 0.88em ui-monospace, "Cascadia Mono", "SF Mono", Menlo, "DejaVu Sans Mono", monospace; }
.message { border-left: 4px solid var(--accent); }
.message.bad { border-left-color: var(--bad); background: var(--card); color: inherit; }
meter { width: 6rem; vertical-align: middle; margin-right: 0.4rem; }
time { white-space: nowrap; }
@media (max-width: 40rem) {
  .wide { display: none; }
  th, td { padding: 0.55rem 0.6rem; }
  td.name { min-width: 8rem; }
}
)css";
}

}  // namespace sk::api::page
