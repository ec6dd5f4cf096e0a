"""The domain says what failed and what would help; only a dialect names its routes, headers, tools and commands."""

import re

from project import ROOT, complain, lines_that_match, name, sources, text

# The rooms whose errors every dialect shows. http is among them: it listens for serve and fetches for bridges and the command line.
SILENT = ("base", "http", "blobs", "catalog", "identity", "workspace", "conversations", "sandbox", "interpreter", "bridge")

DIALECT_WORDS = re.compile(
    r"""sandkeep\ [a-z]|/api/v1|X-Sandkeep-|SANDKEEP_[A-Z]|Idempotency-Key
      |\b(GET|POST|PUT|PATCH|DELETE)\ /|(^|[\s'"(])--[a-z]
      |\b(run_python|run_shell|list_files|list_sessions|list_workspaces|lock_token)\b""",
    re.VERBOSE,
)

LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')

TABLES = ("src/api/common/advice_words.cpp", "src/cli/frame/advice_words.cpp")


def without_comments(path):
    return re.sub(r"//[^\n]*", "", text(path))


def errors_of(code):
    """Each expression that makes an Error, up to the end of its statement."""
    for start in re.finditer(r"\bError(?:\s+\w+)?\(", code):
        at, in_literal = start.start(), False
        while at < len(code) and (in_literal or code[at] not in ";{"):
            if code[at] == '"' and code[at - 1] != "\\":
                in_literal = not in_literal
            at += 1
        yield code[start.start() : at]


def dialect_words_in(code):
    for expression in errors_of(code):
        for literal in LITERAL.findall(expression):
            if DIALECT_WORDS.search(literal):
                yield literal


def test_errors_of_the_domain_hold_no_words_of_a_dialect():
    complain(
        (
            f"{name(path)}: {literal}"
            for room in SILENT
            for path in sources(room)
            if path.suffix != ".def"
            for literal in dialect_words_in(without_comments(path))
        ),
        "Say what failed, and attach an Advice that dialects word (base/advice.def):",
    )


def test_the_domain_advises_and_words_nothing():
    complain(
        (line for room in SILENT for line in lines_that_match(sources(room), r"\.hint\(\s*[^)\s]")),
        "Attach an Advice (base/advice.def) instead of a sentence:",
    )


def test_general_advice_names_no_means_of_a_dialect():
    listed = LITERAL.findall(without_comments(ROOT / "src/base/advice.def"))
    assert listed
    complain((words for words in listed if DIALECT_WORDS.search(words)), "Put this into the dialect's own table:")


def test_every_advice_is_used():
    code = "\n".join(without_comments(path) for path in sources() if name(path) not in TABLES)
    names = re.findall(r"^SK_ADVICE\((\w+)", text(ROOT / "src/base/advice.def"), re.MULTILINE)
    general = set(re.findall(r"^SK_ERROR\(\w+, \d+, (\w+)\)", text(ROOT / "src/base/error_codes.def"), re.MULTILINE))
    complain((one for one in names if one not in general and f"Advice::{one}" not in code), "Delete what no error advises:")


def test_every_table_of_words_is_checked_when_it_is_compiled():
    for table in TABLES:
        code = text(ROOT / table)
        tables = re.findall(r"AdviceWords (\w+)\[\] = \{", code)
        assert tables and re.findall(r"static_assert\(is_complete\((\w+)\)\)", code) == tables, table


def test_no_dialect_looks_for_words_in_a_hint_or_message():
    # What the kernel's streams and vendors' answers say is not an Error.
    complain(
        lines_that_match(
            [*sources("api"), *sources("cli"), *sources("server"), *sources("bridge")],
            r"\b(error|failure|e)\.(message|hint|what)\(\)\s*\.(find|contains|starts_with|ends_with|replace|compare)\(|\.(message|hint)\(\) [!=]= ",
        ),
        "Ask for the error's code, advice or facts instead:",
    )


def test_words_of_a_dialect_are_found_in_errors_and_nowhere_else():
    assert list(dialect_words_in('throw Error(Code::locked, "x; y")\n  .with("a", "send X-Sandkeep-Lock");')) == ["send X-Sandkeep-Lock"]
    assert list(dialect_words_in('tx.exec("DELETE FROM x"); Error out(Code::gone, "try " + a + " --force");')) == [" --force"]
    assert not list(dialect_words_in('log("GET /api/v1"); Error(Code::gone, "it is gone -- for ever");'))


def test_paths_in_sentences_are_marked():
    # Settings and files of the server itself have paths too, but no client knows them by another one.
    complain(
        (
            line
            for room in ("workspace", "interpreter", "conversations", "api/common", "api/vendor", "api/openai", "api/azure", "api/librechat")
            for line in lines_that_match(sources(room), r"'\" \+ (std::string\()?[*\w.>-]*(path|folder)\w*\)? \+ \"'")
            if "problem(" not in line and ".hint(" not in line  # a hint says where it is in the workspace
        ),
        "Write quoted_path(path), so that each dialect can show the path that its clients know (base/sentence.h):",
    )
