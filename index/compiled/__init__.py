"""Models as OpenVINO runs them: graphs written without torch, and copies compiled for this machine."""
