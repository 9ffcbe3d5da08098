raise
raise a from b
assert a, b
pass; pass;
return
yield
await x
print a
exec "b"
