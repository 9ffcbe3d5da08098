def f():
    for x in y:
        try:
            pass
        finally:
            break
    while x:
        try:
            pass
        finally:
            continue
    try:
        pass
    finally:
        return 1
