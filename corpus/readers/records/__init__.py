"""Files of many records: tables, JSON, mail."""
