import a.b as c, d
from . import e
from ...f.g import (h as i, j,)
from k import *
lazy import l
lazy from m import n
