"""What goes out: `write_table`, `proposal_table`, `html_report`, `in_words`."""
