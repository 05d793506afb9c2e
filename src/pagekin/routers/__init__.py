"""Content routers (hypursuit-1996): many collections that search as one.

A `Router` is a service whose children are services: `knowledge` is what it knows of their labels, `routing` chooses whom to
ask, `fanout` asks several at once within a deadline, each through its `connection`, `merging` and `ranking` make one answer of
theirs within `bounds`. `Remote` is a service at an address, `opening` opens whatever a person names. `operations` says what of
a question an address may carry, `http` and `serve` put questions on the wire; `network` is the file that says who there is,
`topology` how routers are chosen, `up` runs them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
