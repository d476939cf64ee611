"""Commands that may be repeated: their keys, with the answers that were given."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """From 0001."""
    op.create_table(
        "serendip_requests",
        sa.Column("campaign", sa.Text, sa.ForeignKey("serendip_campaigns.name"), primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("answer", sa.Text, nullable=False),
    )
