"""Tables: their files and columns, the best seed, the scoreboard, the page of results."""
