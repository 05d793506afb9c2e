"""Draw SVG pictures: plain functions from data to markup."""
