"""Content routers (hypursuit-1996): many collections that search as one, over HTTP.

`network` is the file that says who there is, `topology` how routers are chosen, `up` runs them. `leaf` answers for one
collection (`open_leaf`), `router` for its children by what `keeper` knows of their labels: `routing` chooses whom to ask,
`children` asks, `results` merges, `refinement` suggests terms. `messages` is what travels, `http` and `serve` are how, `ask` asks
from outside.
"""
