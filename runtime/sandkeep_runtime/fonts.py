"""Fonts for plots: a cache that makes Matplotlib start fast, and fallback fonts, so that no writing system is drawn as boxes."""

import os

CACHE = "/var/cache/sandkeep/matplotlib"  # written by the zygote, read-only in sessions
CONFIG = "/tmp/.home/.config/matplotlib"  # per session; used by programs that code starts

# Matplotlib's own font comes first, so plots look as usual. Symbola provides emoji, because Matplotlib cannot draw coloured ones.
FALLBACKS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans Arabic", "Noto Naskh Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari",
    "Noto Sans Thai", "Noto Sans Bengali", "Noto Sans Tamil", "Symbola",
)


def prepare_cache():
    os.makedirs(CACHE, exist_ok=True)
    with open(f"{CACHE}/matplotlibrc", "w", encoding="utf-8") as file:
        file.write("font.family: sans-serif, " + ", ".join(FALLBACKS) + "\naxes.unicode_minus: True\n")


def link_cache():
    """Creates the session's configuration folder, with links to the zygote's cache."""
    os.makedirs(CONFIG, exist_ok=True)
    for name in os.listdir(CACHE):
        if name.endswith((".json", "rc")):
            os.symlink(f"{CACHE}/{name}", f"{CONFIG}/{name}")
    os.environ["MPLCONFIGDIR"] = CONFIG


def available(names):
    from matplotlib import font_manager

    known = {entry.name for entry in font_manager.fontManager.ttflist}
    return [name for name in names if name in known]


class Fallbacks:
    """Adds fallback fonts, even if code or a style (such as seaborn's) sets its own font family.

    They are large and delay the first plot by a third of a second, so they are added with the first text that needs them.
    """

    def __init__(self, font_manager):
        self.paths = [font_manager.findfont(name) for name in available(FALLBACKS)]
        self.known = frozenset(font_manager.get_font(font_manager.findfont("DejaVu Sans")).get_charmap())
        self.needed = False

    def watch(self, text):
        if self.needed or not isinstance(text, str) or text.isascii():
            return
        self.needed = not self.known.issuperset(map(ord, text))


def use_fallbacks():
    import matplotlib
    from matplotlib import font_manager
    from matplotlib.text import Text

    find = getattr(font_manager.FontManager, "_find_fonts_by_props", None)
    if find is None:  # a Matplotlib without font fallback, or with a different implementation
        return
    matplotlib.rcParams["font.family"] = ["sans-serif"]
    matplotlib.rcParamsDefault["font.family"] = ["sans-serif"]
    fallbacks = Fallbacks(font_manager)
    set_text = Text.set_text

    def find_with_fallbacks(self, prop, *args, **kwargs):
        paths = find(self, prop, *args, **kwargs)
        return paths + [path for path in fallbacks.paths if path not in paths] if fallbacks.needed else paths

    def set_text_and_watch(self, s):
        fallbacks.watch(s)
        set_text(self, s)

    set_text_and_watch.__doc__ = set_text.__doc__
    font_manager.FontManager._find_fonts_by_props = find_with_fallbacks
    Text.set_text = set_text_and_watch
