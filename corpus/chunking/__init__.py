"""Documents to passages that follow their structure and fit the encoder."""
