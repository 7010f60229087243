"""Models run by OpenVINO: graphs built without torch, and copies compiled for this machine."""
