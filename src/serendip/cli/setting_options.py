"""Options of commands, made of what `core/settings.py` has of each setting."""

import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from serendip.core.settings import Kind, Setting, Where, described, offered

Command = TypeVar("Command", bound=Callable[..., None])

_TYPES: Mapping[Kind, Any] = {
    Kind.text: str,
    Kind.whole: int,
    Kind.number: float,
    Kind.flag: bool,
    Kind.file: Path,
    Kind.pair: tuple[float, float],
    Kind.several: list[str],
}


def setting_options(owner: type, *, file: bool = False) -> Callable[[Command], Command]:
    """Gives a command an option for each setting of a class, in place of its `**given`.

    What is not given is None, so that a default of the class, or a settings file, holds.

    Args:
        owner: The class, whose fields `core.settings.About` describes.
        file: Whether a settings file may say what is required.
    """

    def decorated(command: Command) -> Command:
        signature = inspect.signature(command)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        made = [_parameter(one, one.required and not file) for one in offered(owner, Where.command)]
        arguments = [one for one in own if not _is_option(one)]
        options = [one for one in own if _is_option(one)]
        parameters = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for one in (*arguments, *made, *options)
        ]
        command.__dict__["__signature__"] = signature.replace(parameters=parameters)
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return decorated


def said(given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that were given on the command line."""
    return {name: value for name, value in given.items() if value not in (None, [])}


def named(owner: type, given: Mapping[str, Any]) -> list[str]:
    """The names of models and policies that were given on the command line.

    Args:
        owner: The class of the settings.
        given: All of them, those that were not given as None.
    """
    from serendip.core.naming import listed

    values = [given[one.name] for one in described(owner) if one.about.among is not None]
    return [name for value in values for name in listed(value or ())]


def help_of(setting: Setting) -> str:
    """What `--help` says of a setting."""
    about = setting.about
    told = about.help
    # Names are looked up only where the help of a command is asked for: no other line waits.
    if about.among is not None and "--help" in sys.argv[2:]:
        told = f"{setting.help(installed=True)[:-1]}; or yours, as MODULE:NAME."
    if about.commas and isinstance(about.example, list):
        told = f"{told[:-1]}: {','.join(about.example)}."
    elif setting.kind is Kind.several:
        told = f"{told[:-1]}; repeat for more."
    return setting.told(told)


def _parameter(setting: Setting, required: bool) -> inspect.Parameter:
    kind: Any = _TYPES.get(setting.kind)
    if setting.kind is Kind.choice:
        kind = Literal[setting.choices]
    elif setting.about.commas:
        kind = str
    return inspect.Parameter(
        setting.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else None,
        annotation=Annotated[
            kind if required else kind | None,
            typer.Option(setting.option, help=help_of(setting)),
        ],
    )


def _is_option(parameter: inspect.Parameter) -> bool:
    told = getattr(parameter.annotation, "__metadata__", (None,))[0]
    return not isinstance(told, typer.models.ArgumentInfo)
