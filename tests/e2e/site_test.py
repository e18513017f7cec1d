"""The site of `make site`: all documents are in it, every link leads to a place in it, and its search works without a server."""
import html.parser
import os
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse

from support import BUILD, ROOT, Case, digests, main
import browser  # in the folder that support names

MARKDOWN = ("- ", "* ", "| ", "```")  # at the beginning of a text: what the generator did not understand
HAS_RESULTS = "document.querySelector('.md-search-result__item') !== null"


class Page(html.parser.HTMLParser):
    """The ids, links, loaded files and texts of a page."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loaded, self.texts = set(), [], [], []
        self.tags = []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.ids |= {attributes.get("id"), attributes.get("name")}
        link = attributes.get("href") or attributes.get("src")
        if link:
            (self.links if tag == "a" else self.loaded).append(urllib.parse.urlsplit(link))
        self.tags.append(tag)

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "p":
            self.texts.append(data.lstrip())


def build(folder):
    subprocess.run(["make", "-s", "site", f"O={folder}"], cwd=ROOT, check=True)
    return os.path.join(folder, "site")


@unittest.skipUnless(shutil.which("mkdocs"), "no mkdocs: apt-get install mkdocs-material")
class Pictures(Case):

    def test_they_are_drawn_again(self):
        """By a command, from a trace that is in the tree, in the size of those that the documents show."""
        if not browser.find():
            self.skipTest("Chromium is not installed: apt-get install chromium")
        subprocess.run([os.path.join(ROOT, "package", "site", "screenshots.py"), BUILD, self.folder], check=True)
        drawn = self.files(".png")
        shown = [name for name in os.listdir(os.path.join(ROOT, "docs", "reference")) if name.endswith(".png")]
        self.assertEqual(drawn, sorted(shown))
        for name in drawn:
            with open(self.path(name), "rb") as new, open(os.path.join(ROOT, "docs", "reference", name), "rb") as old:
                self.assertEqual(new.read(24), old.read(24))  # the signature, and width and height


class Site(Case):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="gpuprof-site-")
        cls.addClassCleanup(shutil.rmtree, folder)
        cls.site = build(folder)

    def target(self, link, page):
        path = urllib.parse.unquote(link.path)
        return os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page

    def test_all_is_there_and_linked(self):
        pages = {name: Page(os.path.join(self.site, name)) for name in digests(self.site) if name.endswith(".html") and name != "404.html"}
        documents = [os.path.relpath(os.path.join(folder, name), ROOT) for folder, _, names in os.walk(os.path.join(ROOT, "docs"))
                     for name in names if name.endswith(".md")]
        built = {os.path.join(os.path.dirname(name), "index.html") if os.path.basename(name) == "README.md" else name[:-2] + "html"
                 for name in [*documents, "README.md", "CHANGELOG.md", "CONTRIBUTING.md"]}
        self.assertEqual(set(pages), built)
        for name, page in pages.items():
            for link in [*page.links, *page.loaded]:
                if link.scheme or link.netloc:
                    self.assertNotIn(link, page.loaded, name)
                    continue
                target = self.target(link, name)
                self.assertTrue(os.path.exists(os.path.join(self.site, target)), f"{name}: {link.geturl()}")
                if link.fragment and target in pages:
                    self.assertIn(urllib.parse.unquote(link.fragment), pages[target].ids, f"{name}: {link.geturl()}")
            self.assertEqual([text for text in page.texts if text.startswith(MARKDOWN)], [], name)

    def test_the_same_again(self):
        self.assertEqual(digests(build(self.folder)), digests(self.site))

    def test_search_from_a_folder(self):
        page = os.path.join(self.site, "docs", "glossary.html")
        window = browser.start(self)
        window.visit(f"file://{page}?q=roofline", ready=HAS_RESULTS)
        found = window.run("[...document.querySelectorAll('.md-search-result__item a')].map(a => a.href)")
        self.assertTrue(any("/docs/howto/roofline.html" in link for link in found), found)
        self.assertEqual(window.problems, [])


if __name__ == "__main__":
    main()
