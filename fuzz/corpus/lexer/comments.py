# a
x # b
  # c
if y: # d
    # e
    z
# f