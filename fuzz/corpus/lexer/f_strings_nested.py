f'{f'{f'{1}'}'}' f"{x:{y:{z}}}" rf'\{x}' f'\N{DIGIT ONE}' f'{lambda x: 1}'
