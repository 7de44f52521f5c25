"""The built-in algorithms of AI Platform Training, as the emulator provides them."""
