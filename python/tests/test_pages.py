"""The notebooks, the page about Python and the example run as they are written."""

import contextlib
import io
import json
import pathlib
import runpy
import unittest

from notebooks import elsewhere, execute

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: Those that are kept with what their cells print and show.
WITH_OUTPUTS = ["cavity", "channel", "cylinder", "gradients", "loop"]


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
        """Each runs, and prints what is stored; pictures and formulas are stored where a cell shows them."""
        notebooks = sorted((ROOT / "python/notebooks").glob("*.ipynb"))
        self.assertEqual([path.stem for path in notebooks], sorted(["flow", "method", *WITH_OUTPUTS]))
        for path in notebooks:
            with self.subTest(path.name):
                cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
                stored, found = [cell["outputs"] for cell in cells], execute(path)
                if path.stem not in WITH_OUTPUTS:
                    self.assertFalse(any(stored), "it is kept without results")
                    continue
                for old, new in zip(stored, found, strict=True):
                    self.assertEqual(self.kinds(old), self.kinds(new))
                    self.assertEqual(self.printed(old), self.printed(new))

    @staticmethod
    def kinds(outputs):
        return [sorted(one.get("data", {"text": None})) for one in outputs]

    @staticmethod
    def printed(outputs):
        return "".join("".join(one["text"]) for one in outputs if one["output_type"] == "stream")

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

    def test_the_example_recovers_a_viscosity_and_an_inlet(self):
        """Within 1 %, which the example asserts."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(ROOT / "examples/inverse/recover.py"), run_name="__main__")
        self.assertIn("velocity of the inlet", printed.getvalue())


if __name__ == "__main__":
    unittest.main()
