"""`serendip serve`: the page and the REST API."""

import socket
from typing import Annotated

import typer

from serendip.cli.campaign_options import StoreOption, say


def serve(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where to listen; 0 takes any that is free.")
    ] = 8000,
    host: Annotated[
        str, typer.Option(help="The address to listen on; others than this computer need a token.")
    ] = "127.0.0.1",
    store: StoreOption = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="SERENDIP_TOKEN",
            show_envvar=True,
            help="What clients must show. Default: nothing on this computer, else a new one.",
        ),
    ] = None,
) -> None:
    """Open the campaigns of a store in the browser, and to robots over REST."""
    from serendip.core.errors import SerendipError

    try:
        import uvicorn

        from serendip.web.app import create_app
        from serendip.web.server.protocol import LimitedProtocol
    except ModuleNotFoundError as problem:
        if (problem.name or "serendip").startswith("serendip"):
            raise
        raise SerendipError(
            f"The page needs {problem.name}, which is not installed; "
            "run pip install 'serendip[web]'."
        ) from None
    from serendip.compute.workers import leave_if_starting
    from serendip.web.server.settings import ServeSettings

    leave_if_starting()  # before it would find its own address in use
    settings = ServeSettings(store=store, host=host, port=port, token=token).guarded()
    with _listening(host, port) as listening:
        app = create_app(settings)
        place = f"http://{_shown(host)}:{listening.getsockname()[1]}"
        say(f"Serving {app.state.campaigns.store} at {place}; Ctrl-C ends it.")
        if settings.token is not None and token is None:
            say(f"Token, shown this once: {settings.token}")
            say(f"In a browser: {place}/?token={settings.token}")
        config = uvicorn.Config(
            app,
            http=LimitedProtocol,
            h11_max_incomplete_event_size=settings.max_head,
            log_level="warning",
            access_log=False,  # it would show tokens
            server_header=False,
            timeout_graceful_shutdown=3,
        )
        uvicorn.Server(config).run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    """A socket at the address, or one sentence why there is none."""
    from serendip.core.errors import SerendipError

    try:
        family, kind, _, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
        except OSError:
            made.close()
            raise
        return made
    except OSError as problem:
        raise SerendipError(
            f"The server cannot listen on {host}, port {port} ({problem.strerror or problem}); "
            "choose another with --port or --host."
        ) from None


def _shown(host: str) -> str:
    """The host as it stands in an address that others can open."""
    if host in ("0.0.0.0", "::"):
        return socket.gethostname()
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
