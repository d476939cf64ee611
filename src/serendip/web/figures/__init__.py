"""Tables as figures of plotly."""
