"""An authority is asked for, never made up: who makes one, and why the server does."""

import re

from project import ROOT, complain, name, sources, text

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
    assert friends == ["Access", "Actor recorded_actor"], friends


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


def test_dialects_ask_for_a_right_and_not_for_the_scope_of_a_key():
    complain(
        (name(path) for path in sources("api") if "read_only" in text(path) and name(path) not in NAMES_READ_ONLY),
        "Ask for the right that the call needs:",
    )


def test_calls_with_nested_parentheses_are_read_whole():
    assert list(calls('f(a(1), "b)")', "f")) == ['a(1), "b)"']
