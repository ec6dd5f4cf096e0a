"""What every source file keeps to."""

import re
import subprocess

from project import ROOT, complain, files, lines_that_match, name, sources, text, text_files

CPP = ("src/*.h", "src/*.cpp", "src/*.c", "tests/*.h", "tests/*.cpp", "bench/*.h", "bench/*.cpp")


def test_sources_are_formatted():
    done = subprocess.run(
        ["clang-format-19", "--dry-run", "-Werror", *map(name, files(*CPP))],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )
    wrong = {line.split(":")[0] for line in done.stderr.splitlines() if "error: code should be clang-formatted" in line}
    complain(
        sorted(wrong) or ([done.stderr] if done.returncode else []),
        "Run 'clang-format-19 -i' on:",
    )


def test_every_header_opens_with_what_it_is_for():
    complain(
        (name(path) for path in files("src/*.h", "src/*.def", "tests/*.h", "bench/*.h") if not text(path).startswith(("// ", "/* "))),
        "Headers are the manual; begin with a comment:",
    )


def test_every_header_may_be_included_twice():
    guarded = re.compile(r"^#(pragma once|ifndef \w+_H\b)", re.M)
    complain((name(path) for path in files("src/*.h") if not guarded.search(text(path))), "Add '#pragma once':")


def test_every_header_compiles_alone():
    done = subprocess.run(
        ["script/build", "release", "-k", "0", "headers_alone"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    errors = [line for line in done.stdout.splitlines() if " error: " in line]
    complain(errors or ([done.stdout[-3000:] + done.stderr] if done.returncode else []), "A header must include what it uses:")


def test_files_can_be_read_in_a_sitting():
    code = ("*.h", "*.cpp", "*.c", "*.py", "*.ts", "*.js", "*.css", "*.cmake", "script/*", "bench/*")
    counts = ((len(text(path).splitlines()), name(path)) for path in files(*code))
    complain((f"{lines} {path}" for lines, path in sorted(counts, reverse=True) if lines > 600), "One idea per file, up to 600 lines:")


def test_no_source_has_a_todo():
    complain(lines_that_match(text_files(), r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b"), "Finish it, or write an issue:")


def test_no_namespace_std_in_scope():
    # std::literals and std::chrono inside a function are fine; all of std is not.
    complain(lines_that_match(files(*CPP), r"using namespace std\s*;"), "Write std:: where it is used:")


def test_invariants_are_checked_in_every_build():
    complain(
        lines_that_match(sources(), r"(?<![\w_])assert\s*\("),
        "assert() vanishes in some builds. SK_CHECK for our own bugs, sk::Error for input:",
    )


def test_nothing_is_owned_by_a_raw_new():
    complain(
        lines_that_match(sources(), r"(?<![\w\"'/])(=|return|\()\s*new\s+[\w:]+[\s({\[]|\bdelete\s+\w+;"),
        "Use std::make_unique, or a container:",
    )


def test_no_bytes_are_printed_around_the_logger():
    complain(
        lines_that_match([p for p in sources() if not name(p).startswith(("src/cli/", "src/base/"))], r"std::(cout|cerr|clog)\b"),
        "Rooms log through base/log.h; only the command line prints:",
    )


def test_outcomes_and_statuses_are_compared_as_enums():
    """How sessions, executions and kept files stand is an enum; its text belongs to the files that read and write it."""
    names = re.findall(r'"(\w+)"', "".join(re.findall(r"constexpr std::array.*?;", text(ROOT / "src/interpreter/outcome.cpp"), re.S)))
    assert {"ok", "queued", "asleep", "quota", "unchanged"} <= set(names)
    outputs = re.findall(r'type == "(\w+)"', text(ROOT / "src/interpreter/run/output.cpp"))
    assert {"stdout", "display", "error"} <= set(outputs)
    # The wire of the kernel is the sandbox's own; the command line reads answers in one file.
    own = ("src/sandbox/", "src/interpreter/outcome.cpp", "src/interpreter/run/output.cpp", "src/cli/client/execution.cpp")
    paths = [path for path in sources() if not name(path).startswith(own)]
    # A field's name and a method's name are words of other lists.
    words = "|".join(sorted({*names, *outputs} - {"name", "link"}))
    complain(
        lines_that_match(paths, rf'[!=]= *"({words})"|"({words})" *[!=]='),
        "Compare the enums of interpreter/outcome.h, or visit the Output of interpreter/run/output.h:",
    )


def test_mutexes_are_those_that_clang_checks():
    complain(
        lines_that_match([p for p in sources() if name(p) != "src/base/mutex.h"], r"std::(\w*mutex|(unique|shared|scoped)_lock|lock_guard|condition_variable\w*)\b"),
        "Use Mutex, MutexLock and ConditionVariable of base/mutex.h:",
    )


def test_what_a_mutex_guards_is_an_attribute():
    complain(lines_that_match(sources(), r"//.*\b(guarded by|guards (all|the))\b"), "Write SK_GUARDED_BY(mutex_) behind the member's name:")


def test_clang_refuses_an_access_without_the_mutex(tmp_path):
    def errors(body):
        program = tmp_path / "counter.cpp"
        program.write_text(f"""#include "base/mutex.h"
            struct Counter {{
              void add() {{ {body} }}
              void add_locked() SK_REQUIRES(mutex) {{ ++count; }}
              sk::Mutex mutex;
              sk::ConditionVariable changed;
              int count SK_GUARDED_BY(mutex) = 0;
            }};""")
        command = ["clang++-19", "-std=c++20", "-fsyntax-only", "-Wthread-safety", "-Werror", "-I", str(ROOT / "src"), str(program)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stderr

    ready = "changed.wait(lock, [this]() SK_REQUIRES(mutex) { return count > 0; });"
    assert errors(f"sk::MutexLock lock(mutex); {ready} ++count; add_locked();") == ""
    assert errors("if (mutex.try_lock()) { sk::MutexLock lock(mutex, std::adopt_lock); ++count; }") == ""
    assert "requires holding mutex" in errors("++count;")
    assert "requires holding mutex" in errors("add_locked();")
    assert "requires holding mutex" in errors("sk::MutexLock lock(mutex); lock.unlock(); ++count;")
    assert "-Wthread-safety" in text(ROOT / "CMakeLists.txt")


def types_of(header):
    """Names of the types that a header defines in a namespace; nested ones are named by their class."""
    return re.findall(r"^(?:class|struct|enum class)(?: \[\[\w+\]\]| SK_\w+(?:\([^)]*\))?)* (\w+)(?: final)?(?: : [^;{]*)? \{", header, re.M)


def test_a_type_has_a_name_of_its_own():
    """One word, one meaning: who reads `Settings` in one room must not think of those of another."""
    places = {}
    for path in files("src/*.h"):
        for one in types_of(text(path)):
            places.setdefault(one, []).append(name(path))
    complain([f"{one}: {', '.join(where)}" for one, where in sorted(places.items()) if len(where) > 1], "Two types have one name:")


def test_types_are_found_by_their_definitions():
    assert types_of("class A;\nstruct B {\nclass C final : public D {\nstruct A::Impl {\n  struct E {\nenum class F : int {\nclass SK_CAPABILITY(\"m\") G {\n") == ["B", "C", "F", "G"]
