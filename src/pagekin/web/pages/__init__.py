"""The pages: each module makes the view of one kind of page, and its route."""
