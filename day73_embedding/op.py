# SPDX-License-Identifier: MIT
"""Rows of a table by number for PyTorch, and the gradient of the table; a number that is no row gives NaN."""
from gpudays.op import Op

embedding_backward = Op("dy[count*, width], tokens[count*]:int32, vocab, padding:float=-1 -> dw[vocab, width]", "embedding_backward",
                        ("pieces", "sorted"), sums=True)
embedding = Op("w[vocab, width], tokens[count*]:int32 -> y[count*, width]", "embedding", ("gather_rows", "gather"),
               backward=lambda dy, w, tokens: (embedding_backward(dy, tokens, w.shape[0]), None))
