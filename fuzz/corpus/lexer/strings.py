'a' "b" r'\' b'\x41' u'c' Rb'' bR'' '''d
e''' 'f\
g' "\
h"
