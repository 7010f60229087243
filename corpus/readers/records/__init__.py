"""Files of records: tables, JSON, mail."""
