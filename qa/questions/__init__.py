"""Questions: what they ask for, and which sentence, list, section, line or entry of the passages answers them."""
