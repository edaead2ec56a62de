"""What is asked, in which order, and how it is timed; what a notebook opens first."""

from twohalves.measure.book import Book, kept_run, live, measure, open_book
from twohalves.measure.profiles import EXPERIMENTS, PROFILES, Profile
from twohalves.measure.progress import Progress, Report

__all__ = [
    "EXPERIMENTS",
    "PROFILES",
    "Book",
    "Profile",
    "Progress",
    "Report",
    "kept_run",
    "live",
    "measure",
    "open_book",
]
