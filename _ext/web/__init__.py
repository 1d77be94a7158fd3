"""What ships the pages: the theme's faults mended, one style sheet, one script, less weight."""
