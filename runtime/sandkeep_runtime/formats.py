"""Formats values like IPython, with a fast path for values that only have a text form."""

from IPython.core.formatters import DisplayFormatter

# These classes have no rich display methods.
PLAIN_TYPES = frozenset((int, float, complex, bool, str, bytes, list, tuple, dict, set, frozenset, range))


class Formats(DisplayFormatter):
    """Skips the dozen formatters that IPython tries for every value. They take longer than most cells that end in a number."""

    def format(self, obj, include=None, exclude=None):
        if include or exclude or type(obj) not in PLAIN_TYPES or self._has_printer(type(obj)):
            return super().format(obj, include, exclude)
        return {"text/plain": self.formatters["text/plain"](obj)}, {}

    def _has_printer(self, plain_type):
        """Returns whether code, or a package such as SymPy, has registered a printer for this type."""
        text = self.formatters["text/plain"]
        for formatter in (self.ipython_display_formatter, self.mimebundle_formatter, *self.formatters.values()):
            if formatter is text:
                continue
            if formatter.singleton_printers or formatter.deferred_printers:
                return True
            printers = formatter.type_printers
            if printers and (plain_type in printers or object in printers):
                return True
        return False
