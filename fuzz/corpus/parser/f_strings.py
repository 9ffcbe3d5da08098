f"{a!r:{b}{c!s}>10}" f"{d = }" f"{e:%H:%M}" f"{yield}" f"{*g, h}" f"{(lambda: 1)}" f"{'\n'}" f"{"i"}"
