"""What makes notebooks that read like the page."""
