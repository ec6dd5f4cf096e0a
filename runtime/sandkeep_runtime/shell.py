"""The IPython shell of a session. Displays, results and errors are sent to the server."""

import builtins
import getpass
import sys
import warnings

from IPython.core import interactiveshell
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Any
from traitlets.config import Config

from sandkeep_runtime import bash, fonts, mime
from sandkeep_runtime.channel import TooLarge
from sandkeep_runtime.formats import Formats

OWN_FILES = __file__.rsplit("/", 1)[0]
EXIT_ADVICE = "To exit: use 'exit', 'quit', or Ctrl-D."
INLINE_BACKEND = "module://matplotlib_inline.backend_inline"


def refuse_input(*_args, **_kwargs):
    raise StdinNotImplementedError("input() is not supported: a session has no keyboard. Put the value into a variable instead.")


class Publisher(DisplayPublisher):
    kernel = Any()

    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **kwargs):
        message = {"t": "display", **mime.encode_bundle(data, metadata)}
        if transient and transient.get("display_id"):
            message["display_id"] = str(transient["display_id"])
        if update:
            message["update"] = True
        send_bundle(self.kernel, message)

    def clear_output(self, wait=False):
        self.kernel.send({"t": "clear", "wait": bool(wait)})


class ResultHook(DisplayHook):
    kernel = Any()

    def write_output_prompt(self):
        pass

    def write_format_data(self, format_dict, md_dict=None):
        message = {"t": "result", "count": self.prompt_count, **mime.encode_bundle(format_dict, md_dict)}
        send_bundle(self.kernel, message)

    def finish_displayhook(self):
        pass


def send_bundle(kernel, message):
    """Sends a display. One that does not fit into a frame is replaced by a message that says so."""
    try:
        kernel.send(message)
    except TooLarge as error:
        text = f"[not shown: {error} is more than an output may have. Save it to a file instead.]"
        kernel.send({**message, "data": {"text/plain": text}, "base64": [], "metadata": "{}"})


class Shell(InteractiveShell):
    kernel = None  # set before an instance is created

    def init_displayhook(self):
        self.displayhook = ResultHook(parent=self, shell=self, cache_size=self.cache_size, kernel=Shell.kernel)
        self.configurables.append(self.displayhook)
        from IPython.core.interactiveshell import DisplayTrap

        self.display_trap = DisplayTrap(hook=self.displayhook)

    def init_display_formatter(self):
        self.display_formatter = Formats(parent=self)
        self.configurables.append(self.display_formatter)

    def init_display_pub(self):
        self.display_pub = Publisher(parent=self, shell=self, kernel=Shell.kernel)
        self.configurables.append(self.display_pub)

    def transform_cell(self, raw_cell):
        """Keeps empty lines at the start, which IPython removes, so that tracebacks count the lines that were sent."""
        empty = next((number for number, line in enumerate(raw_cell.splitlines()) if line.strip()), 0)
        return "\n" * empty + super().transform_cell(raw_cell)

    def system(self, command):
        self.user_ns["_exit_code"] = bash.run_command(self.var_expand(command, depth=1), Shell.kernel.interrupts)

    def enable_gui(self, gui=None):
        pass  # there is no screen

    def ask_exit(self):
        raise SystemExit(0)

    def _showtraceback(self, etype, evalue, stb):
        Shell.kernel.send_error(getattr(etype, "__name__", str(etype)), safe_str(evalue), self.InteractiveTB.stb2text(stb))

    def show_usage_error(self, exc):
        Shell.kernel.send_error("UsageError", safe_str(exc), f"UsageError: {safe_str(exc)}")

    def run(self, code):
        """Runs a cell. Returns its status and, if code called exit, the exit code."""
        result = self.run_cell(code, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        if error is None:
            return "ok", None
        if isinstance(error, SystemExit):
            return exit_status(error)
        if not Shell.kernel.sent_error:
            Shell.kernel.send_error(type(error).__name__, safe_str(error), f"{type(error).__name__}: {safe_str(error)}")
        return ("interrupted" if isinstance(error, KeyboardInterrupt) else "error"), None

    def showtraceback(self, exc_tuple=None, *args, **kwargs):
        error = exc_tuple[1] if exc_tuple else sys.exc_info()[1]
        if isinstance(error, SystemExit):
            return  # not an error: exit_status() reports it
        hide_own_frames(error)
        super().showtraceback(exc_tuple, *args, **kwargs)

    def forget_warm_up(self):
        self.reset(new_session=True)
        self.execution_count = 1
        self.history_manager.reset(new_session=False)
        self.last_execution_result = None
        self.compile.reset_compiler_flags()


def warn_except_of_exit(message, *args, stacklevel=1, **kwargs):
    """Replaces warn() in IPython's shell. Drops the advice how to leave a terminal, which IPython gives after sys.exit()."""
    if message != EXIT_ADVICE:
        warnings.warn(message, *args, stacklevel=stacklevel + 1, **kwargs)


def hide_own_frames(error):
    """Removes the frames of this package from the end of a traceback. print() and display() call into it, so an interrupt may occur there."""
    entry = last_foreign = error.__traceback__ if error is not None else None
    while entry is not None:
        if not entry.tb_frame.f_code.co_filename.startswith(OWN_FILES):
            last_foreign = entry
        entry = entry.tb_next
    if last_foreign is not None:
        last_foreign.tb_next = None


def exit_status(error):
    if error.code is None or error.code == 0:
        return "ok", 0
    if isinstance(error.code, int):
        return "error", error.code & 0xFF
    print(error.code, file=sys.stderr)
    return "error", 1


def safe_str(value):
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__} whose text cannot be shown>"


def make_shell(kernel):
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.autoindent = False
    config.Completer.use_jedi = False
    Shell.kernel = kernel
    interactiveshell.warn = warn_except_of_exit
    shell = Shell.instance(config=config)
    builtins.input = refuse_input
    getpass.getpass = refuse_input
    use_inline_figures(shell)
    return shell


def use_inline_figures(shell):
    try:
        import matplotlib
        import matplotlib.pyplot
        from matplotlib_inline.backend_inline import configure_inline_support
    except ImportError:
        return  # a runtime without Matplotlib
    matplotlib.use(INLINE_BACKEND)
    matplotlib.pyplot.switch_backend(INLINE_BACKEND)
    matplotlib.interactive(True)
    configure_inline_support(shell, INLINE_BACKEND)
    fonts.use_fallbacks()
