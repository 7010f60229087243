"""A folder and its index as users meet them: found, built, kept current, shown, checked."""
