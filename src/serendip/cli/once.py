"""What stands on the command line twice: an option that takes one value is given once."""

from collections import Counter
from typing import Any

import typer
from typer.core import TyperCommand

from serendip.core.errors import InvalidInput


class Once(TyperCommand):
    """A command that refuses a second value for an option, rather than forget the first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Takes the line apart, once it is known that nothing in it is lost."""
        *_, options = self.make_parser(ctx).parse_args(args=list(args))  # in the order they came
        for option, count in Counter(options).items():
            if count > 1 and option.param_type_name == "option" and not option.multiple:
                raise InvalidInput(
                    f"{max(option.opts, key=len)} is given {count} times, and only one can count; "
                    "give it once."
                )
        return super().parse_args(ctx, args)


def each_once(app: typer.Typer) -> None:
    """Makes every command of an application, and of those within it, a `Once`."""
    for command in app.registered_commands:
        command.cls = Once
    for group in app.registered_groups:
        if group.typer_instance is not None:
            each_once(group.typer_instance)
