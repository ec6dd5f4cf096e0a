// What cells do, as the kernel inside a session runs them.
#include <gmock/gmock.h>

#include "support/expect_error.h"
#include "unit/sandbox/harness.h"

namespace sk::sandbox {
namespace {

using namespace testing;
using test::expect_error;
using ::testing::HasSubstr;
using ::testing::Not;

std::string traceback_of(const Cell& cell) { return cell.raised.empty() ? "" : cell.raised.back().traceback; }

TEST(Kernel, KeepsVariablesFromCellToCell) {
  TestSession session;
  ASSERT_TRUE(session.run("x = 40").ok());
  Cell cell = session.run("x + 2");
  EXPECT_EQ(cell.result(), "42");
  EXPECT_EQ(cell.done->count, 2u);
}

TEST(Kernel, ShowsNothingForACellThatEndsInASemicolonOrAStatement) {
  TestSession session;
  EXPECT_TRUE(session.run("1 + 1;").results.empty());
  EXPECT_TRUE(session.run("y = 1").results.empty());
  EXPECT_TRUE(session.run("").ok());
}

TEST(Kernel, DeliversOutputOfPythonAndOfItsProgramsInOrder) {
  TestSession session;
  Cell cell = session.run("print('one')\n!echo two\nprint('three')\nimport os\nos.write(1, b'four\\n');");
  EXPECT_EQ(cell.output, "one\ntwo\nthree\nfour\n");
}

TEST(Kernel, PutsOutputAndDisplaysInTheOrderInWhichTheyWereMade) {
  TestSession session;
  Cell cell = session.run(
      "import sys\n"
      "print('before')\n"
      "display({'text/plain': 'shown'}, raw=True)\n"
      "print('between')\n"
      "print('aside', file=sys.stderr)\n"
      "print('after')\n"
      "'value'");
  EXPECT_THAT(cell.order, ::testing::ElementsAre("output:before\n", "display", "output:between\n",
                                                 "errors:aside\n", "output:after\n", "result"));
}

TEST(Kernel, StreamsOutputWhileTheCellRuns) {
  TestSession session;
  session.start("print('first')\nwhile True: pass");
  ASSERT_TRUE(session.wait([&] { return session.events().cell.output == "first\n"; }));
  EXPECT_FALSE(session.events().cell.done);
  session.kernel().interrupt();
  EXPECT_EQ(session.finish().done->status, CellStatus::interrupted);
}

TEST(Kernel, KeepsUtf8CharactersWhole) {
  TestSession session;
  session.run(
      "import os, time\nfor byte in '€'.encode() * 3:\n    os.write(1, bytes([byte]))\n    time.sleep(0.01)");
  for (const auto& entry : session.events().cell.order) EXPECT_TRUE(is_utf8(entry)) << entry;
  EXPECT_EQ(session.events().cell.output, "€€€");
}

TEST(Kernel, DeliversBytesThatAreNotText) {
  TestSession session;
  Cell cell = session.run("import os\nos.write(1, bytes(range(256)) * 4);");
  ASSERT_EQ(cell.output.size(), 1024u);
  EXPECT_EQ(static_cast<unsigned char>(cell.output[255]), 255);
}

TEST(Kernel, ShowsFiguresAtTheEndOfTheCell) {
  TestSession session;
  Cell cell = session.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nprint('drawn')");
  ASSERT_EQ(cell.displays.size(), 1u) << traceback_of(cell);
  auto* png = cell.displays[0].bundle.find("image/png");
  ASSERT_NE(png, nullptr);
  EXPECT_TRUE(png->is_binary);
  EXPECT_EQ(png->content.substr(0, 4), "\x89PNG");
  EXPECT_TRUE(session.run("plt.get_fignums()").result() == "[]")
      << "a figure must not be shown again by the next cell";
}

TEST(Kernel, ShowsAFigureOnceAlsoWhenCodeAsksForIt) {
  TestSession session;
  EXPECT_EQ(session.run("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()").displays.size(), 1u);
}

TEST(Kernel, ShowsPlainValuesAsCodeSaysTheyAreToBeShown) {
  TestSession session;
  Cell plain = session.run("[1, 'a', {2.5: None}]");
  ASSERT_EQ(plain.results.size(), 1u) << traceback_of(plain);
  EXPECT_EQ(plain.results[0].bundle.find("text/plain")->content, "[1, 'a', {2.5: None}]");
  EXPECT_EQ(plain.results[0].bundle.find("text/html"), nullptr);
  session.run(
      "formatter = get_ipython().display_formatter.formatters['text/html']\n"
      "formatter.for_type(int, lambda value: f'<b>{value}</b>')");
  Cell marked = session.run("7");
  ASSERT_EQ(marked.results.size(), 1u) << traceback_of(marked);
  ASSERT_NE(marked.results[0].bundle.find("text/html"), nullptr);
  EXPECT_EQ(marked.results[0].bundle.find("text/html")->content, "<b>7</b>");
}

TEST(Kernel, OffersATableAsTextAndAsHtml) {
  TestSession session;
  Cell cell = session.run("import pandas as pd\npd.DataFrame({'a': [1]})");
  ASSERT_EQ(cell.results.size(), 1u) << traceback_of(cell);
  EXPECT_NE(cell.results[0].bundle.find("text/plain"), nullptr);
  ASSERT_NE(cell.results[0].bundle.find("text/html"), nullptr);
  EXPECT_THAT(cell.results[0].bundle.find("text/html")->content, HasSubstr("<table"));
}

TEST(Kernel, HandsJsonDisplaysOverAsText) {
  TestSession session;
  Cell cell = session.run(
      "display({'application/json': {'a': [1, {'b': float('nan')}]}}, raw=True)\n"
      "display({'application/json': {'deep': [[[[1]]]]}}, raw=True)");
  ASSERT_EQ(cell.displays.size(), 2u) << traceback_of(cell);
  EXPECT_EQ(cell.displays[1].bundle.find("application/json")->content, R"({"deep": [[[[1]]]]})");
}

TEST(Kernel, UpdatesADisplayByItsId) {
  TestSession session;
  Cell cell = session.run("handle = display('one', display_id=True)\nhandle.update('two')");
  ASSERT_EQ(cell.displays.size(), 2u);
  EXPECT_FALSE(cell.displays[0].id.empty());
  EXPECT_FALSE(cell.displays[0].update);
  EXPECT_EQ(cell.displays[1].id, cell.displays[0].id);
  EXPECT_TRUE(cell.displays[1].update);
}

TEST(Kernel, ReplacesADisplayThatNoFrameCanHoldByASentence) {
  TestSession session;
  Cell cell = session.run("display({'image/png': b'x' * (20 << 20)}, raw=True)\nprint('on')");
  ASSERT_EQ(cell.displays.size(), 1u);
  EXPECT_THAT(cell.displays[0].bundle.find("text/plain")->content, HasSubstr("not shown"));
  EXPECT_EQ(cell.output, "on\n");
}

TEST(Kernel, CountsTheEmptyLinesBeforeTheFirstStatement) {
  TestSession session;
  EXPECT_THAT(session.run("\n \nx = 1\n1 / 0").raised.at(0).traceback, HasSubstr("line 4"));
  EXPECT_THAT(session.run("\n\n(").raised.at(0).traceback, HasSubstr("line 3"));
  EXPECT_EQ(session.run("\n  print(1)\n  print(2)").output, "1\n2\n") << "an indented cell";
  EXPECT_EQ(session.run("\n%%capture seen\nprint(3)\n").output, "") << "a magic command";
  EXPECT_EQ(session.run("print(seen)").output, "3\n\n");
}

TEST(Kernel, TellsOfAnErrorWithAReadableTraceback) {
  TestSession session;
  Cell cell = session.run("def f():\n    return 1 / 0\nf()");
  EXPECT_EQ(cell.done->status, CellStatus::error);
  ASSERT_EQ(cell.raised.size(), 1u);
  EXPECT_EQ(cell.raised[0].name, "ZeroDivisionError");
  EXPECT_EQ(cell.raised[0].value, "division by zero");
  EXPECT_THAT(cell.raised[0].traceback, HasSubstr("return 1 / 0"));
  EXPECT_THAT(cell.raised[0].traceback, Not(HasSubstr("\x1b["))) << "no colours";
  EXPECT_THAT(cell.raised[0].traceback, Not(HasSubstr("sandkeep_runtime"))) << "no frames of our own";
  EXPECT_TRUE(session.run("1").ok()) << "the session goes on";
}

TEST(Kernel, TellsOfASyntaxErrorWithItsLine) {
  TestSession session;
  Cell cell = session.run("a = 1\nb = = 2");
  ASSERT_EQ(cell.raised.size(), 1u);
  EXPECT_EQ(cell.raised[0].name, "SyntaxError");
  EXPECT_THAT(cell.raised[0].traceback, HasSubstr("b = = 2"));
}

TEST(Kernel, RefusesInputWithAClearError) {
  TestSession session;
  Cell cell = session.run("input('name? ')");
  ASSERT_EQ(cell.raised.size(), 1u);
  EXPECT_THAT(cell.raised[0].value, HasSubstr("keyboard"));
  EXPECT_EQ(session.run("import getpass; getpass.getpass()").done->status, CellStatus::error);
  EXPECT_EQ(session.run("import sys; sys.stdin.read()").result(), "''");
}

TEST(Kernel, AwaitsAtTheTopLevel) {
  TestSession session;
  Cell cell = session.run("import asyncio\nawait asyncio.sleep(0.01, 'slept')");
  EXPECT_EQ(cell.result(), "'slept'") << traceback_of(cell);
}

TEST(Kernel, RunsMagicsAndShellCommands) {
  TestSession session;
  EXPECT_THAT(session.run("%pwd").result(), HasSubstr("/mnt/data"));
  EXPECT_TRUE(session.run("%%writefile hello.py\nprint('from a file')").ok());
  EXPECT_EQ(session.run("%run hello.py").output, "from a file\n");
  EXPECT_EQ(session.run("lines = !echo a; echo b\nlist(lines)").result(), "['a', 'b']");
  EXPECT_EQ(session.run("!exit 3\n_exit_code").result(), "3");
  EXPECT_EQ(session.run("%%bash\necho from bash").output, "from bash\n");
  EXPECT_THAT(session.run("%timeit -n1 -r1 pass").output, HasSubstr("loop"));
  EXPECT_EQ(session.run("%no_such_magic").done->status, CellStatus::error);
}

TEST(Kernel, EndsTheCellAtExitAndKeepsTheSession) {
  TestSession session;
  session.run("x = 1");
  Cell cell = session.run("import sys\nsys.exit(3)");
  EXPECT_EQ(cell.done->status, CellStatus::error);
  EXPECT_EQ(cell.done->exit_code, 3);
  EXPECT_EQ(session.run("exit()").done->exit_code, 0);
  EXPECT_EQ(session.run("quit").done->exit_code, 0);
  EXPECT_EQ(session.run("x").result(), "1");
}

TEST(Kernel, InterruptsACellAndKeepsItsState) {
  TestSession session;
  session.run("x = 'kept'");
  // Printed by another thread, so that the interrupt meets the sleep and not the printing.
  session.start(
      "import threading, time\nthreading.Timer(0.1, print, ['sleeping']).start(); time.sleep(1000)");
  ASSERT_TRUE(session.wait([&] { return !session.events().cell.output.empty(); }));
  session.kernel().interrupt();
  Cell cell = session.finish();
  EXPECT_EQ(cell.done->status, CellStatus::interrupted);
  ASSERT_EQ(cell.raised.size(), 1u);
  EXPECT_EQ(cell.raised[0].name, "KeyboardInterrupt");
  EXPECT_THAT(cell.raised[0].traceback, HasSubstr("time.sleep(1000)"));
  EXPECT_THAT(cell.raised[0].traceback, Not(HasSubstr("sandkeep_runtime")));
  EXPECT_EQ(session.run("x").result(), "'kept'");
}

TEST(Kernel, InterruptsAProgramThatACellWaitsFor) {
  TestSession session;
  session.start("print('x')\n!sleep 1000");
  ASSERT_TRUE(session.wait([&] { return !session.events().cell.output.empty(); }));
  session.kernel().interrupt();
  EXPECT_EQ(session.finish().done->status, CellStatus::interrupted);
  EXPECT_EQ(session.run("!pgrep -c sleep").output, "0\n");
}

TEST(Kernel, IgnoresAnInterruptBetweenCells) {
  TestSession session;
  session.run("x = 1");
  session.session().interrupt();
  EXPECT_EQ(session.run("x").result(), "1");
}

TEST(Kernel, SurvivesInterruptsAtAnyMoment) {
  TestSession session;
  for (int round = 0; round < 60; ++round) {
    session.start("for i in range(200):\n    print(i)\n    if i % 50 == 0: display(i)");
    size_t seen = static_cast<size_t>(round) * 7;
    session.wait([&] { return session.events().cell.output.size() >= seen || session.events().cell.done; });
    session.kernel().interrupt();
    Cell cell = session.finish();
    ASSERT_TRUE(cell.done) << round;
  }
  EXPECT_EQ(session.run("6 * 7").result(), "42");
}

TEST(Kernel, RunsBashInTheSameFolderWithAStateOfItsOwn) {
  TestSession session;
  session.run("open('made_by_python', 'w').close()");
  Cell cell =
      session.run("ls; mkdir -p sub; cd sub; greeting=hello; twice() { echo $1 $1; }", Language::bash);
  EXPECT_EQ(cell.output, "made_by_python\n");
  EXPECT_EQ(cell.done->exit_code, 0);
  EXPECT_EQ(session.run("pwd; twice $greeting", Language::bash).output, "/mnt/data/sub\nhello hello\n");
  Cell failed = session.run("echo oops >&2; false", Language::bash);
  EXPECT_EQ(failed.done->status, CellStatus::error);
  EXPECT_EQ(failed.done->exit_code, 1);
  EXPECT_EQ(failed.errors, "oops\n");
  EXPECT_EQ(session.run("exit 7", Language::bash).done->exit_code, 7);
  EXPECT_EQ(session.run("echo again", Language::bash).output, "again\n");
  EXPECT_EQ(session.run("cat", Language::bash).done->exit_code, 0) << "nothing to read, no waiting";
}

TEST(Kernel, InterruptsBashAndStaysInItsFolder) {
  TestSession session;
  session.run("mkdir sub; cd sub", Language::bash);
  session.start("echo on; while true; do sleep 1; done", Language::bash);
  ASSERT_TRUE(session.wait([&] { return !session.events().cell.output.empty(); }));
  session.kernel().interrupt();
  EXPECT_EQ(session.finish().done->status, CellStatus::interrupted);
  EXPECT_EQ(session.run("pwd", Language::bash).output, "/mnt/data/sub\n");
}

TEST(Kernel, LetsChildrenThatCodeForksPrintAndNothingElse) {
  TestSession session;
  Cell cell = session.run(
      "import os\n"
      "pid = os.fork()\n"
      "if pid == 0:\n"
      "    display('from the child')\n"
      "    print('child')\n"
      "else:\n"
      "    os.waitpid(pid, 0)\n"
      "    print('parent')");
  EXPECT_EQ(cell.output, "child\nparent\n");
  EXPECT_TRUE(cell.displays.empty());
  EXPECT_EQ(session.run("1 + 1").result(), "2");
}

TEST(Kernel, RunsWorkersOfMultiprocessing) {
  TestSession session;
  Cell cell = session.run(
      "from multiprocessing import Pool\n"
      "def square(x): return x * x\n"
      "with Pool(2) as pool:\n"
      "    print(pool.map(square, range(5)))");
  EXPECT_EQ(cell.output, "[0, 1, 4, 9, 16]\n") << traceback_of(cell);
}

TEST(Kernel, PassesRequestsOfTheModuleOnAndTheAnswersBack) {
  TestSession session;
  session.events().answer = [&](const KernelRequest& request) {
    if (request.method == "keep")
      session.kernel().reply(request.id, {{"path", request.params["path"]}, {"version_id", "v_1"}});
    else
      session.kernel().refuse(request.id, "not_found", "no such file");
  };
  Cell cell = session.run("import sandkeep\nsandkeep.keep('a.txt')['path']");
  EXPECT_EQ(cell.result(), "'a.txt'") << traceback_of(cell);
  cell = session.run(
      "try:\n    sandkeep.fetch('/x')\nexcept sandkeep.Error as error:\n    print(error.code, error)");
  EXPECT_EQ(cell.output, "not_found no such file\n");
  cell = session.run("sandkeep.link('/etc/passwd')");
  EXPECT_EQ(cell.done->status, CellStatus::error);
  EXPECT_TRUE(cell.requests.empty()) << "refused without asking";
}

TEST(Kernel, ARequestWhoseAnswerIsTooLargeCanBeRefused) {
  TestSession session;
  session.events().answer = [&](const KernelRequest& request) {
    try {
      session.kernel().reply(request.id, std::string(64 << 20, 'x'));
    } catch (const Error& error) {
      session.kernel().refuse(request.id, info(error.code()).name, "too large");
    }
  };
  Cell cell = session.run(
      "import sandkeep\ntry:\n    sandkeep.link('a')\nexcept sandkeep.Error as error:\n    "
      "print(error.code)");
  EXPECT_EQ(cell.output, "too_large\n");
}

TEST(Kernel, AnswersRequestsOfSeveralThreadsAlsoBetweenCells) {
  TestSession session;
  session.events().answer = [&](const KernelRequest& request) {
    session.kernel().reply(request.id, request.params["path"]);
  };
  Cell cell = session.run(
      "import sandkeep, threading, time\n"
      "answers = []\n"
      "def ask(n): answers.append((n, sandkeep.link(f'f{n}')))\n"
      "threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]\n"
      "for t in threads: t.start()\n"
      "for t in threads: t.join()\n"
      "late = threading.Timer(0.2, ask, (99,)); late.start()\n"
      "all(a == f'f{n}' for n, a in answers), len(answers)");
  EXPECT_EQ(cell.result(), "(True, 8)") << traceback_of(cell);
  ASSERT_TRUE(session.wait([&] { return session.events().cell.requests.size() == 9; }));
  EXPECT_EQ(session.run("late.join(); len(answers)").result(), "9");
}

TEST(Kernel, PutsVariablesIntoTheEnvironment) {
  TestSession session;
  session.kernel().configure({{"GREETING", "hello"}});
  EXPECT_EQ(session.run("!echo $GREETING $HOME $PWD").output, "hello /home/user /mnt/data\n");
}

TEST(Kernel, RefusesCodeThatIsNotTextAndASecondCellAtOnce) {
  TestSession session;
  expect_error(Code::bad_request, [&] { session.kernel().execute("x", "print('\xff')"); });
  expect_error(Code::too_large, [&] { session.kernel().execute("x", std::string(17 << 20, ' ')); });
  session.start("import time; time.sleep(0.1)");
  expect_error(Code::conflict, [&] { session.kernel().execute("y", "1"); });
  EXPECT_TRUE(session.finish().ok());
}

TEST(Kernel, RunsTenMegabytesOfCode) {
  TestSession session;
  Cell cell = session.run("x = '" + std::string(10 << 20, 'a') + "'\nlen(x)");
  EXPECT_EQ(cell.result(), "10485760") << traceback_of(cell);
}

TEST(Kernel, ReadsAFloodOfOutputWithoutHoldingIt) {
  TestSession session;
  Cell cell = session.run("import sys\nfor i in range(200): sys.stdout.write('x' * 99999 + '\\n')");
  EXPECT_EQ(cell.output.size(), 200u * 100000u);
  EXPECT_TRUE(cell.ok());
}

TEST(Kernel, MakesAPausedSessionWaitInsteadOfReadingIt) {
  TestSession session;
  session.kernel().pause_output();
  session.start("import sys\nfor i in range(50): sys.stdout.write('x' * 9999 + '\\n')");
  EXPECT_FALSE(session.wait([&] { return session.events().cell.done.has_value(); }, 300));
  EXPECT_LT(session.events().cell.output.size(), 200'000u);
  session.kernel().resume_output();
  Cell cell = session.finish();
  EXPECT_EQ(cell.output.size(), 500'000u);
}

TEST(Kernel, DrawsManyScriptsWithoutMissingGlyphs) {
  TestSession session;
  Cell cell = session.run(
      "import matplotlib.pyplot as plt, warnings\n"
      "warnings.simplefilter('error')\n"
      "plt.figure(); plt.title('中文 日本語 العربية עברית हिन्दी ไทย 😀')\n"
      "plt.savefig('a.png')\n"
      "plt.style.use('ggplot')\n"
      "plt.rcParams['font.family'] = 'serif'\n"
      "plt.title('中文 😀'); plt.savefig('b.png'); plt.close()");
  EXPECT_TRUE(cell.ok()) << traceback_of(cell);
}

TEST(Kernel, GivesEverySessionItsOwnRandomNumbers) {
  const char* code =
      "import random, numpy, uuid, tempfile, secrets\n"
      "(random.random(), numpy.random.rand(), uuid.uuid4(), tempfile.mktemp(), secrets.token_hex())";
  TestSession one, two;
  Cell first = one.run(code), second = two.run(code);
  ASSERT_TRUE(first.ok() && second.ok());
  auto words_of = [](const Cell& cell) {
    std::vector<std::string> out;
    std::string tuple = cell.result();
    for (auto word : split(tuple, ',')) out.emplace_back(trim(word));
    return out;
  };
  auto a = words_of(first), b = words_of(second);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NE(a[i], b[i]);
}

}  // namespace
}  // namespace sk::sandbox
