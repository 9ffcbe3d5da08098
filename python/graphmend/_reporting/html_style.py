"""The looks of the report's page. Colours are named once, for light and for dark."""

STYLE = """
:root {
  --page: #f6f7f9; --card: #ffffff; --text: #1c2230; --soft: #5c667a; --line: #e1e5ec; --accent: #3558d4;
  --good: #11724a; --good-back: #e3f5ec; --warn: #9a4a00; --warn-back: #fff0dc;
  --keyword: #7a2fb5; --string: #0f6b3c; --number: #a03c00; --comment: #6b7485;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #10131a; --card: #181c26; --text: #e4e8f0; --soft: #98a2b6; --line: #2a303e; --accent: #8aa4ff;
    --good: #62d3a2; --good-back: #12342a; --warn: #ffb766; --warn-back: #3b2810;
    --keyword: #c79bff; --string: #86d9a4; --number: #ffab70; --comment: #8791a5;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main { max-width: 1080px; margin: 0 auto; padding: 40px 24px 72px; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 13px; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
.brand { margin: 0; color: var(--accent); font-weight: 650; letter-spacing: .02em; }
h1 { margin: 2px 0 0; font-size: 30px; line-height: 1.2; letter-spacing: -.01em; }
h2 { margin: 44px 0 14px; font-size: 19px; }
.program { margin: 8px 0 0; color: var(--soft); font-family: ui-monospace, monospace; font-size: 13px; }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 14px; margin-top: 28px; }
.numbers div { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 14px 18px 16px; }
.numbers h2 { margin: 0; font-size: 13px; font-weight: 600; color: var(--soft); }
.numbers p { margin: 2px 0; font-size: 30px; font-weight: 650; line-height: 1.25; font-variant-numeric: tabular-nums; }
.numbers small { color: var(--soft); }
.numbers s { color: var(--soft); text-decoration: none; font-weight: 450; }
.numbers i { margin: 0 .3em; color: var(--soft); font-style: normal; font-weight: 400; }
.numbers .good p { color: var(--good); } .numbers .warn p { color: var(--warn); }
em { font-style: normal; font-size: 12.5px; font-weight: 600; padding: 2px 9px; border-radius: 99px; }
em { white-space: nowrap; }
em.good { color: var(--good); background: var(--good-back); }
em.warn { color: var(--warn); background: var(--warn-back); }
.left { list-style: none; margin: 0; padding: 0; display: grid; grid-template-columns: minmax(0, 1fr); gap: 14px; }
.left li, article { min-width: 0; }
.where, dd, h3 span, .program { overflow-wrap: anywhere; }
.left li {
  background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--warn); border-radius: 10px;
  padding: 14px 20px 16px;
}
.left p { margin: 0; } .where { font-weight: 600; } .where span { color: var(--soft); font-weight: 400; }
.one { margin: 10px 0 12px; padding: 8px 12px; background: var(--page); border-radius: 7px; overflow-x: auto; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; margin: 0; }
.goes { color: var(--warn); } .comes { color: var(--good); }
dt { color: var(--soft); } dd { margin: 0; }
dd code { background: var(--page); padding: 1px 5px; border-radius: 5px; }
article { background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
article + article { margin-top: 18px; }
h3 {
  display: flex; flex-wrap: wrap; align-items: center; gap: 4px 10px; margin: 0; padding: 11px 18px; font-size: 14px;
  border-bottom: 1px solid var(--line);
}
h3 code { font-weight: 650; font-size: 14px; } h3 span { color: var(--soft); font-weight: 400; margin-right: auto; }
.code, .scroll { overflow-x: auto; }
.code table { border-collapse: collapse; width: 100%; margin: 8px 0; }
.code td { padding: 0 18px 0 0; vertical-align: baseline; line-height: 1.6; }
.code td:first-child {
  width: 1%; min-width: 58px; padding: 0 14px 0 14px; text-align: right; color: var(--soft); user-select: none;
  font: 12px/1.75 ui-monospace, monospace; border-left: 4px solid transparent;
}
.code tr { height: 21px; }
.code td code { white-space: pre; tab-size: 8; }
.mark.good td { background: var(--good-back); } .mark.warn td { background: var(--warn-back); }
.mark.good td:first-child { border-left-color: var(--good); color: var(--good); font-weight: 700; }
.mark.warn td:first-child { border-left-color: var(--warn); color: var(--warn); font-weight: 700; }
.note.good td:first-child { border-left-color: var(--good); }
.note.warn td:first-child { border-left-color: var(--warn); }
.note div { margin: 5px 0 9px; font-size: 13.5px; }
.note .type { display: block; color: var(--soft); font-size: 12.5px; }
.note.good b { color: var(--good); } .note.warn b { color: var(--warn); } .note b { margin-right: 6px; }
.gap td { color: var(--soft); font-size: 12.5px; padding-top: 5px; padding-bottom: 5px; }
.calls { border-collapse: collapse; width: 100%; background: var(--card); border: 1px solid var(--line); }
.calls th, .calls td { padding: 9px 14px; text-align: right; border-bottom: 1px solid var(--line); }
.calls td { font-variant-numeric: tabular-nums; } .calls tbody tr:last-child td { border-bottom: 0; }
.calls th { font-size: 12.5px; font-weight: 600; color: var(--soft); }
.calls th:first-child, .calls td:first-child, .calls th:nth-child(2), .calls td:nth-child(2) { text-align: left; }
.k { color: var(--keyword); } .s { color: var(--string); } .n { color: var(--number); }
.c { color: var(--comment); font-style: italic; }
tr:target td { outline: 2px solid var(--accent); outline-offset: -2px; }
@media (max-width: 600px) {
  main { padding: 24px 14px 48px; } dl { grid-template-columns: 1fr; } dt { margin-top: 6px; }
}
@media print { body { background: none; } article, .left li { break-inside: avoid; } }
"""
