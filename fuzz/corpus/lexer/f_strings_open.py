f'{a
f'{a:
f'}'
f'''{
