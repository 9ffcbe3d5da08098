'\x4' '\u12' '\N{DIGIT ONE}' '\N{NO SUCH}' '\777' b'\N' '\U00110000'
