# a
@b # c
# d
def e( # f
  g, # h
): # i
  # j
  return ( # k
    l # m
  )
# n
