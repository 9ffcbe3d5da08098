x = 'abc
y = """def
