"""From runs to results: the best seed, bounds, the scoreboard, held-out risks, the page."""
