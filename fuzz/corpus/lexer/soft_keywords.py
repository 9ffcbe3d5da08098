match case type _ lazy
