"""What sets a page: mathematics, figures, previews, anchors, the reference."""
