t'{x!r:{y}}' Rt'\{z}' tR'' bt''
