"""
HTML -> Page. In this order: `tame` (what could hurt a parser), `parse`, `outline` (what a reader can see), `traits` and
`forest` and `choose` (what the page is about), `tree` (that part of it), which `..markdown` writes. Beside them,
`metadata` is what the page says of itself, and `told` what it says in data alone.
"""
