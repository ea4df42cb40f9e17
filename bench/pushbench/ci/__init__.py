"""What the workflows call: Pushbench's part in continuous integration on GitHub."""
