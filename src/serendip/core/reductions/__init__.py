"""What pools are folded to: `optima`, `contenders`, `lowest`, `frontier`, `two_point`."""
