x = \ y
