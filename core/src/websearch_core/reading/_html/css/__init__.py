"""Find out which elements a browser would hide, from inline styles and style sheets, with a bounded reading of CSS."""
