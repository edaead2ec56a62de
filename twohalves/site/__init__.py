"""The site: execute notebooks in replay, render pages, finish them, look at them.

``build`` is the one entry of the verbs ``site`` and ``edition``. What pages say is in the pages;
what figures and tables show is in ``show``; here is only how they become a site.
"""

from twohalves.site.build import build
from twohalves.site.execute import execute, store_outputs
from twohalves.site.preview import preview, serving
from twohalves.site.render import Rendered, find_renderer, render
from twohalves.site.stage import stage
from twohalves.site.variables import variables

__all__ = [
    "Rendered",
    "build",
    "execute",
    "find_renderer",
    "preview",
    "render",
    "serving",
    "stage",
    "store_outputs",
    "variables",
]
