"""Executes notebooks with nothing but the package, and stores what their cells print and show.

usage: notebooks.py NOTEBOOK.ipynb ...     stores the outputs of these
"""

import ast
import base64
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile


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


def shown(value):
    """What a notebook keeps of the value of a cell, by its type."""
    data = {"text/plain": repr(value)}
    for kind, name in [("text/latex", "_repr_latex_"), ("text/html", "_repr_html_"), ("image/png", "_repr_png_")]:
        of = getattr(value, name, None)
        if of is not None and (found := of()) is not None:
            data[kind] = base64.b64encode(found).decode() if isinstance(found, bytes) else found
    return data


def execute(path):
    """The outputs of each code cell: what it prints, and the value of its last line."""
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    namespace, outputs = {"__name__": "__main__"}, []
    with elsewhere():
        for number, cell in enumerate(cells):
            printed, name = io.StringIO(), f"{path.name}[{number}]"
            tree = ast.parse("".join(cell["source"]), name)
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            with contextlib.redirect_stdout(printed):
                exec(compile(tree, name, "exec"), namespace)
                value = None if last is None else eval(compile(ast.Expression(last.value), name, "eval"), namespace)
            found = []
            if printed.getvalue():
                found.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(keepends=True)})
            if value is not None:
                found.append({"output_type": "execute_result", "execution_count": number + 1, "metadata": {}, "data": shown(value)})
            outputs.append(found)
    return outputs


def store(path):
    """Writes the outputs into a notebook."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, outputs) in enumerate(zip(cells, execute(path), strict=True)):
        cell["outputs"], cell["execution_count"] = outputs, number + 1
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        store(pathlib.Path(name).resolve())
