"""Runs the migrations inside the transaction of whoever opened the store."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    version_table="serendip_schema",
    transactional_ddl=False,  # the transaction is the caller's, on both databases
)
context.run_migrations()
