"""The processes of a whole system on one machine, in the waves in which they start."""

import sys
from collections.abc import Sequence

from cli.child import Program
from cli.environment import child_environment
from config.settings import Settings

TASK_QUEUES = "embed,summarise,extract,compact,maintain"

REDIS, INGEST, TASKS, BEAT, API = "redis", "ingest", "tasks", "beat", "api"


def waves(found: Settings, *, api_port: int | None) -> list[list[Program]]:
    """Redis (where it is the embedded one), then the consumer, then the task worker, then beat and the API.

    `api_port` is where the API listens; None leaves it out.
    """
    environment = child_environment(found, **({} if api_port is None else {"api_port": str(api_port)}))

    def program(name: str, command: Sequence[str], stop_deadline: float) -> Program:
        return Program(name, (sys.executable, "-m", *command), stop_deadline, environment)

    # Redis waits for its server to write its file out; the workers for the task that they are in.
    result = [] if found.redis_url else [[program(REDIS, ["cli.main", "redis"], 25.0)]]
    result.append([program(INGEST, worker("ingest", "--pool", "solo", "--hostname", "ingest@%h"), 10.0)])
    result.append([program(TASKS, worker(TASK_QUEUES, "--hostname", "tasks@%h"), 15.0)])
    last = [program(BEAT, celery("beat"), 5.0)]
    if api_port is not None:
        last.append(program(API, ["cli.main", "serve"], 10.0))
    return [*result, last]


def celery(*arguments: str) -> list[str]:
    """Arguments of a Python that runs Celery."""
    return ["celery", "-A", "workers.app", *arguments]


def worker(queues: str, *arguments: str) -> list[str]:
    """Arguments of a Python that runs a worker of these queues."""
    return celery("worker", "--queues", queues, *arguments)
