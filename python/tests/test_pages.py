"""The notebooks, the page about Python and the example run as they are written."""

import contextlib
import io
import json
import os
import pathlib
import runpy
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def elsewhere():
    """A folder of its own to run in."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield pathlib.Path(folder)
        finally:
            os.chdir(before)


def run(name, texts):
    """Runs texts one after the other, in one namespace; what they print."""
    printed, namespace = io.StringIO(), {"__name__": "__main__"}
    with elsewhere() as folder, contextlib.redirect_stdout(printed):
        for number, text in enumerate(texts):
            exec(compile(text, f"{name}[{number}]", "exec"), namespace)
        files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return printed.getvalue(), files


class Pages(unittest.TestCase):
    def test_the_notebooks(self):
        notebooks = sorted((ROOT / "python/notebooks").glob("*.ipynb"))
        self.assertEqual([path.stem for path in notebooks], ["flow", "method"])
        for path in notebooks:
            with self.subTest(path.name):
                cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
                self.assertTrue(all(not cell["outputs"] for cell in cells), "notebooks are kept without results")
                run(path.name, ["".join(cell["source"]) for cell in cells])

    def test_the_page(self):
        blocks = (ROOT / "docs/python.md").read_text().split("```python\n")[1:]
        printed, files = run("python.md", [block.split("\n```")[0] for block in blocks])
        self.assertIn("1/3*(1/omega - 1/2)", printed)
        self.assertIn("C0102", printed)
        for file in ["stability.png", "vorticity.png", "kernels/d2q9_trt.cu", "out/cavity/summary.json"]:
            self.assertIn(file, files)

    def test_the_example_finds_the_critical_rayleigh_number(self):
        """Within 2 % of linear theory, which the example asserts."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(ROOT / "examples/python_coupling/convection.py"), run_name="__main__")
        self.assertIn("critical Rayleigh number", printed.getvalue())


if __name__ == "__main__":
    unittest.main()
