"""Code gives way to the server: by priority, and first of all when memory runs out. It cannot change that."""


def test_code_has_a_low_priority_that_it_cannot_raise(session):
    went = session.run("""
import os
def refused(call, *arguments):
    try: call(*arguments)
    except OSError: return True
print(os.nice(0), os.sched_getscheduler(0) == os.SCHED_BATCH,
      refused(os.setpriority, os.PRIO_PROCESS, 0, 0), refused(os.sched_setscheduler, 0, os.SCHED_OTHER, os.sched_param(0)))
print(__import__('subprocess').run(['nice'], capture_output=True, text=True).stdout)
""")
    assert went["output"].split() == ["10", "True", "True", "True", "10"], went


def test_code_is_the_first_to_go_when_memory_runs_out(session):
    went = session.run("""
import os
print(open('/proc/self/oom_score_adj').read())
try: os.write(os.open('/proc/self/oom_score_adj', os.O_WRONLY), b'0')
except OSError: print('refused')
""")
    assert went["output"].split() == ["1000", "refused"], went
