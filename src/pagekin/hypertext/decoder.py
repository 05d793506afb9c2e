"""The decoder of word streams for kernels of other rooms; importing it imports the compiler."""

from pagekin.hypertext._kernels.streams import decode_starts, decode_stream, decode_words, runs_under

__all__ = ["decode_starts", "decode_stream", "decode_words", "runs_under"]
