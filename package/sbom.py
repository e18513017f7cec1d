#!/usr/bin/env python3
"""Print the software bill of materials of a package: SPDX 2.3 in JSON.

    package/sbom.py NAME VERSION DOCUMENTS <LINKED       `make packages` calls it

LINKED has a line "PACKAGE VERSION" for each Debian package with an archive that is linked into the
program.  Its license is the text that Debian ships with it, in the folder DOCUMENTS (/usr/share/doc);
the short names in that text follow.
"""
import datetime
import json
import os
import re
import sys
import urllib.parse
from pathlib import Path

LICENSE = re.compile(r"^License: *(\S.*)$", re.MULTILINE)


def license_text(package):
    return Path(sys.argv[3], package, "copyright").read_text(encoding="utf-8", errors="replace")


def entry(name, version, **more):
    return {"SPDXID": f"SPDXRef-{name}", "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "copyrightText": "NOASSERTION", "licenseConcluded": "NOASSERTION", **more}


def linked_entry(package, version):
    names = ", ".join(sorted(set(LICENSE.findall(license_text(package)))))
    locator = f"pkg:deb/debian/{package}@{urllib.parse.quote(version, safe='~')}"
    return entry(package, version, licenseDeclared=f"LicenseRef-{package}",
                 **({"licenseComments": f"Licenses that the text names, for one file or another: {names}"} if names else {}),
                 externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}])


def relationship(one, kind, other):
    return {"spdxElementId": f"SPDXRef-{one}", "relationshipType": kind, "relatedSpdxElement": f"SPDXRef-{other}"}


def main():
    name, version, _ = sys.argv[1:]
    linked = [line.split() for line in sys.stdin]
    date = int(os.environ["SOURCE_DATE_EPOCH"])
    created = datetime.datetime.fromtimestamp(date, datetime.timezone.utc)
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{date}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: gpuprof-packages"]},
        "packages": [entry("gpuprof", version, licenseDeclared="NOASSERTION"), *(linked_entry(*one) for one in linked)],
        "hasExtractedLicensingInfos": [{"licenseId": f"LicenseRef-{package}", "extractedText": license_text(package)} for package, _ in linked],
        "relationships": [relationship("DOCUMENT", "DESCRIBES", "gpuprof"),
                          *(relationship("gpuprof", "STATIC_LINK", package) for package, _ in linked)],
    }
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
