"""How often the cyclic garbage collector looks at the processes that read the stream."""

import gc

_YOUNG = 50_000


def collect_rarely() -> None:
    """Leaves out of every collection what is there by now, and collects less often.

    A batch is tens of thousands of objects, none of them in a cycle and all of them alive until it is written: looking
    at them again and again, as by default after every 700, takes a tenth of a process's time.
    """
    gc.freeze()
    gc.set_threshold(_YOUNG, 20, 100)
