"""Celery's configuration, made from the settings."""

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from kombu import Exchange, Queue

from config.settings import Settings
from workers.kinds import MAINTAIN, QUEUES

# The nameless exchange: a task goes to the queue of its routing key without any binding, so none can be lost.
_DIRECT = Exchange("", type="direct")


def celery_config(settings: Settings, redis_url: str, schedule: dict[str, Any]) -> dict[str, Any]:
    """Celery's settings. Work is never lost with the broker, since rows say what is owed; so tasks are
    hints, and everything here serves that a hint is cheap, late rather than lost, and never kept."""
    return {
        "broker_url": broker_url(redis_url),
        "broker_transport_options": transport_options(settings),
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_connection_timeout": 5.0,
        "redis_backend_health_check_interval": 10,
        "task_serializer": "json",
        "accept_content": ["json"],
        "result_backend": None,
        "task_ignore_result": True,
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "task_acks_on_failure_or_timeout": True,
        "task_soft_time_limit": settings.task_soft_limit,
        "task_time_limit": settings.task_hard_limit,
        "task_publish_retry": False,
        "task_queues": [Queue(name, _DIRECT, routing_key=name) for name in QUEUES],
        "task_default_queue": MAINTAIN,
        "task_create_missing_queues": False,
        "worker_prefetch_multiplier": 1,
        "worker_concurrency": settings.worker_concurrency,
        "worker_max_tasks_per_child": settings.worker_max_tasks,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "worker_hijack_root_logger": False,
        "worker_send_task_events": False,
        "worker_enable_remote_control": False,
        "beat_scheduler": "workers.beat:TickScheduler",
        "beat_schedule": schedule,
        "beat_max_loop_interval": min(5.0, settings.sweep_every),
        "timezone": "UTC",
    }


def transport_options(settings: Settings) -> dict[str, Any]:
    """Options of kombu's Redis transport. All its keys stand under the prefix, so that two installations
    can share a Redis; a killed worker's tasks come back within seconds of the visibility timeout, not
    minutes."""
    return {
        "global_keyprefix": queue_prefix(settings.redis_prefix),
        "visibility_timeout": settings.visibility_timeout,
        "unacked_restore_interval": 1,
        "unacked_restore_throttle": 1,
        "health_check_interval": 10,
        "socket_keepalive": True,
        "socket_connect_timeout": 5.0,
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0.1,
        "interval_max": 0.2,
    }


def own_queue(process: str) -> Queue:
    """The queue that one worker process alone consumes."""
    return Queue(f"own:{process}", _DIRECT, routing_key=f"own:{process}")


def queue_prefix(redis_prefix: str) -> str:
    """What Celery's keys start with; the key of queue `embed` is this and `embed`."""
    return f"{redis_prefix}celery:"


def broker_url(redis_url: str) -> str:
    """The same server in kombu's words: it writes a socket as `redis+socket://` and a database as
    `virtual_host`."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    query = dict(parse_qsl(parts.query))
    if "db" in query:
        query["virtual_host"] = query.pop("db")
    text = f"redis+socket://{parts.netloc}{parts.path}"
    return f"{text}?{urlencode(query)}" if query else text
