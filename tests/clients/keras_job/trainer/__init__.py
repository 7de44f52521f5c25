"""A trainer as it would be written for the service: it knows gs:// and nothing of an emulator."""
