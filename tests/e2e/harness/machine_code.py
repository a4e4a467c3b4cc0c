# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The program machine_code, which generates code and runs it."""

from harness.cases import never
from harness.recording import names_of

# A shell text that waits until a process has run for TICKS ticks of 10 ms (20), whatever the load: sh -c TEXT sh PID [TICKS].
UNTIL_IT_RAN = """
ticks() { set -- $(cat /proc/$1/stat) && echo ${14}; }
end=$(($(ticks $1) + ${2:-20}))
while [ $(ticks $1) -lt $end ]; do sleep 0.05; done
"""


def check_generated_name(recording):
    names = {name for event in recording.events() if event.comm == "machine_code" for name in names_of(event)}
    never("overwritten" in names, names)
    assert "generated code" in names, names
