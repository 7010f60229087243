"""Files with many records: tables, JSON, mail."""
