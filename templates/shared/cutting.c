{% for line in banner -%}
// {{ line }}
{% endfor %}
{{<includes />}}
{%- if kernel.cut.resident %}

{{<prelude resident={true} />}}
{%- endif %}

{{<next_of />}}
{{<lowest />}}

// The type of distances and of walls' values.
#ifndef REAL
#define REAL double
#endif

enum {
    DIM = {{ dim }},
    NEAR = {{ near }},  // places around a block, its own included
    MOST = {{ most }},  // shapes near a part of a place, at most
    LISTED = {{ listed }},  // integers of a part in the list of shapes near it
    LEAVES = {{ leaves }},  // integers of a part in the list of leaves near it
    SIDE = {{ side }},  // cells of a part along each axis
    INTS = {{ ints }},  // integers of a shape
    NUMBERS = {{ numbers }},  // numbers of a shape
    TRIANGLE = {{ triangle }},  // numbers of a triangle
    RATES = {{ rates }},  // numbers of a solid that moves
    DIRECTIONS = {{ form }},  // where the directions begin in `form`
    DEEPEST = 64,  // nodes of a tree that wait, at most
    SETTLED = 2,  // moves after which nothing changes in a part whose cells have been alike
};

// Kinds of shapes.
enum { SPHERE, BOX, CYLINDER, SURFACE, IMAGE };

// Not met: beyond the end of a path.
#define NEVER 2.0
#define UNREACHED 1e300

// Distances are not smaller, because rules may divide by twice the distance.
#define LEAST_DISTANCE 1e-6

// How far the cells next to one are, in cells: a bit more, for round-off.
#define NEXT 1.000001

// A path that is inside a solid for less than this fraction of its length only touches the solid.
#define TOUCH 1e-9

// Positions closer than this are equal: in voxels, or as a fraction of a path.
#define SLACK 1e-9

typedef struct {
    double x, y, z;
} Point;

// Cells relative to the lowest cell of a block.
typedef struct {
    int x, y, z;
} Spot;

// What is known of a cell, a bit each: whether it is solid, and has been before; whether a surface is so near that it may cut links.
enum { IS_SOLID = 1, WAS_SOLID = 2, MAY_CUT = 4 };

// How the cells of a part of a place are: each for itself, or all of them alike.
enum { MIXED, EMPTY, FILLED };

// All shapes, of which some may be met: those of a list, or the first so many. With a list, maybe also the leaves of their trees that are near:
// those of a shape begin where those of the one before it end.
typedef struct {
    int count;
    const {{ int }} *list, *leaves;
    const {{ int }} *kinds;
    const double *numbers;
    const {{ int }} *tree;
    const double *boxes, *triangles;
    const {{ int }} *meets, *bits, *columns;
} Solids;

// A block and what is around it.
typedef struct {
    const {{ int }} *form, *place;
    int level;
    const {{ int }} *neighbours, *rows, *states;
} Block;

// A surface that is met: its shape, and the fraction of the path.
typedef struct {
    int shape;
    double part;
} Met;

{{ inline }} Point point(const double *at)
{
    const Point found = { at[0], at[1], at[2] };
    return found;
}

{{ inline }} Point minus(const Point a, const Point b)
{
    const Point found = { a.x - b.x, a.y - b.y, a.z - b.z };
    return found;
}

{{ inline }} double dot(const Point a, const Point b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

{{ inline }} Point cross(const Point a, const Point b)
{
    const Point found = { a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
    return found;
}

// a + part * way
{{ inline }} Point along(const Point a, const double part, const Point way)
{
    const Point found = { a.x + part * way.x, a.y + part * way.y, a.z + part * way.z };
    return found;
}

{{ inline }} double of_axis(const Point at, const int axis)
{
    return axis == 0 ? at.x : axis == 1 ? at.y : at.z;
}

{{ inline }} int spot_on(const Spot at, const int axis)
{
    return axis == 0 ? at.x : axis == 1 ? at.y : at.z;
}

{{ inline }} int least(const int a, const int b)
{
    return a < b ? a : b;
}

{{ inline }} Spot moved(const Spot at, const int axis, const int by)
{
    const Spot found = { at.x + (axis == 0 ? by : 0), at.y + (axis == 1 ? by : 0), at.z + (axis == 2 ? by : 0) };
    return found;
}

{{ inline }} int is_finite(const double value)
{
    return value - value == 0;
}

// The nearer of two fractions of a path; what is not on the path is never met.
{{ inline }} double nearer(const double nearest, const double part)
{
    return part >= 0 && part <= 1 && part < nearest ? part : nearest;
}

// ==== shapes ========================================================================================================

// A point in the frame of a shape.
{{ inline }} Point in_frame(const double *numbers, const Point at)
{
    const Point off = minus(at, point(numbers + 9));
    const Point found = {
        numbers[12] + dot(point(numbers), off), numbers[13] + dot(point(numbers + 3), off), numbers[14] + dot(point(numbers + 6), off)
    };
    return found;
}

// Half of the box in the frame of a shape that contains a box in space, of which this is half.
{{ inline }} Point reach_in_frame(const double *numbers, const Point half)
{
    const Point found = {
        fabs(numbers[0]) * half.x + fabs(numbers[1]) * half.y + fabs(numbers[2]) * half.z,
        fabs(numbers[3]) * half.x + fabs(numbers[4]) * half.y + fabs(numbers[5]) * half.z,
        fabs(numbers[6]) * half.x + fabs(numbers[7]) * half.y + fabs(numbers[8]) * half.z
    };
    return found;
}

{{ inline }} int is_between(const Point at, const Point low, const Point high)
{
    return low.x <= at.x && at.x <= high.x && low.y <= at.y && at.y <= high.y && low.z <= at.z && at.z <= high.z;
}

// Whether two boxes overlap, or touch.
{{ inline }} int overlap(const double *box, const Point low, const Point high)
{
    return (box[0] <= high.x) & (box[3] >= low.x) & (box[1] <= high.y) & (box[4] >= low.y) & (box[2] <= high.z) & (box[5] >= low.z);
}

// Whether the projection of an edge along x passes a point above it: 1 upwards, -1 downwards, 0 if not. The same for both orientations.
{{ inline }} int passes(const double *from, const double *to, const Point at)
{
    const int up = from[2] < to[2];
    const double *const low = up ? from : to, *const high = up ? to : from;
    const int is_between = (low[2] <= at.z) & (at.z < high[2]);
    const int is_before = (at.y - low[1]) * (high[2] - low[2]) < (at.z - low[2]) * (high[1] - low[1]);
    return is_between & is_before ? up ? 1 : -1 : 0;
}

// The interval of a range, divided into so many, in which a number lies; those at the ends reach beyond it.
{{ inline }} int interval_of(const double at, const double low, const double high, const int count)
{
    return (int)fmin(fmax(floor((at - low) / (high - low) * (double)count), 0.0), (double)(count - 1));
}

// Whether a point is inside a surface: a ray from it along x leaves more often than it enters, or less often. The triangles that it may
// meet are those of its column, the one that ends last first.
{{ function }} int surrounds(const Solids solids, const {{ int }} *kinds, const double *numbers, const Point at)
{
    if (!is_between(at, point(numbers + 15), point(numbers + 18))) return 0;
    const {{ int }} *const columns = solids.columns + kinds[6];
    const int row = interval_of(at.y, numbers[16], numbers[19], columns[0]), layer = interval_of(at.z, numbers[17], numbers[20], columns[1]);
    const {{ int }} *const begin = columns + 2 + layer * columns[0] + row, *const listed = columns + 3 + columns[0] * columns[1];
    int windings = 0;
    for (int number = begin[0]; number < begin[1]; ++number) {
        const double *const corners = solids.triangles + TRIANGLE * (size_t)(kinds[7] + listed[number]);
        // A bit for each corner: whether it is further than the point along x, along y, along z.
        const int x = (corners[0] > at.x) | (corners[3] > at.x) << 1 | (corners[6] > at.x) << 2;
        const int y = (corners[1] > at.y) | (corners[4] > at.y) << 1 | (corners[7] > at.y) << 2;
        const int z = (corners[2] > at.z) | (corners[5] > at.z) << 1 | (corners[8] > at.z) << 2;
        if ((x == 0) | (y == 0) | (y == 7) | (z == 0) | (z == 7)) {
            // Those that come next end even before this one.
            if (x == 0) break;
            continue;
        }
        const int leaves = passes(corners, corners + 3, at) + passes(corners + 3, corners + 6, at) + passes(corners + 6, corners, at);
        if (leaves == 0) continue;
        // The ray meets the plane of the triangle ahead of the point, or all of the triangle is ahead.
        const Point normal = point(corners + 9);
        const double over = dot(normal, minus(at, point(corners)));
        if (x == 7 || (normal.x > 0 && over < 0) || (normal.x < 0 && over > 0)) windings += leaves;
    }
    return windings != 0;
}

// The fraction of a path at which it meets a triangle, its edges included (Moeller & Trumbore, J. Graphics Tools 2 (1997) 21).
{{ inline }} double pierces(const double *corners, const Point from, const Point way)
{
    const Point first = point(corners), one = minus(point(corners + 3), first), other = minus(point(corners + 6), first), normal = point(corners + 9);
    const Point off = minus(from, first), turned = cross(off, way);
    const double scale = -dot(normal, way), most = fabs(scale), sign = scale < 0 ? -1 : 1;
    // The coordinates of where it meets the plane, and the fraction, times `most`.
    const double u = sign * dot(other, turned), v = -sign * dot(one, turned), part = sign * dot(normal, off), slack = SLACK * most;
    const int meets = (u >= -slack) & (v >= -slack) & (u + v <= most + slack) & (part >= 0) & (part <= most) & (most > 0);
    return meets ? part / most : NEVER;
}

// Where the leaves near a part that are those of a listed shape begin, if they are listed.
{{ inline }} int leaves_from(const Solids solids, const int number)
{
    return number > 0 ? solids.list[MOST + number - 1] : 0;
}

{{ inline }} int leaves_to(const Solids solids, const int number)
{
    return solids.list[MOST + number];
}

// The fraction of a path at which it first meets the triangles of a node.
{{ inline }} double meets_node(const Solids solids, const {{ int }} *kinds, const int node, const Point from, const Point way)
{
    const {{ int }} *const of = solids.tree + 3 * (size_t)(kinds[4] + node);
    double nearest = NEVER;
    for (int number = of[0]; number < of[1]; ++number) {
        if (kinds[5] >= 0 && !solids.meets[(size_t)(kinds[5] + number)]) continue;
        nearest = nearer(nearest, pierces(solids.triangles + TRIANGLE * (size_t)(kinds[7] + number), from, way));
    }
    return nearest;
}

// Which of the leaves near a part that are those of a listed shape overlap a box, a bit each. They are found before any is looked at, so that
// paths that are followed side by side look at one leaf after the other, each at its own.
{{ inline }} unsigned those_open(const Solids solids, const int at, const double *boxes, const Point low, const Point high)
{
    const int first = leaves_from(solids, at), count = leaves_to(solids, at) - first;
    unsigned open = 0;
    for (int leaf = 0; leaf < count; ++leaf) open |= (unsigned)overlap(boxes + 6 * (size_t)solids.leaves[first + leaf], low, high) << leaf;
    return open;
}

// The same of the surface that has a number among the shapes that may be met.
{{ function }} double meets_surface(const Solids solids, const int at, const {{ int }} *kinds, const Point from, const Point to)
{
    const Point way = minus(to, from);
    const Point low = { fmin(from.x, to.x), fmin(from.y, to.y), fmin(from.z, to.z) };
    const Point high = { fmax(from.x, to.x), fmax(from.y, to.y), fmax(from.z, to.z) };
    const double *const boxes = solids.boxes + 6 * (size_t)kinds[4];
    double nearest = NEVER;
    if (solids.leaves) {
        const {{ int }} *const listed = solids.leaves + leaves_from(solids, at);
        for (unsigned open = those_open(solids, at, boxes, low, high); open != 0; open &= open - 1) {
            nearest = nearer(nearest, meets_node(solids, kinds, listed[LOWEST(open)], from, way));
        }
        return nearest;
    }
    int open[DEEPEST], count = 1;
    open[0] = 0;
    while (count > 0) {
        const int node = open[--count], second = solids.tree[3 * (size_t)(kinds[4] + node) + 2];
        if (!overlap(boxes + 6 * (size_t)node, low, high)) continue;
        if (second != 0 && count + 2 <= DEEPEST) {
            open[count++] = second;
            open[count++] = node + 1;
        } else {
            nearest = nearer(nearest, meets_node(solids, kinds, node, from, way));
        }
    }
    return nearest;
}

// Whether a voxel is solid; outside of an image nothing is.
{{ inline }} int is_voxel(const Solids solids, const {{ int }} *kinds, const Spot at)
{
    if (at.x < 0 || at.y < 0 || at.z < 0 || at.x >= kinds[5] || at.y >= kinds[6] || at.z >= kinds[7]) return 0;
    const size_t words = (size_t)(kinds[5] + 31) / 32, row = (size_t)at.z * (size_t)kinds[6] + (size_t)at.y;
    return (int)((unsigned)solids.bits[(size_t)kinds[4] + row * words + (size_t)(at.x / 32)] >> (at.x % 32) & 1u);
}

// The number of the voxel at a place along an axis: -1 below the first, and the count above the last.
{{ inline }} int voxel_on(const double place, const int count)
{
    return (int)fmin(fmax(floor(place), -1.0), (double)count);
}

{{ inline }} Point in_voxels(const double *numbers, const Point at)
{
    const Point found = {
        (at.x - numbers[15]) / numbers[18], (at.y - numbers[16]) / numbers[18], (at.z - numbers[17]) / numbers[18]
    };
    return found;
}

{{ inline }} Spot voxel_of(const {{ int }} *kinds, const Point at)
{
    const Spot found = { voxel_on(at.x, kinds[5]), voxel_on(at.y, kinds[6]), voxel_on(at.z, kinds[7]) };
    return found;
}

// Whether a path from face to face through voxels that are not solid leads to the one a step away along each of some axes (a bit each).
{{ function }} int leads_on(const Solids solids, const {{ int }} *kinds, const Spot from, const Spot step)
{
    int reached = 1;  // a bit for each set of axes that have been stepped along
    const int all = (step.x != 0) | (step.y != 0) << 1 | (step.z != 0) << 2;
    for (int set = 1; set < 8; ++set) {
        if (set & ~all) continue;
        const Spot at = {
            from.x + (set & 1 ? step.x : 0), from.y + (set & 2 ? step.y : 0), from.z + (set & 4 ? step.z : 0)
        };
        for (int axis = 0; axis < 3; ++axis) {
            if ((set >> axis & 1) && (reached >> (set & ~(1 << axis)) & 1) && !is_voxel(solids, kinds, at)) reached |= 1 << set;
        }
    }
    return reached >> all & 1;
}

// Traversal from face to face (Amanatides & Woo, Eurographics 1987, p. 3).
{{ function }} double meets_image(const Solids solids, const {{ int }} *kinds, const double *numbers, Point from, Point to)
{
    from = in_voxels(numbers, from), to = in_voxels(numbers, to);
    Spot voxel = voxel_of(kinds, from);
    const int begin = is_voxel(solids, kinds, voxel);
    for (;;) {
        double parts[3], part = UNREACHED;
        for (int axis = 0; axis < 3; ++axis) {
            const double way = of_axis(to, axis) - of_axis(from, axis);
            const int face = way > 0 ? spot_on(voxel, axis) + 1 : spot_on(voxel, axis);
            const double at = ((double)face - of_axis(from, axis)) / way;
            // A path that ends on the lower face of a voxel ends in that voxel.
            const int is_face = way != 0 && face >= 0 && face <= kinds[5 + axis] && (at < 1 || (at == 1 && way > 0));
            parts[axis] = is_face ? at : UNREACHED;
            part = parts[axis] < part ? parts[axis] : part;
        }
        if (!(part < UNREACHED)) return NEVER;
        int step[3];
        for (int axis = 0; axis < 3; ++axis) {
            step[axis] = parts[axis] <= part + SLACK ? of_axis(to, axis) > of_axis(from, axis) ? 1 : -1 : 0;
        }
        const Spot by = { step[0], step[1], step[2] };
        if (!begin && !leads_on(solids, kinds, voxel, by)) return part > 0 ? part : 0;
        voxel.x += by.x, voxel.y += by.y, voxel.z += by.z;
        if (is_voxel(solids, kinds, voxel) != begin) return part > 0 ? part : 0;
    }
}

// Whether a point is inside a shape.
{{ function }} int contains(const Solids solids, const int shape, const Point at)
{
    const {{ int }} *const kinds = solids.kinds + INTS * (size_t)shape;
    const double *const numbers = solids.numbers + NUMBERS * (size_t)shape, *const of = numbers + 15;
    if (!is_between(at, point(numbers + 23), point(numbers + 26))) return 0;
    const Point here = in_frame(numbers, at);
    int inside = 0;
    if (kinds[0] == SPHERE) {
        const Point off = minus(here, point(of));
        inside = dot(off, off) < of[3] * of[3];
    } else if (kinds[0] == BOX) {
        inside = of[0] < here.x && here.x < of[3] && of[1] < here.y && here.y < of[4] && of[2] < here.z && here.z < of[5];
    } else if (kinds[0] == CYLINDER) {
        const Point off = minus(here, point(of));
        const double rise = dot(off, point(of + 3));
        inside = dot(off, off) - rise * rise < of[6] * of[6] && fabs(rise) < of[7];
    } else if (kinds[0] == SURFACE) {
        inside = surrounds(solids, kinds, numbers, here);
    } else {
        inside = is_voxel(solids, kinds, voxel_of(kinds, in_voxels(numbers, here)));
    }
    return inside != kinds[2];
}

// The nearer root of a x^2 + 2 b x + c, from 0 to 1, with a bound `half` on |rise + x slope|.
{{ inline }} double root(const double a, const double b, const double c, const double rise, const double slope, const double half)
{
    const double under = b * b - a * c;
    if (a == 0 || under < 0) return NEVER;
    const double one = (-b - sqrt(under)) / a, other = (-b + sqrt(under)) / a;
    double nearest = fabs(rise + one * slope) <= half ? nearer(NEVER, one) : NEVER;
    if (fabs(rise + other * slope) <= half) nearest = nearer(nearest, other);
    return nearest;
}

// The fraction of a path at which it first meets the surface of a shape other than a sphere, in its frame.
{{ function }} double crossing_of(const Solids solids, const int at, const {{ int }} *kinds, const double *numbers, const Point from, const Point to)
{
    const double *const of = numbers + 15;
    const Point way = minus(to, from);
    double nearest = NEVER;
    if (kinds[0] == BOX) {
        for (int axis = 0; axis < 3; ++axis) {
            for (int side = 0; side < 2; ++side) {
                const double part = (of[3 * side + axis] - of_axis(from, axis)) / of_axis(way, axis);
                int on_face = is_finite(part);
                for (int other = 0; other < 3 && on_face; ++other) {
                    const double where = of_axis(from, other) + part * of_axis(way, other);
                    on_face = other == axis || (of[other] <= where && where <= of[3 + other]);
                }
                if (on_face) nearest = nearer(nearest, part);
            }
        }
    } else if (kinds[0] == CYLINDER) {
        const Point off = minus(from, point(of)), axis = point(of + 3);
        const double rise = dot(off, axis), slope = dot(way, axis), radius = of[6], half = of[7];
        const Point across = along(off, -rise, axis), run = along(way, -slope, axis);
        nearest = root(dot(run, run), dot(across, run), dot(across, across) - radius * radius, rise, slope, half);
        for (int side = -1; side <= 1; side += 2) {
            const double part = (side * half - rise) / slope;
            const Point where = along(across, part, run);
            if (is_finite(part) && dot(where, where) <= radius * radius) nearest = nearer(nearest, part);
        }
    } else if (kinds[0] == SURFACE) {
        nearest = meets_surface(solids, at, kinds, from, to);
    } else {
        nearest = meets_image(solids, kinds, numbers, from, to);
    }
    return nearest;
}

// The shape of a number among those that may be met.
{{ inline }} int shape_of(const Solids solids, const int number)
{
    return solids.list ? solids.list[number] : number;
}

// The fraction of a path at which it first meets the surface of a shape, by its number among those that may be met.
{{ inline }} double crossing(const Solids solids, const int at, const Point begin, const Point end)
{
    const int shape = shape_of(solids, at);
    const {{ int }} *const kinds = solids.kinds + INTS * (size_t)shape;
    const double *const numbers = solids.numbers + NUMBERS * (size_t)shape, *const of = numbers + 15;
    const Point low = { fmin(begin.x, end.x), fmin(begin.y, end.y), fmin(begin.z, end.z) };
    const Point high = { fmax(begin.x, end.x), fmax(begin.y, end.y), fmax(begin.z, end.z) };
    if (!overlap(numbers + 23, low, high)) return NEVER;
    const Point from = in_frame(numbers, begin), to = in_frame(numbers, end), way = minus(to, from), off = minus(from, point(of));
    if (kinds[0] != SPHERE) return crossing_of(solids, at, kinds, numbers, from, to);
    return root(dot(way, way), dot(off, way), dot(off, off) - of[3] * of[3], 0, 0, 1);
}

// Whether the plane of a triangle of a node passes through a box, by its middle and half of it.
{{ inline }} int cuts_box(const Solids solids, const {{ int }} *kinds, const int node, const Point middle, const Point half)
{
    const {{ int }} *const of = solids.tree + 3 * (size_t)(kinds[4] + node);
    int found = 0;
    for (int number = of[0]; number < of[1] && !found; ++number) {
        const double *const corners = solids.triangles + TRIANGLE * (size_t)(kinds[7] + number);
        const Point first = point(corners), normal = point(corners + 9);
        const double reach = fabs(normal.x) * half.x + fabs(normal.y) * half.y + fabs(normal.z) * half.z;
        found = fabs(dot(normal, minus(middle, first))) <= reach * NEXT;
    }
    return found;
}

// Whether a path from a point in space to one that is next to it along axes and diagonals may meet a shape, by its number among those that may be met.
{{ function }} int is_near(const Solids solids, const int at, const Point from, const Point reach)
{
    const int shape = shape_of(solids, at);
    const {{ int }} *const kinds = solids.kinds + INTS * (size_t)shape;
    const double *const numbers = solids.numbers + NUMBERS * (size_t)shape, *const of = numbers + 15;
    if (!overlap(numbers + 23, along(from, -1, reach), along(from, 1, reach))) return 0;
    const Point here = in_frame(numbers, from), half = reach_in_frame(numbers, reach), off = minus(here, point(of));
    const double far = sqrt(dot(half, half));
    int found = 1;
    if (kinds[0] == SPHERE) {
        found = fabs(sqrt(dot(off, off)) - of[3]) <= far;
    } else if (kinds[0] == CYLINDER) {
        const double rise = dot(off, point(of + 3));
        const Point across = along(off, -rise, point(of + 3));
        const double out = sqrt(dot(across, across)) - of[6], beyond = fabs(rise) - of[7];
        found = out <= far && beyond <= far && (out >= -far || beyond >= -far);
    } else if (kinds[0] == SURFACE && solids.leaves) {
        const Point low = along(here, -1, half), high = along(here, 1, half);
        const {{ int }} *const listed = solids.leaves + leaves_from(solids, at);
        unsigned open = those_open(solids, at, solids.boxes + 6 * (size_t)kinds[4], low, high);
        for (found = 0; open != 0 && !found; open &= open - 1) found = cuts_box(solids, kinds, listed[LOWEST(open)], here, half);
    }
    return found;
}

// Lists the leaves of the tree of a surface that overlap a box of space, behind so many; returns how many there are then, `LEAVES` if there is no
// room for all of them.
{{ function }} int list_leaves(const Solids solids, const int shape, const Point low, const Point high, {{ int }} *listed, int count)
{
    const {{ int }} *const kinds = solids.kinds + INTS * (size_t)shape;
    const double *const numbers = solids.numbers + NUMBERS * (size_t)shape;
    const Point middle = along(low, 0.5, minus(high, low)), here = in_frame(numbers, middle);
    const Point half = reach_in_frame(numbers, minus(high, middle)), from = along(here, -1, half), to = along(here, 1, half);
    const double *const boxes = solids.boxes + 6 * (size_t)kinds[4];
    int open[DEEPEST], waiting = 0;
    if (overlap(boxes, from, to)) open[waiting++] = 0;
    while (waiting > 0 && count < LEAVES) {
        const int node = open[--waiting], second = solids.tree[3 * (size_t)(kinds[4] + node) + 2];
        if (second != 0 && waiting + 2 <= DEEPEST) {
            const int is_first = overlap(boxes + 6 * (size_t)(node + 1), from, to), is_second = overlap(boxes + 6 * (size_t)second, from, to);
            if (is_second) open[waiting++] = second;
            if (is_first) open[waiting++] = node + 1;
            continue;
        }
        if (count < LEAVES - 1) listed[count] = node;
        ++count;
    }
    return count;
}

// The shapes of a list, of those that are all.
{{ inline }} Solids those_near(Solids all, const {{ int }} *near, const {{ int }} *leaves)
{
    if (near[0] < 0) return all;
    all.count = near[0];
    all.list = near + 1;
    all.leaves = leaves[0] < 0 ? 0 : leaves + 1;
    return all;
}

// Whether the cells of a part and their links are what they were before the last moves.
{{ inline }} int is_settled(const {{ int }} *near)
{
    return near[LISTED - 1] >> 2 == SETTLED;
}

// The first shape that contains a point, -1 if none does.
{{ function }} int shape_at(const Solids solids, const Point at)
{
    for (int number = 0; number < solids.count; ++number) {
        const int shape = shape_of(solids, number);
        if (contains(solids, shape, at)) return shape;
    }
    return -1;
}

// ==== blocks ========================================================================================================

// Cells of a level along an axis of the grid.
{{ inline }} int cells_along(const Block block, const int axis)
{
    return block.form[5 + axis] << block.level;
}

{{ inline }} int is_mirror(const Block block, const int face)
{
    return block.form[9] >> face & 1;
}

{{ inline }} Spot spot_of(const Block block, const int cell)
{
    const int width = block.form[0], height = block.form[1];
    const Spot found = { cell % width, cell / width % height, cell / (width * height) };
    return found;
}

// Parts of a block along an axis.
{{ inline }} int parts_along(const Block block, const int axis)
{
    return (block.form[axis] + SIDE - 1) / SIDE;
}

{{ inline }} int parts_of(const Block block)
{
    return parts_along(block, 0) * parts_along(block, 1) * parts_along(block, 2);
}

// The part in which a cell is.
{{ inline }} int part_of(const Block block, const Spot at)
{
    return at.x / SIDE + parts_along(block, 0) * (at.y / SIDE + parts_along(block, 1) * (at.z / SIDE));
}

{{ inline }} Point centre(const Block block, const Spot at)
{
    const double width = 1.0 / (1 << block.level);
    const Point found = {
        ((double)(block.place[2] + at.x) + 0.5) * width, ((double)(block.place[3] + at.y) + 0.5) * width,
        DIM == 3 ? ((double)(block.place[4] + at.z) + 0.5) * width : 0.0
    };
    return found;
}

// Whether a path to a cell leaves the domain through a wall; those through symmetry planes go on inside.
{{ inline }} int leaves(const Block block, const Spot at)
{
    for (int axis = 0; axis < DIM; ++axis) {
        const int place = block.place[2 + axis] + spot_on(at, axis);
        const int low = place < 0, high = place >= cells_along(block, axis);
        if ((low || high) && !(block.form[8] >> axis & 1) && !is_mirror(block, 2 * axis + high)) return 1;
    }
    return 0;
}

// Whether a cell is outside of the domain.
{{ inline }} int is_beyond(const Block block, const Spot at)
{
    int beyond = 0;
    for (int axis = 0; axis < DIM; ++axis) {
        const int place = block.place[2 + axis] + spot_on(at, axis);
        beyond |= (place < 0 || place >= cells_along(block, axis)) && !(block.form[8] >> axis & 1);
    }
    return beyond;
}

// A point beyond a symmetry plane, seen in the mirror.
{{ inline }} Point seen(const Block block, const Point at)
{
    if (block.form[9] == 0) return at;
    double to[3] = { at.x, at.y, at.z };
    for (int axis = 0; axis < DIM; ++axis) {
        const double end = (double)block.form[5 + axis];
        if (to[axis] < 0 && is_mirror(block, 2 * axis)) to[axis] = -to[axis];
        else if (to[axis] > end && is_mirror(block, 2 * axis + 1)) to[axis] = 2 * end - to[axis];
    }
    return point(to);
}

// What is known of a cell of the block or of the layer around it; -1 where there is no cell of the level.
{{ inline }} int state_of(const Block block, const Spot at)
{
    int cell = 0, stride = 1, near = 0, step = 1;
    for (int axis = 0; axis < DIM; ++axis) {
        const int side = block.form[axis], first = block.place[2 + axis], count = cells_along(block, axis);
        int on = spot_on(at, axis);
        if (first + on < 0 && is_mirror(block, 2 * axis)) on = -1 - 2 * first - on;
        else if (first + on >= count && is_mirror(block, 2 * axis + 1)) on = 2 * (count - first) - 1 - on;
        const int beyond = on < 0 ? 0 : on >= side ? 2 : 1;
        near += step * beyond, step *= 3;
        cell += stride * (on + side * (1 - beyond)), stride *= side;
    }
    const {{ int }} slot = block.neighbours[(size_t)block.place[1] * NEAR + (size_t)near];
    if (slot < 0) return -1;
    const {{ int }} row = block.rows[slot];
    return row < 0 ? 0 : block.states[(size_t)row * (size_t)block.form[3] + (size_t)cell];
}

{{ inline }} int is_solid(const Block block, const Spot at)
{
    const int state = state_of(block, at);
    return state >= 0 && (state & IS_SOLID);
}

// Where a path through a symmetry plane meets a shape: it is shorter after reflection.
{{ function }} double crossing_in_mirror(const Solids solids, const Block block, const int at, const Point from, const Point to)
{
    const Point middle = { 0.5 * (from.x + to.x), 0.5 * (from.y + to.y), 0.5 * (from.z + to.z) }, turn = seen(block, middle);
    const double before = crossing(solids, at, seen(block, from), turn);
    return before <= 1 ? 0.5 * before : 0.5 + 0.5 * crossing(solids, at, turn, seen(block, to));
}

// The surface that is first on the path from one cell to another.
{{ inline }} Met met(const Solids solids, const Block block, const Point from, const Point to)
{
    const Point begin = seen(block, from), end = seen(block, to), way = minus(to, from), straight = minus(end, begin);
    const int is_straight = dot(straight, straight) == dot(way, way);
    Met found = { -1, NEVER };
    for (int number = 0; number < solids.count; ++number) {
        const double part = is_straight ? crossing(solids, number, begin, end) : crossing_in_mirror(solids, block, number, from, to);
        if (part <= 1 && part < found.part) {
            found.shape = shape_of(solids, number);
            found.part = part;
        }
    }
    return found;
}

// Whether the fluid can flow between a cell and the next one along an axis.
{{ function }} int is_open(const Solids solids, const Block block, const Spot at, const int axis)
{
    const Spot next = moved(at, axis, 1);
    if (leaves(block, at) || leaves(block, next) || is_solid(block, at) || is_solid(block, next)) return 0;
    const Point from = centre(block, at), to = centre(block, next);
    const Met there = met(solids, block, from, to);
    if (there.shape < 0) return 1;
    const Met back = met(solids, block, to, from);
    return back.shape < 0 || !(there.part + back.part < 1 - TOUCH);
}

// Whether a shortest path along the axes leads from one cell to another.
{{ function }} int leads(const Solids solids, const Block block, const Spot from, const Spot to)
{
    const Spot step = { to.x - from.x, to.y - from.y, to.z - from.z };
    const int all = (step.x != 0) | (step.y != 0) << 1 | (step.z != 0) << 2;
    int reached = 1;  // a bit for each set of axes that have been stepped along
    for (int set = 1; set < 8; ++set) {
        if (set & ~all) continue;
        for (int axis = 0; axis < DIM; ++axis) {
            const int before = set & ~(1 << axis);
            if (!(set >> axis & 1) || !(reached >> before & 1) || (reached >> set & 1)) continue;
            const Spot at = {
                from.x + (before & 1 ? step.x : 0), from.y + (before & 2 ? step.y : 0), from.z + (before & 4 ? step.z : 0)
            };
            if (is_open(solids, block, spot_on(step, axis) < 0 ? moved(at, axis, -1) : at, axis)) reached |= 1 << set;
        }
    }
    return reached >> all & 1;
}

// Whether no path along the axes leads from one cell to another: neither a shortest one nor one with a step aside.
{{ function }} int is_barred(const Solids solids, const Block block, const Spot from, const Spot to)
{
    if (leads(solids, block, from, to)) return 0;
    for (int axis = 0; axis < DIM; ++axis) {
        if (spot_on(from, axis) != spot_on(to, axis)) continue;
        for (int by = -1; by <= 1; by += 2) {
            const Spot here = moved(from, axis, by), there = moved(to, axis, by);
            if (leads(solids, block, from, here) && leads(solids, block, here, there) && leads(solids, block, there, to)) return 0;
        }
    }
    return 1;
}

// Whether fluid passes between two cells although the path from one to the other meets a surface.
{{ function }} int passes_by(const Solids solids, const Block block, const Spot here, const Spot upwind)
{
    return met(solids, block, centre(block, upwind), centre(block, here)).shape < 0 || !is_barred(solids, block, here, upwind);
}

// The surface that cuts the link of a cell from another, of which a state is known.
{{ inline }} Met cut_by(const Solids solids, const Block block, const Spot here, const Spot upwind, const int state)
{
    const Point from = centre(block, here), to = centre(block, upwind);
    Met found = met(solids, block, from, to);
    const int is_in = state >= 0 && (state & IS_SOLID);
    if (found.shape < 0 && is_in) {
        // A centre on a surface may be inside without a crossing, because of round-off.
        found.shape = shape_at(solids, seen(block, to));
        found.part = 1;
        if (found.shape < 0) found.shape = 0;
    } else if (found.shape >= 0 && !is_in && passes_by(solids, block, here, upwind)) {
        found.shape = -1;
    }
    return found;
}

// ==== kernels =======================================================================================================

{% <kernel of={kernel.place}> %}
    const {{ int }} item = items[at], solid = item / RATES, of = item % RATES;
    if (item < shapes * INTS) {
        kinds_before[item] = kinds[item];
        kinds[item] = all_kinds[(size_t)entry * (size_t)(shapes * INTS) + (size_t)item];
    }
    if (item < shapes * NUMBERS) {
        numbers_before[item] = numbers[item];
        numbers[item] = all_numbers[(size_t)entry * (size_t)(shapes * NUMBERS) + (size_t)item];
    }
    if (solid < solids && velocities[solid] >= 0) {
        const double rate = all_rates[(size_t)entry * (size_t)(solids * RATES) + (size_t)item];
        if (of < 9) rates[9 * (size_t)solid + (size_t)of] = rate;
        else if (of < 9 + DIM) {
            frames[(size_t)solid * DIM + (size_t)(of - 9)] = rate;
            wall_values[(size_t)velocities[solid] + (size_t)(of - 9)] = (REAL)rate;
        }
    }
{%- </kernel> %}

{% <kernel of={kernel.list}> %}
    const {{ int }} item = items[at];
    const Block any = { form, 0, level, 0, 0, 0 };
    const int parts = parts_of(any), wide = parts_along(any, 0), tall = parts_along(any, 1), part = item % parts;
    {{ int }} *const list = near_shapes + LISTED * (size_t)item, *const leaves = near_leaves + LEAVES * (size_t)item;
    const Solids solids = { shapes, 0, 0, kinds, numbers, tree, boxes, triangles, meets, bits, columns };
    const Block block = { form, places + 5 * (size_t)(item / parts), level, 0, 0, 0 };
    // The cells of the part and those next to them.
    const Spot from = { part % wide * SIDE, part / wide % tall * SIDE, part / (wide * tall) * SIDE };
    const Spot first = { from.x - 1, from.y - 1, DIM == 3 ? from.z - 1 : 0 };
    const Spot last = { least(from.x + SIDE, form[0]), least(from.y + SIDE, form[1]), DIM == 3 ? least(from.z + SIDE, form[2]) : 0 };
    const Point low = along(centre(block, first), NEXT - 1, minus(centre(block, first), centre(block, last)));
    const Point high = along(centre(block, last), NEXT - 1, minus(centre(block, last), centre(block, first)));
    if (item == first_part) near_counts[level] = 0;
    int found = 0, near = 0, cells = EMPTY;
    for (int shape = 0; shape < shapes; ++shape) {
        if (!overlap(numbers + NUMBERS * (size_t)shape + 23, low, high)) continue;
        if (kinds[INTS * (size_t)shape] == SURFACE) {
            const int before = near;
            near = list_leaves(solids, shape, low, high, leaves + 1, before);
            if (near == before && near < LEAVES) {
                // None of its triangles is near: each cell is inside, or none.
                if (contains(solids, shape, along(low, 0.5, minus(high, low)))) cells = FILLED;
                continue;
            }
        }
        if (found < MOST) list[1 + found] = shape, list[1 + MOST + found] = near;
        ++found;
    }
    list[0] = cells == FILLED ? 0 : found <= MOST ? found : -1;
    leaves[0] = near < LEAVES ? near : -1;
    if (cells == EMPTY && found > 0) cells = MIXED;
    const int before = list[LISTED - 1], times = cells != MIXED && (before & 3) == cells ? (before >> 2) + 1 : 0;
    list[LISTED - 1] = cells | (times < SETTLED ? times : SETTLED) << 2;
{%- </kernel> %}

{% <kernel of={kernel.occupy}> %}
    const int cells = form[3], q = form[4];
    const {{ int }} item = items[at], of = item / cells, cell = item % cells, *const place = places + 5 * (size_t)of;
    const Block block = { form, place, level, 0, 0, 0 };
    const Spot at_cell = spot_of(block, cell);
    const size_t part = (size_t)of * (size_t)parts_of(block) + (size_t)part_of(block, at_cell);
    const {{ int }} *const near = near_shapes + LISTED * part;
    if (is_settled(near)) {{ kernel.occupy.skip }};
    const int alike = near[LISTED - 1] & 3;
    int found = alike == FILLED ? IS_SOLID : 0;
    if (alike == MIXED) {
        const Solids all = { shapes, 0, 0, kinds, numbers, tree, boxes, triangles, meets, bits, columns };
        const Solids solids = those_near(all, near, near_leaves + LEAVES * part);
        const double width = NEXT / (1 << level);
        const Point here = seen(block, centre(block, at_cell)), reach = { width, width, DIM == 3 ? width : 0 };
        if (shape_at(solids, here) >= 0) found = IS_SOLID;
        for (int number = 0; number < solids.count && !found; ++number) found = is_near(solids, number, here, reach) ? MAY_CUT : 0;
    }
    {{ int }} *const state = states + (size_t)place[0] * (size_t)cells + (size_t)cell;
    const int was = *state & IS_SOLID, is_left = was && !(found & IS_SOLID);
    *state = found | (was ? WAS_SOLID : 0);
    if (of >= own_from && of < own_to && (found & MAY_CUT || is_left)) near_cells[(size_t)own_from * (size_t)cells + (size_t)NEXT_OF(near_counts[level])] = item;
    for (int direction = 0; direction < q; ++direction) {
        const size_t link = ((size_t)place[0] * (size_t)q + (size_t)direction) * (size_t)cells + (size_t)cell;
        links[link] = found & IS_SOLID ? -1 : 0;
        distances[link] = (REAL)0.5;
    }
{%- </kernel> %}

{% <kernel of={kernel.cut}> %}
    const int cells = form[3], q = form[4], stride = form[12], links_near = near_counts[level] * q;
    for (int number = items[at]; number < links_near; number += workers) {
        // All links of a cell, one after the other.
        const {{ int }} item = near_cells[(size_t)own_from * (size_t)cells + (size_t)(number / q)];
        const int direction = number % q, cell = item % cells, of_place = item / cells;
        const {{ int }} *const c = form + DIRECTIONS + 4 * direction, *const place = places + 5 * (size_t)of_place;
        const int own = states[(size_t)place[0] * (size_t)cells + (size_t)cell], is_left = !(own & IS_SOLID) && (own & WAS_SOLID);
        const Block block = { form, place, level, neighbours, rows, states };
        const Spot here = spot_of(block, cell);
        const size_t part = (size_t)of_place * (size_t)parts_of(block) + (size_t)part_of(block, here);
        const size_t of_link = ((size_t)of_place * (size_t)q + (size_t)direction) * (size_t)cells + (size_t)cell;
        const size_t link = ((size_t)place[0] * (size_t)q + (size_t)direction) * (size_t)cells + (size_t)cell;
        const Spot upwind = { here.x - c[0], here.y - c[1], here.z - c[2] };
        if (is_left) beside[of_link] = 0;
        if (leaves(block, upwind) || (c[0] == 0 && c[1] == 0 && c[2] == 0)) continue;
        const int state = state_of(block, upwind);
        Met found = { -1, NEVER };
        if (own & MAY_CUT) {
            const Solids all = { shapes, 0, 0, kinds, numbers, tree, boxes, triangles, meets, bits, columns };
            found = cut_by(those_near(all, near_shapes + LISTED * part, near_leaves + LEAVES * part), block, here, upwind, state);
        }
        if (is_left && state >= 0 && !(state & (IS_SOLID | WAS_SOLID)) && found.shape < 0 && !is_beyond(block, upwind)) beside[of_link] = 1;
        if (found.shape < 0) continue;
        const double distance = found.part < LEAST_DISTANCE ? LEAST_DISTANCE : found.part;
        const {{ int }} *const of = kinds + INTS * (size_t)found.shape;
        const int surface = form[10] + of[1];
        distances[link] = (REAL)distance;
        links[link] = surface + 1;
        if (of[3] < 0) continue;
        // Each link that meets a solid that rotates has a wall of its own, with the local velocity.
        const int wall = form[11] + (int)of_link;
        const Point from = centre(block, here), to = centre(block, upwind);
        const double *const rate = numbers + NUMBERS * (size_t)found.shape + 29;
        const Point arm = minus(seen(block, along(from, distance, minus(to, from))), point(rate)), turn = cross(point(rate + 6), arm);
        const double velocity[3] = { rate[3] + turn.x, rate[4] + turn.y, rate[5] + turn.z };
        links[link] = wall + 1;
        wall_rules[wall] = wall_rules[surface];
        owners[wall] = -(found.shape + 2);
        for (int value = 0; value < stride; ++value) wall_values[(size_t)wall * (size_t)stride + (size_t)value] = wall_values[(size_t)surface * (size_t)stride + (size_t)value];
        for (int axis = 0; axis < DIM; ++axis) wall_values[(size_t)wall * (size_t)stride + (size_t)(of[3] + axis)] = (REAL)velocity[axis];
    }
{%- </kernel> %}

{% <kernel of={kernel.uncover}> %}
    const int cells = form[3], q = form[4], carriers = form[13];
    const {{ int }} item = items[at], *const place = places + 5 * (size_t)(item / cells);
    const Solids solids = { shapes, 0, 0, kinds, numbers, tree, boxes, triangles, meets, bits, columns };
    const Block block = { form, place, level, 0, 0, 0 };
    const int cell = item % cells, own = states[(size_t)place[0] * (size_t)cells + (size_t)cell];
    around[item] = {{ unchanged }};
    if (!(own & IS_SOLID) == !(own & WAS_SOLID)) {{ kernel.uncover.skip }};
    around[item] = 0;
    towards[item] = -1;
    for (int axis = 0; axis < DIM; ++axis) velocities[(size_t)item * DIM + (size_t)axis] = 0;
    // A cell that a solid has entered is at rest.
    const Spot here = spot_of(block, cell);
    const Point from = seen(block, centre(block, here));
    const int shape = own & IS_SOLID ? -1 : shape_at(solids, from);
    if (shape < 0) {{ kernel.uncover.skip }};
    const double *const rate = rates + 9 * (size_t)kinds[INTS * (size_t)shape + 1];
    // The pivot has moved since.
    const Point arm = minus(minus(from, point(numbers + NUMBERS * (size_t)shape + 29)), point(rate + 6)), turn = cross(point(rate + 3), arm);
    const double velocity[3] = { rate[0] + turn.x, rate[1] + turn.y, rate[2] + turn.z };
    for (int axis = 0; axis < DIM; ++axis) velocities[(size_t)item * DIM + (size_t)axis] = velocity[axis];
    // Neighbours that are fluid and have been so, and from which populations arrive along the opposite directions.
    int fluid = 0, normal[3] = {0};
    for (int direction = 0; direction < carriers; ++direction) {
        const {{ int }} *const c = form + DIRECTIONS + 4 * direction;
        const int is_in = beside[((size_t)(item / cells) * (size_t)q + (size_t)c[3]) * (size_t)cells + (size_t)cell];
        fluid |= is_in << direction;
        for (int axis = 0; axis < 3; ++axis) normal[axis] += is_in * c[axis];
    }
    // The greatest projection on the normal, over the length of the direction: by their squares, with their signs.
    int best = -1, most = 0, length = 1;
    for (int direction = 0; direction < carriers; ++direction) {
        const {{ int }} *const c = form + DIRECTIONS + 4 * direction;
        const int on = c[0] * normal[0] + c[1] * normal[1] + c[2] * normal[2], square = on < 0 ? -on * on : on * on;
        const int far = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
        if (!(fluid >> direction & 1) || (best >= 0 && square * length <= most * far)) continue;
        best = direction, most = square, length = far;
    }
    around[item] = fluid;
    towards[item] = best;
{%- </kernel> %}

{{<called_by_pointers />}}
