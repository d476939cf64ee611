"""`serendip serve`: the page and the REST API."""

from typing import Annotated

import typer

from serendip.cli.campaign_options import StoreOption, say


def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen.")] = 8000,
    host: Annotated[
        str, typer.Option(help="The address to listen on; others than this computer need a token.")
    ] = "127.0.0.1",
    store: StoreOption = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="SERENDIP_TOKEN", help="What clients must show. Default: none on this computer."
        ),
    ] = None,
) -> None:
    """Open the campaigns of a store in the browser, and to robots over REST."""
    try:
        import uvicorn

        from serendip.web.app import create_app
    except ModuleNotFoundError as problem:
        from serendip.core.errors import SerendipError

        raise SerendipError(
            f"The page needs {problem.name}, which is not installed; "
            "run pip install 'serendip[web]'."
        ) from None
    from serendip.web.settings import ServeSettings

    settings = ServeSettings(store=store, host=host, port=port, token=token).guarded()
    app = create_app(settings)
    if settings.token is not None and token is None:
        say(f"Token, shown this once: {settings.token}")
    shown = f"[{host}]" if ":" in host else host
    say(f"Serving {app.state.campaigns.store} at http://{shown}:{port}; Ctrl-C ends it.")
    uvicorn.run(app, host=host, port=port, log_level="warning", access_log=False)
