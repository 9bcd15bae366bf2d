#!/usr/bin/env bash
# The square cylinder of Jaber et al. (arXiv 2308.08085), cases F-A1 to F-A4: root 256^2, 2 to 5 levels, static and adaptive.
#   benchmarks/square_cylinder.sh LBMC OUT [COUPLING]
# All run at once.
set -uo pipefail
lbmc=$(realpath "$1") out=$(realpath "$2") coupling=${3:-volumetric_shifted}
d="sqrt(max(0, abs(x-80)-4)^2 + max(0, abs(y-128)-4)^2)"
for finest in 1 2 3 4; do
    for kind in static adaptive; do
        name=fa$finest-$kind-$coupling
        {
            cat << CASE
spec = "d2q9_recursive"
precision = "f64"
block = [8, 8]
[domain]
size = [256, 256]
[fluid]
re = 100
velocity = 0.05
length = 8
[faces]
left = { rule = "moving_wall", velocity = [0.05, 0] }
right = { rule = "anti_bounce_back", density = 1 }
others = { rule = "moving_wall", velocity = [0.05, 0] }      # a far field, as that of the paper
[[solids]]
shape = "box"
from = [76, 124]
to = [84, 132]
rule = "bounce_back"
[start]
velocity = ["0.05", "0.01 * sin(2*pi*x/lx) * exp(-((y - ly/2) / 16)^2)"]
[stop]
steps = 60000
[output]
forces = 20
picture = true
[refinement]
finest = $finest
coupling = "$coupling"
level = "$finest - ln(max(1, $d / 4)) / ln(2)"
CASE
            if [ $kind = adaptive ]; then
                printf 'criterion = "vorticity"\nthreshold = 2\nevery = 32\n'
            fi
        } > "$out/$name.toml"
        {
            "$lbmc" run "$out/$name.toml" --out "$out/$name" > "$out/$name.log" 2>&1 || echo "FAILED $name: $(tail -5 "$out/$name.log")"
            grep -h -i "drag\|strouhal\|MLUPS" "$out/$name.log" | tail -4 | sed "s/^/$name: /"
        } &
    done
done
wait
