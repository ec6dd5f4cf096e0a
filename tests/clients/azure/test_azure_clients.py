"""Azure's dynamic sessions as langchain-azure, semantic-kernel and autogen use them, each client's requests in their order."""

from pool import Autogen, LangchainBash, LangchainPython, SemanticKernelDotNet, SemanticKernelPython


def test_langchain_python_runs_code_and_moves_files(pool, identifier):
    tool = LangchainPython(pool, identifier)
    assert tool.execute("6 * 7")["result"] == 42
    assert tool.execute("x = 5\nprint('hello')")["stdout"] == "hello\n"
    assert tool.execute("x + 1")["result"] == 6, "variables live on between calls"
    assert tool.upload_file(b"a,b\n1,2\n", "numbers.csv") == ("numbers.csv", 8)
    assert tool.execute("open('/mnt/data/numbers.csv').read()")["result"] == r"'a,b\n1,2\n'"
    tool.execute("import os; os.makedirs('sub', exist_ok=True); open('sub/out put.txt', 'w').write('made inside')")
    assert ("sub/out put.txt", 11) in tool.list_files()
    assert tool.download_file("sub/out put.txt") == b"made inside"
    tool.delete_session()
    assert tool.list_files() == [], "a deleted session is a new one when its name is used again"
    assert tool.execute("'x' in globals()")["result"] is False


def test_langchain_python_gets_failures_as_answers(pool, identifier):
    properties = LangchainPython(pool, identifier).execute("1 / 0")
    assert properties["status"] == "Failure"
    assert "ZeroDivisionError: division by zero" in properties["stderr"]
    assert properties["result"] == properties["executionResult"] == ""


def test_langchain_python_gets_a_figure_as_an_image_without_which_its_answer_is_readable(pool, identifier):
    properties = LangchainPython(pool, identifier).execute("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    image = properties["result"]
    assert image["type"] == "image" and image["format"] == "png" and image["base64_data"].startswith("iVBOR")
    kept = [one for one in properties["files"] if one["contentType"] == "image/png"]
    assert len(kept) == 1 and "/k/v_" in kept[0]["link"]


def test_langchain_bash_runs_commands_and_moves_files(pool, identifier):
    tool = LangchainBash(pool, identifier)
    assert tool.run("echo hello; echo oops >&2") == ("hello\n", "oops\n", 0)
    assert tool.run("exit 3")[2] == 3
    assert tool.upload_file(b"from outside", "in.txt") == ("in.txt", 12)
    assert tool.run("cat /mnt/data/in.txt")[0] == "from outside"
    assert tool.run("mkdir -p deep/er && printf made > deep/er/out.txt")[2] == 0
    assert ("in.txt", 12) in tool.list_files()
    assert tool.download_file("deep/er/out.txt") == b"made"


def test_semantic_kernel_python_finds_what_it_uploaded_by_its_whole_path(pool, identifier):
    tool = SemanticKernelPython(pool, identifier)
    assert tool.execute_code("print('hi')\n1 + 1") == "Result:\n2Stdout:\nhi\nStderr:\n"
    remote, size = tool.upload_file(b"12345", "data.bin")
    assert (remote, size) == ("/mnt/data/data.bin", 5)
    assert remote in tool.list_files()
    assert tool.execute_code("open('/mnt/data/data.bin').read()").startswith("Result:\n12345")
    assert tool.download_file("data.bin") == b"12345"


def test_semantic_kernel_dotnet_reads_strings(pool, identifier):
    tool = SemanticKernelDotNet(pool, identifier)
    assert tool.execute_code("print('hi')\n{'a': 1}") == ("Succeeded", "{'a': 1}", "hi\n", "")
    status, result, _, errors = tool.execute_code("raise KeyError('k')")
    assert status == "Failed" and result == "" and "KeyError" in errors
    assert tool.upload_file(b"xyz", "räksmörgås 数据.txt") == ("räksmörgås 数据.txt", 3)
    assert "räksmörgås 数据.txt" in tool.list_files()
    assert tool.download_file("räksmörgås 数据.txt") == b"xyz"
    _, where, _, _ = tool.execute_code("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    assert where.startswith("/mnt/data/outputs/") and where.endswith(".png")
    assert tool.download_file(where.removeprefix("/mnt/data/"))[:4] == b"\x89PNG"


def test_autogen_reads_success_failure_and_results(pool, identifier):
    executor = Autogen(pool, identifier)
    assert executor.execute("print('hello world!')") == (0, "hello world!\n")
    assert executor.execute("import math; math.pi > 3")[1] == "True"
    code, output = executor.execute("print('before')\nraise ValueError('no')")
    assert code == 1 and "before" in output and "ValueError: no" in output
    executor.upload_files({"test1.txt": b"one", "test2.txt": b"two"})
    assert set(executor.get_file_list()) == {"test1.txt", "test2.txt"}
    assert executor.execute("print(open('test1.txt').read() + open('test2.txt').read())") == (0, "onetwo\n")
    assert executor.download("test2.txt") == b"two"
    code, output = executor.execute("import time\ntime.sleep(60)", timeout=1)
    assert code == 1 and "time-out" in output
