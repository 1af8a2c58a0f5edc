"""Who may call: the bearer key, and without one only this machine."""

import hmac
import ipaddress

from starlette.requests import Request

from api.errors import ExposedWithoutKey, Unauthorised, WrongHost
from config.settings import Settings

_REALM = {"WWW-Authenticate": 'Bearer realm="sidestream"'}


class Access:
    """Decides whether a request may go on.

    Raises:
        ExposedWithoutKey: the address lies beyond loopback and no key is set.
    """

    def __init__(self, settings: Settings) -> None:
        key = settings.api_key.get_secret_value() if settings.api_key is not None else ""
        if not key and not is_loopback(settings.api_host):
            raise ExposedWithoutKey(
                f"api_host is {settings.api_host}, beyond loopback, and no api_key is set; "
                "set SIDESTREAM_API_KEY to a long random string, or SIDESTREAM_API_HOST to 127.0.0.1"
            )
        self._key = key.encode()

    @property
    def open(self) -> bool:
        """No key is configured."""
        return not self._key

    def require(self, request: Request) -> None:
        """Lets the request pass.

        Raises:
            Unauthorised, WrongHost.
        """
        if self.open:
            host = request.url.hostname or ""
            if not is_loopback(host):
                raise WrongHost(f"this API answers on this machine only, and was called as {host!r}")
        elif not self.knows(request):
            raise Unauthorised("a bearer key is needed: Authorization: Bearer <SIDESTREAM_API_KEY>", headers=_REALM)

    def knows(self, request: Request) -> bool:
        """Whether the request carries the key; takes the same time for every wrong one."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._key)


def is_loopback(host: str) -> bool:
    """Whether an address or name reaches this machine only."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
