"""Compare the figures on the page of `gpuprof html` with those that `gpuprof summary` and `gpuprof
advice` print for the same trace.
"""
import re

FIGURE = r"(?:<|>)?[\d.,]+"
TIME = r"[\d.]+(?:ns|us|ms|s)"

# collects from the page in a browser: cards, bars and findings, and each value of the tables as
# displayed
OF_PAGE = r"""(() => {
const text = (node) => node.textContent.trim(),
    overview = document.getElementById('view-overview'),
    bar = (legend) => [...legend.querySelectorAll('button')].map((one) => [text(one.querySelector('span')), text(one.querySelector('b'))]);
return {
    cards: Object.fromEntries([...overview.querySelectorAll('.card')].map((card) => [text(card.querySelector('h3')), [text(card.querySelector('strong')), ...[...card.querySelectorAll('p')].map(text)]])),
    bars: Object.fromEntries([...overview.querySelectorAll('section')].map((part) => [text(part.querySelector('h2')), [...part.querySelectorAll('.legend')].map(bar)])),
    gpus: [...overview.querySelectorAll('.gpu')].map((gpu) => [text(gpu.querySelector('b')), text(gpu.querySelector('.num b')), text(gpu.querySelector('.num .dim'))]),
    adviceOf: text(overview.querySelector('section:has(.advice) h2 small') || overview),
    findings: [...overview.querySelectorAll('.advice article')].map((one) => [text(one.querySelector('.worth b')), text(one.querySelector('.worth .dim'))]),
    tables: gpuprof.state.tables.map((table) => [table.word, table.rows.map((row) => row.map((value, c) => gpuprof.fmtUnit(value, table.columns[c][1], table.columns[c][3])))]),
}; })()"""


def rows_of_markdown(text):
    """The rows of each table in order, without markdown escapes."""
    tables = []
    for block in text.split("### ")[1:]:
        lines = [line for line in block.splitlines() if line.startswith("|")]
        cells = [re.split(r"(?<!\\) \| ", line[2:].removesuffix(" |")) for line in lines[2:]]
        tables.append([["" if cell.strip() == "-" else re.sub(r"\\(.)", r"\1", cell.strip()) for cell in row] for row in cells])
    return tables


def shares(words):
    """{"set-up": "47.8 %"} of "set-up 47.8 %, 3 others 1.3 %"."""
    found = re.findall(rf"(?:^|, )(.+?) ({FIGURE} %)(?=,|$)", " ".join(words.split()).removeprefix("at most: "))
    return {name.removeprefix("without tuning: "): share for name, share in found if not re.match(r"\d+ others?$", name)}


def of_text(summary, advice):
    """The figures in both texts; None or empty for figures that are not printed."""
    def one(pattern, text=summary):
        found = re.search(pattern, text, re.M)
        return found and found.group(1)

    gpus = re.findall(rf"^  (GPU \d+)\s+(?:(at least )?({FIGURE} % busy)(?:, {FIGURE} % idle)?: ({TIME} of {TIME})|not known)", summary, re.M)
    return {
        "span": one(rf": ({TIME}), first (?:to last recorded CUDA|CUDA call to last)"),
        "gpus": [(number, ("≥ " if least else "") + (part or "not known"), sums) for number, least, part, sums in gpus],
        "kernels": one(r"^GPU activities: .*?([\d,]+) kernels?\b"),
        "copies": one(r"^GPU activities: .*?([\d,]+) cop(?:y|ies)\b"),
        "GPU time": one(rf"^GPU activities: ({TIME}) in all"),
        "call time": one(rf"^API calls: ({TIME}) in all"),
        "shares": [shares(words) for words in re.findall(r"^ +(?:idle|kernels) +((?:.*\n)(?:      .*\n)*)", summary, re.M)],
        "advice span": one(rf"^Advice: .*? of ({TIME})", advice),
        "findings": [(worth, share.strip()) for worth, share in re.findall(rf"^ {{2,8}}(\S+) +({FIGURE} %|memory|)  (?=[a-z])", advice, re.M)],
    }


def differences(page, summary, advice, markdown):
    """[figure, in the text, on the page]. page: the result of OF_PAGE; markdown: the page's tables
    as the summary prints them.
    """
    text, cards, found = of_text(summary, advice), page["cards"], []

    def ask(what, wanted, shown):
        if wanted != shown:
            found.append((what, wanted, shown))

    def ask_where_said(what, wanted, shown):
        if wanted is not None:
            ask(what, wanted, shown)

    ask("span", text["span"], cards["Time"][0])
    ask_where_said("span of advice", text["advice span"], re.search(rf"of ({TIME})|$", page["adviceOf"]).group(1))
    ask_where_said("kernels", text["kernels"], cards["Kernels"][0].removeprefix("≥ "))
    ask_where_said("copies", text["copies"], re.search(r"([\d,]+) cop(?:y|ies)|$", " ".join(cards["Copies"])).group(1))
    ask_where_said("GPU time", text["GPU time"], cards["GPU time"][0].removeprefix("≥ "))
    ask_where_said("time in calls", text["call time"], cards["CUDA calls"][1].removesuffix(" in total"))
    ask("findings", text["findings"], [tuple(finding) for finding in page["findings"]])
    for (number, share, sums), gpu in zip(text["gpus"], page["gpus"]):
        ask("GPU", [number, share, sums or gpu[2]], gpu)
    bars = [{name.removeprefix("idle: "): share for name, share in bar} for bars in page["bars"].values() for bar in bars]
    for wanted in text["shares"]:
        if not any(wanted.items() <= bar.items() for bar in bars) and bars:
            found.append(("shares", wanted, bars))
    for (word, rows), wanted in zip(page["tables"], rows_of_markdown(markdown), strict=True):
        ask(word, wanted[:len(rows)], rows)
    return found
