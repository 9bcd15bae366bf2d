"""Tests of the package `lbmc`, which is installed: `python3 -m unittest discover python/tests`."""

import ast
import csv
import gc
import importlib.util
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import numpy as np

import lbmc
from lbmc import _lbmc

METHOD = """// A method of one relaxation time.
use lattices::D2Q9;
use equilibria::quadratic;
lattice D2Q9;
param omega in (0, 2);
let rho  = sum(i: f[i]);
let j[a] = sum(i: c[i, a] * f[i]);
let u[a] = j[a] / rho;
field rho;
field u;
init f[i] <- quadratic[i](rho, u);
collide { f[i] <- f[i] + omega * (quadratic[i](rho, u) - f[i]); }
"""

PERIODIC = {
    "spec": "d2q9_bgk",
    "target": "cpu",
    "precision": "f64",
    "domain": {"size": [32, 48]},
    "fluid": {"viscosity": 0.05, "velocity": 0.02},
    "faces": {"others": "periodic"},
    "stop": {"steps": 200},
}


def setUpModule():
    # Shells let programs in the background ignore Ctrl-C, and so do programs that these start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # A flow at rest is one to set the fields of.
    warnings.simplefilter("ignore", lbmc.Advice)


def case(**changes):
    """A periodic flow with some tables changed."""
    return lbmc.Case({**PERIODIC, **changes})


class Methods(unittest.TestCase):
    def test_equations_are_latex(self):
        found = lbmc.check(METHOD)
        self.assertTrue(found.latex().startswith("\\begin{align*}"))
        self.assertIn("\\omega", found.latex("collide")._repr_latex_())
        self.assertIn("mathrm{quadratic}_{i}", found.latex("functions"))
        self.assertTrue(found.latex("document").rstrip().endswith("\\end{document}"))
        with self.assertRaises(lbmc.Error) as raised:
            found.latex("walls")
        self.assertEqual(raised.exception.code, "L0708")

    def test_parameters_that_are_left_out_have_their_defaults(self):
        left = case(spec="d2q9_trt")
        self.assertEqual((left.parameters["magic"], left.defaults), ([3 / 16], ("magic",)))
        given = case(spec="d2q9_trt", params={"magic": 0.25})
        self.assertEqual((given.parameters["magic"], given.defaults), ([0.25], ()))

    def test_findings_are_objects(self):
        found = lbmc.check("d2q9_trt", params={"magic": 0.25})
        self.assertEqual((found.name, found.conserved), ("d2q9_trt", ("mass", "momentum")))
        self.assertEqual((found.lattice.name, found.lattice.q, found.lattice.isotropy), ("D2Q9", 9, 5))
        self.assertAlmostEqual(found.lattice.cs2, 1 / 3, places=15)
        self.assertEqual((found.viscosity.formula, found.viscosity.rate), ("1/3*(1/omega - 1/2)", "omega"))
        self.assertEqual((found.moments.count, found.moments.populations), (9, 9))
        self.assertEqual(found.chosen, ())
        wall = next(wall for wall in found.walls if wall.rule == "bounce_back")
        self.assertAlmostEqual(wall.distance[0], 0.5, places=6)
        self.assertEqual(lbmc.check("d2q9_recursive").moments.count, 6)

    def test_a_text_is_a_method(self):
        found = lbmc.check(METHOD)
        self.assertEqual(found.summary, "A method of one relaxation time.")
        self.assertEqual(found.viscosity, lbmc.check("d2q9_bgk").viscosity)

    def test_stability_has_a_limit_for_each_rate_and_a_picture(self):
        found = lbmc.check(METHOD, stability=True, velocity=[0.1, 0]).stability
        self.assertEqual(found.direction, (1.0, 0.0))
        self.assertEqual(len(found.limits), len(found.at_velocity))
        rates = [limit.rate for limit in found.limits]
        self.assertEqual(rates, sorted(rates))
        self.assertGreater(found.limits[0].stable_to, 0.2)
        self.assertTrue(all(at.stable for at in found.at_velocity[:4]))
        self.assertTrue(found._repr_png_().startswith(b"\x89PNG"))

    def test_kernels_are_those_of_the_command(self):
        kernels = lbmc.compile("d2q9_bgk", target="all", layout="soa", precision="f64")
        text = (pathlib.Path(__file__).parents[2] / "examples/kernels/d2q9_bgk.c").read_text()
        self.assertEqual(kernels.files["d2q9_bgk.c"], text)
        self.assertIn("d2q9_bgk.cu", kernels.files)
        collide = next(kernel for kernel in kernels.kernels if kernel.name == "stream_collide")
        self.assertLess(sum(collide.simplified.values()), sum(collide.naive.values()))
        with tempfile.TemporaryDirectory() as folder:
            paths = kernels.write(pathlib.Path(folder) / "new")
            self.assertEqual(len(paths), len(kernels.files))
            self.assertTrue(all(path.read_text() == kernels.files[path.name] for path in paths))

    def test_errors_have_code_place_and_help(self):
        with self.assertRaises(lbmc.Error) as raised:
            lbmc.check(METHOD.replace("u[a] = j[a] / rho", "u[a] = j[a] / rhoo"))
        error = raised.exception
        self.assertRegex(error.code, r"^E\d{4}$")
        self.assertEqual((error.span.line, error.span.column, error.span.length), (8, 19, 4))
        self.assertIn("rho", error.help)
        self.assertIn("let u[a] = j[a] / rhoo", str(error))
        with self.assertRaises(lbmc.Error) as raised:
            lbmc.check("d2q9_bkg")
        self.assertIn("d2q9_bgk", raised.exception.help)
        with self.assertRaises(lbmc.Error):
            lbmc.compile("d2q9_bgk", target="gpu")

    def test_shipped_ones_are_listed(self):
        self.assertIn("d3q27_cumulant", lbmc.specs())
        self.assertIn("cavity2d", lbmc.cases())
        self.assertIn("spec", lbmc.schema()["properties"])


class Cases(unittest.TestCase):
    def test_a_dictionary_a_file_and_a_name_are_cases(self):
        given = case(domain={"size": np.array([32, 48])})
        self.assertEqual((given.size, given.spec, given.steps), ((32, 48), "d2q9_bgk", 200))
        self.assertAlmostEqual(given.scales["viscosity"], 0.05, places=15)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "mine.toml"
            file.write_text(given.text)
            self.assertEqual(lbmc.Case(file).name, "mine")
        shipped = lbmc.Case("cavity2d", {"domain.size": [32, 32], "re": 100, "target": "cpu", "precision": "f64"})
        self.assertEqual((shipped.size, shipped.precision), ((32, 32), "f64"))
        self.assertAlmostEqual(shipped.scales["re"], 100)

    def test_all_that_is_wrong_is_told_at_once(self):
        with self.assertRaises(lbmc.Error) as raised:
            case(fluid={"viscosty": 0.05}, stop={"step": 3})
        error = raised.exception
        self.assertEqual(error.code, "C0102")
        self.assertGreaterEqual(sum(one.code == "C0102" for one in error.diagnostics), 2)
        self.assertIn("viscosity", error.help)
        label = error.diagnostics[0].labels[0]
        self.assertGreater(label.line, 0)

    def test_advice_is_a_warning(self):
        with self.assertWarns(lbmc.Advice):
            case(fluid={"viscosity": 0.05, "velocity": 0.2})

    def test_a_run_leaves_what_the_command_leaves(self):
        told = []
        with tempfile.TemporaryDirectory() as folder:
            summary = lbmc.Case("channel", {"target": "cpu", "steps": 3000}).run(
                pathlib.Path(folder) / "out", callback=told.append, progress=False
            )
            written = json.loads((pathlib.Path(folder) / "out/summary.json").read_text())
        self.assertEqual(summary, written)
        self.assertTrue(told and told[-1]["step"] <= summary["steps"])

    def test_a_case_names_no_folder_elsewhere(self):
        """What a file says is a stranger's; what a caller changes in it, or gives as a folder, is the caller's."""
        given = lbmc.Case("channel", {"target": "cpu", "steps": 10})
        with tempfile.TemporaryDirectory() as folder:
            elsewhere = pathlib.Path(folder) / "elsewhere"
            file = pathlib.Path(folder) / "channel.toml"
            file.write_text(given.text.replace('directory = "out/channel"', f'directory = "{elsewhere}"'))
            self.assertIn(str(elsewhere), file.read_text())
            with self.assertRaises(lbmc.Error) as raised:
                lbmc.Case(file, {"target": "cpu", "steps": 10}).run(progress=False)
            self.assertRegex(raised.exception.code, r"^C\d{4}$")
            self.assertFalse(elsewhere.exists())
            lbmc.Case(file, {"target": "cpu", "steps": 10, "output.directory": str(elsewhere)}).run(progress=False)
            self.assertTrue((elsewhere / "summary.json").exists())

    def test_a_callback_that_returns_true_ends_a_run_with_its_results(self):
        seen = []

        def look(status):
            seen.append(status["step"])
            return True

        with tempfile.TemporaryDirectory() as folder:
            summary = lbmc.Case("cavity2d", {"target": "cpu", "stop.steps": 10_000_000}).run(
                pathlib.Path(folder) / "out", callback=look, progress=False
            )
            self.assertTrue((pathlib.Path(folder) / "out/restart.lbmc").exists())
        self.assertEqual(len(seen), 1)
        self.assertLess(summary["steps"], 10_000_000)
        self.assertEqual(summary["stop"], "interrupted")

    def test_an_exception_in_a_callback_ends_a_run(self):
        def stop(status):
            raise RuntimeError("enough")

        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(RuntimeError, "enough"):
                lbmc.Case("cavity2d", {"target": "cpu"}).run(pathlib.Path(folder) / "out", callback=stop, progress=False)
            self.assertTrue((pathlib.Path(folder) / "out/restart.lbmc").exists() or list(pathlib.Path(folder).glob("out/restart*")))


class Flows(unittest.TestCase):
    def test_a_shear_wave_decays_with_the_viscosity(self):
        """u = U sin(k y) e^(-nu k^2 t) is an exact solution: the error of the rate is of second order in the width of cells."""
        errors = []
        for ny in (24, 48):
            flow = case(domain={"size": [16, ny]}).start()
            k = 2 * math.pi / ny
            wave = np.sin(k * (np.arange(ny) + 0.5))[:, None]
            flow.set_fields(u=np.stack(np.broadcast_arrays(0.02 * wave, 0 * np.ones(flow.shape))))
            steps = ny * ny // 4
            flow.step(steps)
            u = flow.field("velocity")
            self.assertEqual(u.shape, (2, ny, 16))
            amplitude = 2 * np.mean(u[0] * wave)
            errors.append(abs(-math.log(amplitude / 0.02) / steps / (0.05 * k**2) - 1))
            self.assertLess(np.abs(u[0] - amplitude * wave).max(), 1e-6)
            self.assertAlmostEqual(flow.mass / np.prod(flow.shape), 1, places=12)
        self.assertLess(errors[1], 2e-3)
        self.assertLess(abs(math.log2(errors[0] / errors[1]) - 2), 0.1)

    def test_steps_of_populations_that_were_set_are_the_same_bits(self):
        one, other = case().start(), case().start()
        y, x = np.mgrid[: one.shape[0], : one.shape[1]]
        one.set_fields(rho=1 + 0.01 * np.sin(x / 3), u=[0.01, -0.02])
        one.step(7)
        one.populations = other.populations = one.populations
        self.assertTrue(np.array_equal(one.populations, other.populations))
        one.step(5)
        other.step(5)
        self.assertTrue(np.array_equal(one.field("velocity"), other.field("velocity")))

    def test_memory_is_read_without_a_copy(self):
        for precision in ["f32", "f64"]:
            flow = case(precision=precision).start()
            y, x = np.mgrid[: flow.shape[0], : flow.shape[1]]
            flow.set_fields(rho=1 + 0.01 * np.sin(x / 3) * np.cos(y / 5))
            flow.step(3)
            array = flow.memory("populations")
            self.assertEqual((array.dtype, array.gpu), (f"float{precision[1:]}", None))
            self.assertEqual(array.__dlpack_device__(), (1, 0))
            stored, exchanged = np.asarray(array), np.from_dlpack(array)
            self.assertEqual(stored.ctypes.data, exchanged.ctypes.data)
            self.assertEqual(stored.ctypes.data, np.asarray(flow.memory("populations")).ctypes.data)
            self.assertEqual(stored.dtype, array.dtype)
            self.assertFalse(stored.flags.writeable or exchanged.flags.writeable)
            whole = np.empty_like(flow.populations)
            _, q, _, by, bx = stored.shape
            for slot, level, i, j, _ in flow.blocks:
                rows, columns = slice(j * by, (j + 1) * by), slice(i * bx, (i + 1) * bx)
                whole[:, rows, columns] = exchanged[slot, :, 0] + flow.rest[:, None, None]
            self.assertEqual(q, 9)
            self.assertTrue(np.array_equal(whole, flow.populations))
            # The first component of the fields is the density.
            fields = np.from_dlpack(flow.memory("fields"))
            slot, _, i, j, _ = flow.blocks[1]
            density = flow.field("density")[j * by : (j + 1) * by, i * bx : (i + 1) * bx]
            self.assertTrue(np.array_equal(fields[slot, 0, 0], density))

    def test_memory_outlives_what_it_is_of(self):
        flow = case().start()
        flow.step(2)
        stored = np.from_dlpack(flow.memory("populations"))
        before = stored.copy()
        untaken = flow.memory("fields").__dlpack__()
        del flow, untaken
        gc.collect()
        self.assertTrue(np.array_equal(stored, before))

    def test_dlpack_makes_no_copies(self):
        array = case().start().memory("fields")
        with self.assertRaises(BufferError):
            array.__dlpack__(copy=True)
        with self.assertRaises(BufferError):
            array.__dlpack__(dl_device=(2, 0))
        self.assertFalse(hasattr(array, "__cuda_array_interface__"))

    def test_refined_grids_have_fields_and_blocks(self):
        flow = case(refinement={"finest": 1, "boxes": [{"level": 1, "from": [8, 8], "to": [24, 40]}]}).start()
        flow.step(2)
        self.assertEqual(flow.levels, 2)
        self.assertEqual(flow.field("density").shape, (48, 32))
        self.assertEqual(flow.field("velocity", level=1).shape, (2, 96, 64))
        self.assertEqual(set(flow.blocks[:, 1]), {0, 1})
        self.assertAlmostEqual(flow.mass, 48 * 32, places=8)

    def test_arrays_of_all_cells_of_a_refined_grid_have_its_blocks(self):
        """Also where blocks reach beyond the domain."""
        flow = case(
            domain={"size": [44, 30]},
            block=[8, 8],
            faces={"left": "bounce_back", "right": "bounce_back", "others": "bounce_back"},
            refinement={"finest": 1, "boxes": [{"level": 1, "from": [8, 8], "to": [24, 16]}]},
            solids=[{"shape": "cylinder", "centre": [16, 12], "radius": 3, "rule": "bounce_back"}],
        ).start()
        blocks, centres = flow.blocks, flow.centres
        self.assertEqual(flow.populations.shape, (9, len(blocks), 8, 8))
        for (_, level, i, j, _), (x, y) in zip(blocks, centres.swapaxes(0, 1)):
            np.testing.assert_array_equal(x[3], (8 * i + np.arange(8) + 0.5) / 2**level)
            np.testing.assert_array_equal(y[:, 3], (8 * j + np.arange(8) + 0.5) / 2**level)
        fluid = ~flow.solid & (centres[0] < 44) & (centres[1] < 30)
        np.testing.assert_array_equal(flow.volumes, np.where(fluid, 0.25 ** blocks[:, 1, None, None], 0))
        self.assertAlmostEqual(flow.volumes.sum(), 44 * 30 - np.pi * 3**2, delta=1)
        shear = 0.02 * np.sin(np.pi * centres[1] / 15)
        flow.set_fields(u=np.stack([shear, 0 * shear]))
        np.testing.assert_allclose(np.where(flow.volumes > 0, flow.own_fields["u"][0] - shear, 0), 0, atol=1e-15)
        flow.step(3)
        before, velocity = flow.populations, flow.field("velocity", level=1)
        flow.step(3)
        flow.populations = before
        np.testing.assert_allclose(flow.field("velocity", level=1), velocity, atol=1e-15)

    def test_blocks_beyond_the_domain_are_not_in_arrays(self):
        flow = case(domain={"size": [44, 30]}, block=[8, 8], faces={"others": "bounce_back"}).start()
        flow.set_fields(rho=np.linspace(0.9, 1.1, 44 * 30).reshape(30, 44))
        np.testing.assert_allclose(flow.populations.sum(axis=0), flow.own_fields["rho"], atol=1e-14)
        flow.populations = flow.populations
        self.assertEqual((flow.volumes.sum(), flow.solid.any()), (44 * 30, False))

    def test_levels_that_the_grid_does_not_have_are_refused(self):
        flow = case().start()
        refined = case(refinement={"finest": 1, "boxes": [{"level": 1, "from": [8, 8], "to": [24, 40]}]}).start()
        for of, level, known in [(flow, 1, "level 0"), (flow, 6, "level 0"), (flow, 30, "level 0"), (refined, 2, "0 to 1")]:
            with self.assertRaises(lbmc.Error) as raised:
                of.field("velocity", level)
            self.assertIn(known, raised.exception.help)

    def test_arrays_that_do_not_fit_are_refused_with_the_shape_that_they_should_have(self):
        flow = case().start()
        for values in [np.zeros(flow.shape), np.zeros(flow.shape[1]), 0.1, np.zeros((2, 1)), np.zeros((3, *flow.shape))]:
            with self.assertRaises(lbmc.Error) as raised:
                flow.set_fields(u=values)
            self.assertIn("[2, 48, 32]", raised.exception.help)
        for values in [np.ones(flow.shape[0]), np.ones(flow.shape[1]), np.ones((2, *flow.shape))]:
            with self.assertRaises(lbmc.Error) as raised:
                flow.set_fields(rho=values)
            self.assertIn("[48, 32]", raised.exception.help)
        flow.set_fields(rho=1.01, u=np.linspace(0, 0.01, 2 * 48).reshape(2, 48, 1))
        self.assertAlmostEqual(flow.field("velocity")[1, 47, 5], 0.01, places=12)
        self.assertAlmostEqual(flow.mass / np.prod(flow.shape), 1.01, places=12)

    def test_an_array_is_no_start_of_a_case_and_messages_are_short(self):
        field = np.zeros((2, 200, 300))
        for velocity in [field, [field[0], field[1]]]:
            with self.assertRaises(ValueError) as raised:
                case(start={"velocity": velocity})
            self.assertIn("set_fields", str(raised.exception))
        with self.assertRaises(lbmc.Error) as raised:
            case(start={"velocity": field.tolist()})
        self.assertLess(len(str(raised.exception)), 10_000)
        case(start={"velocity": np.array([0.01, 0])})

    def test_parameters_and_places_act(self):
        """A uniform force of a place g accelerates the fluid by g in a step: momentum to round-off."""
        flow = case(spec="d2q9_guo", fluid={"velocity": 0.02}, params={"omega": 1.2, "force": ["0 * y", 0]}).start()
        self.assertEqual(flow.places, ["force_place_0"])
        flow.set_places(force_place_0=2e-6)
        before = flow.momentum
        flow.step(10)
        pushed = (flow.momentum - before) / np.prod(flow.shape)
        self.assertAlmostEqual(pushed[0] / 2e-5, 1, places=9)
        flow.set_places(force_place_0=0)
        before = flow.momentum
        flow.step(10)
        # All cells are the same, and so are their errors of rounding.
        self.assertLess(np.abs(flow.momentum - before).max() / np.prod(flow.shape) / 2e-5, 1e-8)
        with self.assertRaises(ValueError):
            flow.set_places(other=1)
        thick = case().start()
        thick.set_fields(u=[0.01, 0])
        with self.assertRaises(lbmc.Error):
            thick.set_parameter("omega", 2.5)
        with self.assertRaises(lbmc.Error):
            thick.set_fields(rho=np.full(thick.shape, np.nan))

    def test_a_callback_sees_every_so_many_steps_and_may_end_the_run(self):
        flow, seen = case().start(), []

        def look(at):
            seen.append(at.steps)
            return at.steps >= 30

        flow.run(100, look, every=10, progress=False)
        self.assertEqual(seen, [10, 20, 30])

    def test_a_flow_that_blows_up_is_an_error(self):
        flow = case(fluid={"viscosity": 1e-4, "velocity": 0.02}).start()
        y, x = np.mgrid[: flow.shape[0], : flow.shape[1]]
        flow.set_fields(u=np.stack([0.9 * np.sin(x), 0.9 * np.sin(y)]))
        with self.assertRaises(lbmc.Error) as raised:
            flow.step(2000)
        self.assertEqual(raised.exception.code, "C0701")

    def test_a_paddle_that_turns_has_the_torque_of_its_table(self):
        paddle = {"shape": "box", "from": [8, 22], "to": [24, 26], "rule": "interpolated_moving_wall", "motion": {"angle": "0.002 * t"}}
        turning = case(solids=[paddle], output={"forces": 20})
        flow = turning.start()
        flow.step(180)
        torques = []
        for _ in range(20):
            torques.extend(flow.torques[0])
            flow.step(1)
        # A row is the mean over the steps since the one before.
        torque = np.mean(torques)
        self.assertLess(torque, 0)
        with tempfile.TemporaryDirectory() as folder:
            summary = turning.run(pathlib.Path(folder) / "out", progress=False)
            lines = (pathlib.Path(folder) / "out/forces.csv").read_text().splitlines()
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        self.assertAlmostEqual(float(rows[-1]["tz"]), torque, delta=1e-9 * abs(torque))
        (settled,) = summary["forces"][0]["torque"]
        window = summary["forces"][0]["window"]
        inside = [float(row["tz"]) for row in rows if window["from_step"] <= int(row["step"]) <= window["to_step"]]
        self.assertEqual(len(inside), window["samples"])
        self.assertAlmostEqual(settled["mean"], sum(inside) / len(inside), delta=1e-9 * abs(torque))

    def test_a_spring_in_python_moves_a_body_as_the_spring_of_the_case(self):
        stiffness, torsion = 0.02, 0.4
        wind = {"start": {"velocity": [0.02, "0.01 * sin(2*pi*x/lx)"]}}

        def swing(**springs):
            motion = {"free": True, "density": 1.5, "damping": [0.01, 0.01], "torsion_damping": 0.1, **springs}
            ellipse = {"shape": "ellipsoid", "centre": [16.3, 24.1], "radii": [3, 5], "rule": "interpolated_moving_wall", "motion": motion}
            return case(solids=[ellipse], **wind).start()

        own, loose = swing(stiffness=[stiffness, stiffness], torsion_stiffness=torsion), swing()
        body, exact = loose.bodies[0], own.bodies[0]
        for _ in range(150):
            own.step()
            loose.step()
            body.push(force=-stiffness * body.displacement, torque=-torsion * body.angle)
            self.assertLess(np.abs(body.displacement - exact.displacement).max(), 1e-11)
            self.assertLess(abs(body.angle - exact.angle), 1e-11)
            self.assertLess(np.abs(body.velocity - exact.velocity).max(), 1e-11)
            self.assertLess(abs(body.angular_velocity - exact.angular_velocity), 1e-11)
        self.assertGreater(np.abs(exact.displacement).max(), 0.5)
        self.assertGreater(abs(exact.angle), 0.01)
        self.assertTrue(np.array_equal(body.force, loose.forces[0]))
        self.assertEqual(body.torque, loose.torques[0][0])

    def test_a_body_that_is_driven_from_python_is_one_with_a_motion(self):
        """Its velocity is set along axes on which it is held: force and flow are those of a prescribed motion."""
        disc = {"shape": "cylinder", "centre": [16.3, 24.1], "radius": 5, "rule": "interpolated_moving_wall"}
        given = case(solids=[{**disc, "motion": {"displacement": ["0.3 * sin(0.1 * t)", "-0.02 * t"]}}]).start()
        motion = {"free": True, "density": 1, "hold": ["x", "y", "rotation"]}
        driven = case(solids=[{**disc, "motion": motion}]).start()
        (body,), (exact,) = driven.bodies, given.bodies
        self.assertEqual((body.free, exact.free), (True, False))
        body.velocity = exact.velocity
        for _ in range(60):
            driven.step()
            given.step()
            body.velocity = exact.velocity
            self.assertLess(np.abs(body.displacement - exact.displacement).max(), 1e-12)
            self.assertLess(np.abs(driven.field("velocity") - given.field("velocity")).max(), 1e-11)
        self.assertGreater(np.abs(exact.displacement).max(), 1)

    def test_a_body_that_is_put_elsewhere_goes_on_from_there(self):
        disc = {"shape": "cylinder", "centre": [16, 24], "radius": 5, "rule": "interpolated_moving_wall"}
        flow = case(solids=[{**disc, "motion": {"free": True, "density": 2, "hold": ["rotation"]}}]).start()
        body = flow.bodies[-1]
        body.displacement = [3, 0]
        self.assertTrue(flow.solid[24, 23] and not flow.solid[24, 12])
        body.velocity = [0, 0.01]
        flow.step(1)
        self.assertTrue(np.array_equal(body.displacement, [3, 0.01]))
        # The fluid at rest slows it down.
        self.assertTrue(0.0 < body.velocity[1] < 0.01 and body.force[1] < 0.0)

    def test_bodies_that_cannot_be_changed_so_are_refused(self):
        disc = {"shape": "cylinder", "centre": [16, 12], "radius": 4, "rule": "interpolated_moving_wall"}
        motion = {"free": True, "density": 2, "hold": ["rotation"]}
        flow = case(solids=[{**disc, "motion": motion}, {**disc, "centre": [16, 36], "rule": "bounce_back"}]).start()
        self.assertEqual(len(flow.bodies), 2)
        with self.assertRaises(IndexError) as raised:
            flow.bodies[2]
        self.assertIn("no body 2: the case has 2 solids", str(raised.exception))
        moved, fixed = flow.bodies
        self.assertTrue(np.array_equal(fixed.displacement, [0, 0]))
        for code, change in [
            ("L0520", lambda: fixed.push([1e-3, 0])),
            ("L0521", lambda: moved.push(torque=1e-3)),
            ("L0519", lambda: moved.push([1e3, 0])),
            ("L0703", lambda: moved.push([1e-3, 0, 0])),
            ("L0703", lambda: setattr(moved, "velocity", 0.1)),
            ("L0704", lambda: setattr(moved, "displacement", [math.nan, 0])),
        ]:
            with self.assertRaises(lbmc.Error) as raised:
                change()
            self.assertEqual(raised.exception.code, code)
        with self.assertRaises(ValueError):
            moved.velocity = [[0.1, 0.1]]
        self.assertTrue(np.array_equal(moved.velocity, [0, 0]))

    def test_gradients_are_those_of_differences(self):
        box = {"domain": {"size": [16, 16]}, "gradient": {"objective": "(ux^2 + uy^2) / 2"}}
        bump = np.random.default_rng(3).standard_normal((2, 16, 16))

        def begun(change=0.0, omega=None):
            """A flow whose velocity at the start, or rate, is changed."""
            flow = case(**box).start()
            if omega is not None:
                flow.set_parameter("omega", omega)
            u = np.zeros((2, 16, 16))
            u[0] = 0.02 * np.sin(2 * np.pi * (np.arange(16)[:, None] + 0.5) / 16)
            flow.set_fields(u=u + change * bump, rho=1)
            return flow

        def distance(at):
            return 0.5 * ((at["u"] - 0.01) ** 2).sum(), {"u": at["u"] - 0.01}

        flow = begun()
        omega, before = flow.case.parameters["omega"][0], flow.populations
        for objective in [None, distance]:
            found = flow.gradient(30, objective)
            self.assertTrue(np.array_equal(flow.populations, before) and flow.steps == 0)
            of = lambda **changed: begun(**changed).gradient(30, objective).value
            along = (of(change=1e-4) - of(change=-1e-4)) / 2e-4
            self.assertAlmostEqual((found.fields["u"] * bump).sum() / along, 1, delta=1e-6)
            by_omega = (of(omega=omega + 1e-4) - of(omega=omega - 1e-4)) / 2e-4
            self.assertAlmostEqual(found.parameters["omega"][0] / by_omega, 1, delta=1e-6)
            self.assertEqual(found.populations.shape, (9, 16, 16))
        whole = case(**box).gradient()
        self.assertEqual((whole.steps, whole.cells["omega"].shape), (200, (16, 16)))
        with self.assertRaises(lbmc.Error) as raised:
            case().start().gradient(3)
        self.assertEqual(raised.exception.code, "L0706")
        with self.assertRaises(lbmc.Error) as raised:
            flow.gradient(3, lambda at: (flow.mass, {}))
        self.assertEqual(raised.exception.code, "L0709")
        with self.assertRaisesRegex(ValueError, "not by pressure"):
            flow.gradient(3, lambda at: (0.0, {"pressure": 0.0}))

    def test_gradients_of_steady_flows_are_those_of_their_steady_state(self):
        steady = {
            "spec": "d2q9_guo", "domain": {"size": [24, 16]}, "fluid": {"viscosity": 0.15, "velocity": 0.05}, "params": {"force": [1e-5, 0]},
            "faces": {"left": "periodic", "right": "periodic", "bottom": "bounce_back", "top": {"rule": "moving_wall", "velocity": [0.05, 0]}},
            "stop": {"steps": 20000, "steady": 1e-12, "check_every": 500}, "gradient": {"objective": "ux^2", "steady": 1e-9},
        }
        of_case = case(**steady).gradient()
        self.assertTrue(of_case.steady["flow"] and of_case.steady["change"] < 1e-9, of_case.steady)
        flow = case(**steady).start()
        own = flow.gradient(20000, lambda at: ((at["u"][0] ** 2).sum(), {"u": at["u"] * [[[2]], [[0]]]}))
        self.assertEqual(flow.steps, 0)
        # Of a force along a plane channel with a lid the flow is known: halves of a parabola and of a line.
        force = np.array([1e-5, 1.1e-5])
        y = (np.arange(16) + 0.5)[:, None]
        u = force / (2 * 0.15) * y * (16 - y) + 0.05 * y / 16
        by_force = np.diff(24 * (u**2).sum(axis=0))[0] / 1e-6
        for found in [of_case, own]:
            self.assertAlmostEqual(found.parameters["force"][0] / by_force, 1, delta=0.02)
        self.assertAlmostEqual(own.parameters["force"][0] / of_case.parameters["force"][0], 1, delta=1e-12)

    def refined_flow(self):
        """On two levels, around a body, from an inlet to an outlet."""
        return case(
            domain={"size": [48, 32]},
            block=[8, 8],
            faces={
                "left": {"rule": "moving_wall", "velocity": [0.02, 0]},
                "right": {"rule": "anti_bounce_back", "density": 1},
                "others": "bounce_back",
            },
            refinement={"finest": 1, "boxes": [{"level": 1, "from": [8, 8], "to": [32, 24]}]},
            solids=[{"shape": "cylinder", "centre": [18.2, 16.1], "radius": 3.3, "rule": "bounce_back"}],
            gradient={"objective": "ux^2", "weight": "x > 20"},
        ).start()

    def test_gradients_by_fields_at_the_start_of_refined_grids_are_those_of_differences(self):
        flow = self.refined_flow()
        noise = np.random.default_rng(5)
        volumes, (x, y) = flow.volumes, flow.centres
        u = 0.02 * np.stack([np.sin(x / 7) * np.cos(y / 5), -np.cos(x / 7) * np.sin(y / 5)])
        changes = {"u": noise.standard_normal(u.shape), "rho": noise.standard_normal(x.shape)}

        def found(**changed):
            flow.set_fields(u=u + changed.get("u", 0), rho=1 + 0.01 * np.sin(x / 6) + changed.get("rho", 0))
            return flow.gradient(10, lambda at: ((volumes * at["u"][0] ** 2).sum(), {"u": np.stack([2 * volumes * at["u"][0], 0 * volumes])}))

        fields = found().fields
        for name, change in changes.items():
            along = (found(**{name: 1e-4 * change}).value - found(**{name: -1e-4 * change}).value) / 2e-4
            self.assertAlmostEqual(np.nansum(fields[name] * change) / along, 1, delta=1e-6)

    def test_gradients_on_refined_grids_are_those_of_differences(self):
        flow = self.refined_flow()
        flow.step(40)
        volumes = np.where(flow.centres[0] > 20, flow.volumes, 0)

        def energy(at):
            return (volumes * at["u"][0] ** 2).sum(), {"u": np.stack([2 * volumes * at["u"][0], 0 * volumes])}

        found, of_case, before = flow.gradient(10, energy), flow.gradient(10), flow.populations
        self.assertAlmostEqual(found.value / of_case.value, 1, places=12)
        np.testing.assert_allclose(found.populations, of_case.populations, rtol=0, atol=1e-12 * abs(found.populations).max())
        np.testing.assert_array_equal(found.faces["left"]["velocity"], of_case.faces["left"]["velocity"])
        self.assertEqual((found.populations.shape, found.cells["omega"].shape), (before.shape, flow.volumes.shape))
        bump = np.where(flow.volumes > 0, np.random.default_rng(3).standard_normal(before.shape), 0)

        def of(change):
            flow.populations = before + change * bump
            return flow.gradient(10, energy).value

        along = (of(1e-5) - of(-1e-5)) / 2e-5
        self.assertAlmostEqual((found.populations * bump).sum() / along, 1, delta=1e-6)

    @unittest.skipUnless(importlib.util.find_spec("jax"), "there is no jax")
    def test_derivatives_go_through_flows_to_arrays_of_jax(self):
        import jax
        import jax.numpy as jnp
        from jax.test_util import check_grads

        jax.config.update("jax_enable_x64", True)
        flow = case(domain={"size": [16, 16]}, gradient={"objective": "ux^2"}).start()
        u = 0.01 * jnp.asarray(np.random.default_rng(3).standard_normal((2, 16, 16)))

        def energy(omega, u):
            """Twice through the flow, with something else between."""
            end = lbmc.end_of(flow, 10, parameters={"omega": omega}, fields={"rho": 1, "u": u})
            end = lbmc.end_of(flow, 10, parameters={"omega": omega}, fields={"rho": end["rho"], "u": jnp.tanh(end["u"])})
            return 1e3 * (end["u"] ** 2).sum()

        check_grads(jax.jit(energy), (1.3, u), order=1, modes=["rev"], eps=1e-5, rtol=1e-4)
        by = jax.grad(energy, 1)
        whole = by(1.3, jnp.broadcast_to(jnp.array([0.01, 0.02])[:, None, None], u.shape))
        np.testing.assert_allclose(by(1.3, jnp.array([0.01, 0.02])), whole.sum((1, 2)))
        np.testing.assert_allclose(by(1.3, jnp.array([0.01, 0.02])[:, None, None]), whole.sum((1, 2), keepdims=True))
        several = jax.vmap(energy, (0, None))(jnp.array([1.2, 1.3]), u)
        np.testing.assert_allclose(several, [energy(1.2, u), energy(1.3, u)])

    @unittest.skipUnless(importlib.util.find_spec("torch"), "there is no torch")
    def test_derivatives_go_through_flows_to_tensors_of_torch(self):
        import torch

        flow = case(domain={"size": [16, 16]}, gradient={"objective": "ux^2"}).start()
        u = torch.full((2, 16, 16), 0.01, dtype=torch.float64).requires_grad_()
        omega = torch.tensor(1.3, dtype=torch.float64).requires_grad_()
        rho = torch.ones((16, 16), dtype=torch.float64)

        def energy(omega, u):
            end = lbmc.end_of(flow, 20, parameters={"omega": omega}, fields={"rho": rho, "u": u})
            return (end["u"] ** 2).sum()

        self.assertTrue(torch.autograd.gradcheck(energy, (omega, u), eps=1e-4, atol=1e-6, rtol=1e-4, fast_mode=True))

    def test_pictures_are_shown_by_notebooks(self):
        flow = case().start()
        for picture in [flow._repr_png_(), flow.picture("vorticity", colours="blue_red")._repr_png_()]:
            self.assertTrue(picture.startswith(b"\x89PNG"))
        with self.assertRaises(lbmc.Error) as raised:
            flow.picture("vortices")
        self.assertIn("vorticity", raised.exception.help)
        shown = flow.picture("speed", title="At rest", range=(1e-3, 1), log=True, contours=3, grid=False)
        self.assertNotEqual(shown.png, flow.picture("speed", title="At rest", range=(1e-3, 1), log=True, contours=[0.1]).png)

    def test_pictures_that_cannot_be_drawn_are_refused(self):
        flow = case().start()
        for wrong in [
            {"range": (3, 1)},
            {"range": (0, math.inf)},
            {"range": (0, 1), "log": True},
            {"field": "ux", "log": True},
            {"contours": 0},
            {"contours": []},
            {"contours": [math.nan]},
            {"size": 10},
            {"title": "long " * 100},
        ]:
            with self.assertRaises(lbmc.Error) as raised:
                flow.picture(wrong.pop("field", "speed"), **wrong)
            self.assertEqual(raised.exception.code, "C0107", wrong)

    def test_control_c_ends_steps_and_the_flow_goes_on(self):
        flow = lbmc.Case("cavity2d", {"target": "cpu"}).start()
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            flow.step(10_000_000)
        self.assertLess(time.monotonic() - began, 10)
        done = flow.steps
        self.assertGreater(done, 0)
        flow.step(1)
        self.assertEqual(flow.steps, done + 1)

    def test_control_c_ends_a_gradient_and_the_flow_is_where_it_was(self):
        flow = case(gradient={"objective": "ux^2", "states": 5}).start()
        flow.step(3)
        before = flow.populations
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            flow.gradient(1_000_000)
        self.assertEqual(flow.steps, 3)
        np.testing.assert_array_equal(flow.populations, before)

    def test_other_threads_run_during_steps(self):
        flow, count, done = lbmc.Case("cavity2d", {"target": "cpu"}).start(), [0], threading.Event()

        def work():
            while not done.is_set():
                count[0] += 1
                time.sleep(0.001)

        other = threading.Thread(target=work)
        other.start()
        flow.step(1)
        count[0] = 0
        flow.step(2000)
        seen = count[0]
        done.set()
        other.join()
        self.assertGreater(seen, 20)


class Texts(unittest.TestCase):
    def test_what_is_shown_of_objects_is_short(self):
        kernels = lbmc.compile("d2q9_bgk", target="all")
        findings = lbmc.check("d2q9_bgk", stability=True)
        run = case()
        for shown in [kernels, findings, findings.stability, findings.walls, run, run.start(), run.start().picture()]:
            self.assertLess(len(repr(shown)), 4000, type(shown))
        self.assertIn("d2q9_bgk.cu", repr(kernels))


class Hints(unittest.TestCase):
    def test_the_compiled_part_is_what_its_hints_say(self):
        text = (pathlib.Path(lbmc.__file__).parent / "_lbmc.pyi").read_text()
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef):
                self.assertTrue(callable(getattr(_lbmc, node.name)))
            if isinstance(node, ast.ClassDef) and node.name not in ("Error", "Advice"):
                known = {name for name in vars(getattr(_lbmc, node.name))} - {"__new__", "__doc__", "__module__", "__repr__"}
                hinted = {part.target.id for part in node.body if isinstance(part, ast.AnnAssign)}
                hinted |= {part.name for part in node.body if isinstance(part, ast.FunctionDef)} - {"__init__"}
                self.assertEqual(known, hinted, node.name)
        self.assertTrue((pathlib.Path(lbmc.__file__).parent / "py.typed").exists())


class Packages(unittest.TestCase):
    """What other packages, and notebooks, are given."""

    def test_fields_are_those_of_the_flow_at_the_centres_of_its_cells(self):
        flow = lbmc.Case({**PERIODIC, "domain": {"size": [16, 24]}}).start()
        flow.step(3)
        data = flow.to_xarray("velocity", "density", level=0)
        self.assertEqual(data.velocity.dims, ("component", "y", "x"))
        np.testing.assert_array_equal(data.density.sel(x=2.5, y=23.5), flow.field("density")[23, 2])
        np.testing.assert_array_equal(data.velocity, flow.field("velocity"))
        self.assertEqual((data.attrs["steps"], float(data.x[-1])), (3, 15.5))
        self.assertEqual(set(flow.to_xarray()), set(flow.fields))

    def test_tables_of_a_run_are_data_frames(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(FileNotFoundError):
                lbmc.tables(folder)
            lbmc.Case("channel", {"target": "cpu", "stop.steps": 200}).run(folder, progress=False)
            profile = lbmc.tables(folder)["profile_y"]
            self.assertEqual(list(profile)[:2], ["y", "u"])
            self.assertEqual((profile.y.iloc[0], profile.u.iloc[0]), (0, 0))

    def test_notebooks_show_text_of_a_method_as_text(self):
        found = lbmc.check(METHOD.replace("A method of one", "A <b>method</b> of one"))
        self.assertIn("A &lt;b&gt;method&lt;/b&gt; of one", found._repr_html_())
        self.assertIn(f"<td style='text-align:left'>{found.viscosity.formula}</td>", found._repr_html_())
        self.assertIn("collide", lbmc.compile(METHOD)._repr_html_())
        self.assertIn("32 x 48", lbmc.Case(PERIODIC)._repr_html_())


class Command(unittest.TestCase):
    """The program that the package brings."""

    def run_command(self, *arguments, folder="."):
        return subprocess.run([sys.executable, "-m", "lbmc", *arguments], cwd=folder, capture_output=True, text=True, check=False)

    def test_statuses_and_streams_are_those_of_the_program(self):
        version = self.run_command("--version")
        self.assertEqual((version.returncode, version.stdout), (0, f"lbmc {lbmc.__version__}\n"))
        self.assertEqual(self.run_command("no-such-command").returncode, 2)
        refused = self.run_command("check", "no_such_method")
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("no_such_method", refused.stderr)
        self.assertNotIn("Traceback", refused.stderr)

    def test_ctrl_c_ends_a_run_with_its_results_and_it_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = ["run", "cavity2d", "--set", "target=cpu", "--set", "stop.steps=40000000", "--json", "--out", "out"]
            command = [sys.executable, "-m", "lbmc", *arguments]
            with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as run:
                for line in run.stdout:
                    if json.loads(line)["event"] == "progress":
                        break
                run.send_signal(signal.SIGINT)
                run.communicate()
            self.assertEqual(run.returncode, 130)
            summary = json.loads((pathlib.Path(folder) / "out" / "summary.json").read_text())
            self.assertEqual(summary["stop"], "interrupted")
            resumed = self.run_command(*arguments[:-4], "stop.steps=40000000", "--dry-run", "--out", "out", "--resume", folder=folder)
            self.assertEqual(resumed.returncode, 0, resumed.stderr)


if __name__ == "__main__":
    unittest.main()
