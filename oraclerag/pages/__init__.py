"""Pages to be looked at in a browser: one file each, without a script and without anything from elsewhere.

``frame`` is what all of them share: the look, the escaping and the content security policy. ``evaluation`` shows an
evaluation, a comparison or the match rate, with pictures of ``plots``, which ``svg`` draws.
"""
