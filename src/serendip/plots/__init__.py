"""Tables in, figures out; nothing is computed here."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from serendip.plots.campaign import fit_figure as fit_figure
    from serendip.plots.campaign import inline_svg as inline_svg
    from serendip.plots.campaign import progress_figure as progress_figure
    from serendip.plots.experiment import backtest_figure as backtest_figure
    from serendip.plots.experiment import experiment_figure as experiment_figure
    from serendip.plots.reproduction import horizon_figure as horizon_figure
    from serendip.plots.reproduction import response_figure as response_figure
    from serendip.plots.reproduction import simulations_figure as simulations_figure
else:
    from serendip.core.lazy import public_names

    __getattr__, __dir__ = public_names(__name__)
