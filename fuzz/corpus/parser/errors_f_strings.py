f"{}" f"{a!x}" f"{a b}" f"{lambda x: 1}" f"{a:{b" f"{" f"}"
