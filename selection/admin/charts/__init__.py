"""Charts as coordinates for inline SVG."""
