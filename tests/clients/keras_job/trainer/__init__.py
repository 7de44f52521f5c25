"""A trainer as it is written for the service: it uses gs:// and does not know the emulator."""
