"""Documents say what is true now."""

import re
import subprocess

from project import BUILD, ROOT, complain, files, lines_that_match, name, sources, text, text_files


def test_documents_written_from_tables_are_up_to_date(tmp_path):
    subprocess.run(["script/build", "release", "write_docs"], cwd=ROOT, check=True, capture_output=True)
    subprocess.run([BUILD / "write_docs", tmp_path], check=True)
    stale = [f"docs/{fresh.name}" for fresh in tmp_path.iterdir() if text(ROOT / "docs" / fresh.name) != text(fresh)]
    complain(stale, "Run script/docs; out of date:")


def table_names(definition, macro, position):
    arguments = re.findall(rf"^{macro}\(([^\")]*)", text(ROOT / definition), re.M)
    return [row.split(",")[position].strip() for row in arguments]


def test_every_setting_is_documented():
    settings = table_names("src/server/settings.def", "SK_SETTING", 1)
    assert len(settings) > 20
    document = text(ROOT / "docs/settings.md")
    complain((s for s in settings if f"| `{s}` |" not in document), "Missing in docs/settings.md:")


def test_every_setting_is_read_by_something():
    """A limit that nothing enforces is a promise that nobody keeps."""
    code = "\n".join(text(path) for path in sources() if not name(path).startswith("src/server/settings"))
    # What server/settings.cpp itself acts on.
    used_by_loader = {"config", "root_key_file"}
    unread = [s for s in table_names("src/server/settings.def", "SK_SETTING", 1) if not re.search(rf"(\.|->){s}\b", code)]
    complain(set(unread) - used_by_loader, "In the settings table, but no code reads it:")


def test_every_setting_that_dialects_are_given_is_read_by_one():
    fields = re.findall(r"^  [\w:<>]+ (\w+);", text(ROOT / "src/api/settings.h"), re.M)
    assert len(fields) > 20
    code = "\n".join(text(path) for path in sources("api"))
    complain((f for f in fields if not re.search(rf"settings\.{f}\b", code)), "In api/settings.h, but no dialect reads it:")


def test_defaults_of_settings_are_only_in_the_table():
    """An option that is a setting has no value of its own: two defaults would disagree one day."""
    options = text(ROOT / "src/server/options.cpp")
    given = set(re.findall(r"^ *\.(\w+) = settings\.", options, re.M))
    assert len(given) > 40
    headers = ["http/server.h", "workspace/keep.h", "workspace/keep_context.h", "interpreter/options.h", "api/settings.h"]
    complain(
        lines_that_match([ROOT / "src" / h for h in headers], rf"^  \S+ ({'|'.join(sorted(given))})( = |\{{)"),
        "The default is in src/server/settings.def; leave it out here:",
    )


def test_every_variable_that_code_or_documents_mention_exists():
    settings = {f"SANDKEEP_{s.upper()}" for s in table_names("src/server/settings.def", "SK_SETTING", 1)}
    client = set(re.findall(r"\| `(SANDKEEP_\w+)` \|", text(ROOT / "docs/settings.md")))
    mentions = lines_that_match([*files("*.md"), *sources()], r"\bSANDKEEP_[A-Z]")
    # Variables that Kubernetes makes are known to the loader only.
    known = settings | client | {"SANDKEEP_PORT", "SANDKEEP_PORT_", "SANDKEEP_SERVICE_"}
    complain((m for m in mentions if set(re.findall(r"\bSANDKEEP_[A-Z][A-Z_]*", m)) - known), "No such variable:")


def test_every_error_code_is_documented_and_thrown():
    codes = table_names("src/base/error_codes.def", "SK_ERROR", 0)
    assert len(codes) > 10
    document = text(ROOT / "docs/errors.md")
    complain((c for c in codes if f"| `{c}` |" not in document), "Missing in docs/errors.md:")
    code = "\n".join(text(path) for path in sources() if name(path) != "src/base/error_codes.def")
    complain((c for c in codes if not re.search(rf"\bCode::{c}\b", code)), "In the table of errors, but nothing throws it:")


def test_the_changelog_has_the_current_version():
    version = re.search(r"project\(sandkeep VERSION ([\d.]+)", text(ROOT / "CMakeLists.txt")).group(1)
    complain([] if f"## {version}" in text(ROOT / "CHANGELOG.md") else [version], "No heading in CHANGELOG.md for:")


def test_the_documents_that_newcomers_look_for_are_there():
    expected = ["README.md", "ARCHITECTURE.md", "STORAGE_FORMAT.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"]
    complain((e for e in expected if not (ROOT / e).is_file()), "Missing:")


def test_links_between_documents_lead_somewhere():
    def broken():
        for path in files("*.md"):
            for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text(path)):
                if not re.match(r"[a-z]+:", target) and not (path.parent / target).exists():
                    yield f"{name(path)}: {target}"

    complain(broken(), "No such file:")


def test_the_project_speaks_of_itself_only():
    """Paths of the machine on which something was written mean nothing elsewhere."""
    places = r"/w[o]rk/(main|shared|notes|steering)|/f[a]rm/|/User[s]/[a-z]|\.\./share[d]/"
    complain(lines_that_match(text_files(), places), "Machine paths:")
