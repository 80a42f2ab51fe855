"""HTML -> Page, in this order: `harden` bounds what parsing can cost, `parse`, `blocks`
finds the text that a reader can see, `features`, `model` and `select` choose the
content, `tree` builds the kept part, which `..markdown` writes. Beside them, `metadata`
reads what the page says about itself, and `structured_data` what it says only in data.
"""
