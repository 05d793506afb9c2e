"""Pictures as SVG: plain functions from data to markup, which styles and links come with."""
