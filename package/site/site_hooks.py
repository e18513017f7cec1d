"""What mkdocs does not do by itself for the site: its navigation, nested lists, and the search of files on a disk."""
import json
import re
from pathlib import Path

from markdown.extensions import Extension

PAGE = re.compile(r"\]\(([\w/.-]+\.md)\)")


class Indent(Extension):
    """Text that belongs to a list is indented by two columns, as on GitHub."""

    def extendMarkdown(self, md):
        md.tab_length = 2


def pages(text):
    return [f"docs/{page}" for page in PAGE.findall(text)]


def section(text):
    """The pages of one section of docs/README.md: of a table in columns, by column."""
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    columns = [(column[0].strip().capitalize(), pages("|".join(column[2:]))) for column in zip(*rows)]
    columns = [{title: found} for title, found in columns if found]
    return columns if len(columns) > 1 else pages(text)


def on_config(config):
    text = Path(config["docs_dir"], "docs", "README.md").read_text(encoding="utf-8")
    _, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    config["nav"] = [
        {"gpuprof": ["README.md", "docs/README.md", "docs/from-other-profilers.md", "CHANGELOG.md", "CONTRIBUTING.md"]},
        {"Tutorial": ["docs/tutorial.md", "docs/tutorial-python.md"]},
        *({one.split("\n", 1)[0]: section(one)} for one in sections),
        {"Glossary": "docs/glossary.md"},
    ]
    config["markdown_extensions"].append(Indent())
    return config


def on_nav(nav, config, files):
    left_out = {file.src_uri for file in files.documentation_pages()} - {page.file.src_uri for page in nav.pages}
    if left_out:
        raise SystemExit(f"docs/README.md does not name {', '.join(sorted(left_out))}")


def on_post_build(config):
    """A browser loads no worker and no JSON from file://, but scripts: one hands both to the theme."""
    site = Path(config["site_dir"])
    (worker,) = site.glob("assets/javascripts/workers/search.*.js")
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    script = f"var __search = {{index: Promise.resolve({json.dumps(index)}), " \
             f"worker: URL.createObjectURL(new Blob([{json.dumps(worker.read_text(encoding='utf-8'))}]))}};\n"
    (site / "search" / "search.js").write_text(script, encoding="utf-8")
