import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, vocabulary=512, width=768, heads=12, layers=8, longest=128):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, width, padding_idx=0), nn.Embedding(longest, width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.1, activation="gelu", batch_first=True,
                                           norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, 2)

    def forward(self, ids):
        x = self.words(ids) + self.places.weight[:ids.shape[1]]
        x = self.encoder(x)
        weight = (ids > 0).unsqueeze(-1)
        return self.head((x * weight).sum(1) / weight.sum(1))
