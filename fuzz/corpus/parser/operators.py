a or b and not c in d not in e is f is not g < h == i
a | b ^ c & d << e + f * g @ h // ~i ** -j ** k
a if b else c if d else lambda: e
