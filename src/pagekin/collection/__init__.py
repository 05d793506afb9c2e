"""The service of a leaf: one open collection that answers every question.

`Collection` is one open `.kin` folder, `ReloadingCollection` the service that follows a rebuilt folder and works in
threads, `Service` what everything is that answers, `messages` its requests and answers.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
