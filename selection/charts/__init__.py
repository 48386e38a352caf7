"""Charts as coordinates for inline SVG: without a script, a style or a library."""
