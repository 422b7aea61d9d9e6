"""Ray clusters: how one is joined, or started on this machine."""

from __future__ import annotations

import logging
import os
import socket
import warnings
from pathlib import Path

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anyone
import ray
from ray.exceptions import RayError

from quire.errors import EndpointError, MissingExtraError

CONNECT_SECONDS = 5.0
"""A cluster that takes no connection within this time does not answer."""
CLIENT = "ray://"
TOKEN = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
"""The variables that name the token of a cluster; else it is in this file of the home folder."""
TOKEN_FILE = Path(".ray", "auth_token")
_PROBES = {
    True: "/ray.rpc.RayletDriver/ClusterInfo",
    False: "/ray.rpc.NodeInfoGcsService/CheckAlive",
}
"""What is asked of a port to see whether it wants a token: of one for clients, and of any other."""


def join(address: str) -> bool:
    """Join the cluster at an address, unless one is joined; return whether this call did.

    Without an address, that of RAY_ADDRESS, or a new one on this machine.
    """
    if ray.is_initialized():
        return False
    _join(address or os.environ.get("RAY_ADDRESS", ""))
    return True


def _join(address: str) -> None:
    """Join the cluster at an address, or start one on this machine."""
    place = _place_of(address)
    if place is not None:
        _refuse_silence(address, *place)
        if not _has_token() and _wants_token(address, *place):  # Ray would try for half a minute
            raise _refused(address)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what goes wrong is in the error
            ray.init(
                address=address or None,
                include_dashboard=None if address else False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
    except (RayError, ConnectionError, OSError, ValueError, RuntimeError) as error:
        if place is not None and _wants_token(address, *place):
            raise _refused(address) from error
        raise _no_cluster(address, first_line(error)) from error
    except ImportError as error:
        raise MissingExtraError(
            f"Ray lacks its client, which an address of the form {CLIENT}HOST:PORT needs ({error})",
            hint="pip install 'quire-context[ray]'",
        ) from error


def _place_of(address: str) -> tuple[str, int] | None:
    """Return host and port of an address; None for a name of Ray's own, such as `auto`."""
    host, separator, port = address.removeprefix(CLIENT).rpartition(":")
    return (host.strip("[]"), int(port)) if separator and port.isdecimal() else None


def _refuse_silence(address: str, host: str, port: int) -> None:
    """Refuse an address at which nothing listens: Ray would try it for minutes."""
    try:
        socket.create_connection((host, port), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, str(getattr(error, "strerror", None) or error)) from error


def _has_token() -> bool:
    if any(os.environ.get(name) for name in TOKEN):
        return True
    try:
        return (Path.home() / TOKEN_FILE).exists()
    except (OSError, RuntimeError):  # there is no home folder
        return False


def _wants_token(address: str, host: str, port: int) -> bool:
    """Return whether a cluster refuses a client without a token; Ray says only that it waited."""
    try:
        import grpc
    except ImportError:  # Ray's own parts have it built in
        return False
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    with grpc.insecure_channel(place, options=(("grpc.enable_http_proxy", 0),)) as channel:
        try:
            channel.unary_unary(_PROBES[address.startswith(CLIENT)])(b"", timeout=CONNECT_SECONDS)
        except grpc.RpcError as error:
            return bool(error.code() == grpc.StatusCode.UNAUTHENTICATED)
    return False


def _refused(address: str) -> EndpointError:
    return EndpointError(
        f"the Ray cluster at {address} wants another token than this client has, or any",
        value=address,
        hint=f"set RAY_AUTH_MODE=token and {' or '.join(TOKEN)} as on the cluster "
        "(`ray get-auth-token` shows it there)",
    )


def _no_cluster(address: str, reason: str) -> EndpointError:
    return EndpointError(
        f"no Ray cluster answers at {address or 'this machine'}: {reason}",
        value=address,
        hint="start one with `ray start --head`, or leave the address (and RAY_ADDRESS) out",
    )


def resources() -> dict[str, float]:
    """Return what the cluster has: `CPU`, `GPU`."""
    found: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call] # Ray's
    return found


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return str(error).strip().partition("\n")[0]
