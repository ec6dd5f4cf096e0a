"""An authority is asked for, never made up: who makes one, and why the server does."""

import re

from project import ROOT, complain, lines_that_match, name, sources, text

MAKERS = {"src/workspace/authority.cpp", "src/workspace/authority.h", "src/workspace/workspaces.cpp"}

# Where keys are shown or made, and the field of LibreChat's API that has the same name.
NAMES_READ_ONLY = {
    "src/api/common/shapes.cpp", "src/api/rest/principals.cpp", "src/api/rest/schemas.cpp", "src/api/rest/server.cpp",
    "src/api/librechat/files.cpp", "src/api/librechat/result.cpp", "src/api/librechat/result.h", "src/api/librechat/session.cpp",
    "src/api/librechat/session.h", "src/api/librechat/uploads.cpp",
}


def code_of(path):
    return re.sub(r"//[^\n]*", "", text(path))


def calls(code, function):
    """The arguments of each call, with nested parentheses and literals."""
    for start in re.finditer(rf"\b{function}\(", code):
        depth, at, in_literal = 1, start.end(), False
        while depth and at < len(code):
            if code[at] == '"' and code[at - 1] != "\\":
                in_literal = not in_literal
            elif not in_literal:
                depth += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
        yield code[start.end() : at - 1]


def test_only_workspaces_and_the_server_make_an_authority():
    made = re.compile(r"\bAuthority\s*[({]")
    complain(
        (name(path) for path in sources() if name(path) not in MAKERS and made.search(code_of(path))),
        "Ask Workspaces for an authority, or system_authority() with a reason:",
    )
    header = code_of(ROOT / "src/workspace/authority.h")
    friends = re.findall(r"friend\s+(?:class\s+)?([^;(]+)", header)
    assert friends == ["Workspaces", "Authority system_authority"], friends


def test_only_identity_makes_an_actor():
    header = code_of(ROOT / "src/identity/types.h")
    friends = re.findall(r"friend\s+(?:class\s+)?([^;(]+)", header)
    assert friends == ["sk::interpreter::SandboxedInterpreter", "Access"], friends


def test_only_the_replay_of_executions_makes_an_actor_from_records():
    allowed = {"src/identity/types.h", "src/identity/access.h", "src/identity/access.cpp"}
    found = [
        (name(path), arguments)
        for path in sources()
        if name(path) not in allowed
        for arguments in calls(code_of(path), "recorded_actor")
    ]
    assert [file for file, _ in found] == ["src/interpreter/sandboxed_interpreter.cpp"], found
    code = code_of(ROOT / "src/interpreter/sandboxed_interpreter.cpp")
    replay = code[code.index("SandboxedInterpreter::resume_accepted()") :].split("\n}", 1)[0]
    assert "recorded_actor(" in replay, "it is called outside of resume_accepted()"
    complain(
        (name(path) for path in sources() if name(path) not in allowed | {"src/interpreter/sandboxed_interpreter.cpp"} and "ReplayKey" in code_of(path)),
        "An Author names a principal in records; only the replay of executions makes an Actor of it:",
    )


def test_journals_are_read_by_an_authority():
    """Neither a header offers a journal by an id, nor is a permission to read one made up."""
    made = re.compile(r"\bReadableJournal\s*(?:\((?!\)>)|\{)")  # std::function<ReadableJournal()> is a type
    complain(
        (name(path) for path in sources() if not name(path).startswith("src/workspace/journal.") and made.search(code_of(path))),
        "Pass the authority, or ask ReadableJournal::of_server():",
    )
    for header, functions in {"journal.h": ["events", "head_seq"], "audit.h": ["export_to"]}.items():
        for function in functions:
            declared = list(calls(code_of(ROOT / "src/workspace" / header), function))
            assert declared and all(one.startswith("const ReadableJournal&") for one in declared), declared
    complain(
        (
            f"{name(path)}: {arguments}"
            for path in sources()
            if not name(path).startswith("src/workspace/journal.")
            for arguments in calls(code_of(path), "ReadableJournal::of_server")
            if '"' in arguments and not re.search(r'"[^"]{20,}"\s*$', arguments)
        ),
        "Say in a sentence why the server reads its journal without being asked:",
    )


# Calls that concern whole workspaces: they refuse an authority that is limited to a path.
WHOLE_WORKSPACE = {"src/workspace/workspaces.cpp", "src/workspace/uploads.cpp", "src/workspace/authority.cpp"}


def test_calls_of_the_domain_ask_for_a_right_within_the_scope():
    complain(
        lines_that_match(
            [path for path in sources("workspace") if name(path) not in WHOLE_WORKSPACE], r"\bauthority\.need\("
        ),
        "Ask need_at() for a path, or need_in_scope() and covers() for each path:",
    )


def test_every_system_authority_has_a_reason():
    found = [
        (path, arguments)
        for path in sources()
        if not name(path).startswith("src/workspace/authority.")
        for arguments in calls(code_of(path), "system_authority")
    ]
    assert found, "no call was found"
    # The reason may be a parameter: its type, SystemReason, is made of a literal. Then the callers say it.
    passes_on = {"retract_file"}
    given = [(path, arguments) for path in sources() for function in passes_on for arguments in calls(code_of(path), function)]
    complain(
        (f"{name(path)}: {arguments}" for path, arguments in found if not re.search(r',\s*("[^"]{20,}"|reason)\s*$', arguments)),
        "Say in a sentence why the server acts without being asked:",
    )
    complain(
        (f"{name(path)}: {arguments}" for path, arguments in given if not re.search(r',\s*("[^"]{20,}"|SystemReason reason),', arguments)),
        "Say in a sentence why the server acts without being asked:",
    )


# Questions that come before an authority: which sessions are the actor's own, and where.
BEFORE_AN_AUTHORITY = {"find", "get", "list", "is_of", "authority_over"}


def test_calls_of_the_interpreter_take_an_authority():
    headers = [path for path in sources("interpreter") if path.suffix == ".h"]
    found = [(name(path), function) for path in headers for function in re.findall(r"(\w+)\(const workspace::Actor&", code_of(path))]
    assert found, "no call was found"
    complain(
        (f"{file}: {function}()" for file, function in found if function not in BEFORE_AN_AUTHORITY),
        "Take the authority in the session's workspace:",
    )


def test_dialects_ask_for_a_right_and_not_for_the_scope_of_a_key():
    complain(
        (name(path) for path in sources("api") if "read_only" in text(path) and name(path) not in NAMES_READ_ONLY),
        "Ask for the right that the call needs:",
    )


def test_calls_with_nested_parentheses_are_read_whole():
    assert list(calls('f(a(1), "b)")', "f")) == ['a(1), "b)"']
