f"{f"{f"{x}"}"}"
f"{d["k"]}"
f'{d['k']}'
f"{'\n'.join(a)}"
f"{x  # comment
}"
f"{
    x
}"
f"""{
x:
>10}"""
f"{x!r:{'{'}>10}"
f"{x=}" "y" f'{z:{w}}' rf"\d{x}"
f"{x:{y:{z}}}"
f"{lambda_}{(lambda: 1)}"
f"{x:=10}"
f"{(x:=10)}"
f"{{}}{x}{{"
f"{x:%H:%M}"
f"\N{BULLET}{x:\N{BULLET}}"
rf"\N{x}"
