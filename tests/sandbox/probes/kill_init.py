"""No signal reaches the first process."""

for number in range(1, 65):
    try:
        os.kill(1, number)
    except OSError:
        pass
import time; time.sleep(0.2)
held("still here")
