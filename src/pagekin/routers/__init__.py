"""Content routers (hypursuit-1996): many collections that search as one, over HTTP.

`network` is the file that says who there is, `topology` how routers are chosen, `up` runs them, in `others` too, once they are
`warm`. `leaf` answers for one collection (`open_leaf`; `likeness` for related pages; `damage` if it is none). `router`
answers for its children by what `keeper` knows of their labels: `routing` chooses whom to ask, `asking` asks several
`children` at once, each through `client` and within `bounds`, `results` merges, `refinement` suggests terms, `tree` tells who
is below. `messages` is what travels, `http`, `protocol` and `serve` are how, `ask` asks from outside.
"""
