"""Byte-pair-like tokenizer in plain Python, with a vocabulary of word pieces."""
import re
import unicodedata

WORD = re.compile(r"[a-z]+|\d|[^\sa-z\d]")


class Tokenizer:
    def __init__(self, pieces, longest=128):
        self.ids = {piece: number + 3 for number, piece in enumerate(pieces)}
        self.longest = longest
        self.limit = max(map(len, pieces))

    def normalize(self, text):
        text = unicodedata.normalize("NFKD", text.lower())
        return "".join(c for c in text if not unicodedata.combining(c))

    def pieces(self, word):
        at, found = 0, []
        while at < len(word):
            for end in range(min(len(word), at + self.limit), at, -1):
                number = self.ids.get(word[at:end])
                if number is not None:
                    found.append(number)
                    at = end
                    break
            else:
                found.append(1)
                at += 1
        return found

    def encode(self, text):
        ids = [2]
        for word in WORD.findall(self.normalize(text)):
            ids += self.pieces(word)
            if len(ids) >= self.longest:
                break
        return ids[:self.longest]
