"""What is asked, in which order, and how it is timed; what a notebook opens first."""

from twohalves.measure.book import Book, live, measure, open_book, prefill_decode
from twohalves.measure.profiles import PROFILES, Profile
from twohalves.measure.progress import Progress, Report

__all__ = [
    "PROFILES",
    "Book",
    "Profile",
    "Progress",
    "Report",
    "live",
    "measure",
    "open_book",
    "prefill_decode",
]
