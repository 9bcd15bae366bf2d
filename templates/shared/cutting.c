{% for line in banner -%}
// {{ line }}
{% endfor %}
{{<includes />}}
{%- if kernel.cut.resident %}

{{<prelude resident={true} />}}
{%- endif %}

{{<next_of />}}
{{<lowest />}}

{{<set_bits />}}
{{<least_of />}}

// The type of distances and of walls' values, the cells of a block along each axis, and the directions.
#ifndef REAL
#define REAL double
#define WIDTH 4
#define HEIGHT 4
#define DEPTH {{ depth }}
#define Q {{ directions }}
#endif

enum {
    DIM = {{ dim }},
    CELLS = WIDTH * HEIGHT * DEPTH,
    NEAR = {{ near }},  // places around a block, its own included
    MOST = {{ most }},  // shapes near a part of a place, at most
    LISTED = {{ listed }},  // integers of a part in the list of shapes near it
    LEAVES = {{ leaves }},  // integers of a part in the list of leaves near it
    SIDE = {{ side }},  // cells of a part along each axis
    PARTS_WIDE = (WIDTH + SIDE - 1) / SIDE,  // parts of a block along each axis, and all of them
    PARTS_TALL = (HEIGHT + SIDE - 1) / SIDE,
    PARTS = PARTS_WIDE * PARTS_TALL * ((DEPTH + SIDE - 1) / SIDE),
    INTS = {{ ints }},  // integers of a shape
    NUMBERS = {{ numbers }},  // numbers of a shape
    TRIANGLE = {{ triangle }},  // numbers of a triangle
    RATES = {{ rates }},  // numbers of a solid that moves
    DIRECTIONS = {{ form }},  // where the directions begin in `form`
    VELOCITIES = {{ velocities }},  // velocities to a cell and those around it
    MOST_EDGES = DIM == 3 ? 16 : 8,  // of the ways from a cell to one next to it
    DEEPEST = 64,  // nodes of a tree that wait, at most
    SETTLED = 2,  // moves after which nothing changes in a part whose cells have been alike, in either set of links
    HEAD = {{ head }},  // integers before the columns of a surface
    ENTRY = {{ entry }},  // integers of an entry of a column
    INTERVALS = {{ intervals }},  // intervals of a surface along x by which triangles are told apart
    OF_COLUMN = {{ of_column }},  // those of a column along y and z
    ABREAST = 4,  // entries that are looked at together
    IN_WORD = {{ in_word }},  // voxels of an integer
    UNDECIDED = {{ undecided }},  // what is known of a voxel that may have points on both sides of a surface
    LISTS = {{ lists }},  // lists of links near triangles, which workers fill in turn
    APART = {{ between }},  // from the count of a list to that of the next: threads that count at the same time do not wait for each other
    COUNTS = APART * (LISTS + 1),  // counts of all lists, and whether one was full
    ASIDE = 32,  // workers side by side, which have the same list
    TURNS = {{ turns }},  // workers that share the ways of a triangle
    SHARE = {{ share }},  // of so many cells of places one has a row for its links at most
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

// Links that come so near to a triangle are looked at, in cells: far more than the round-off of 32 bits in triangles of some cells.
#define WITHIN 1e-4f

// Triangles are not so far away, in cells.
#define FAR 1e8

typedef struct {
    double x, y, z;
} Point;

// Cells relative to the lowest cell of a block.
typedef struct {
    int x, y, z;
} Spot;

// What is known of a cell, a bit each: whether it is solid, and has been before; whether a surface is so near that it may cut links; whether a scanned
// surface alone may do so, of a cell that has been fluid, with a row of `fractions`, and that no symmetry plane is beside. Above these bits, where scanned
// surfaces meet the paths from it: not known, nowhere, or by a row of `fractions`, from `FIRST_ROW` on.
enum { IS_SOLID = 1, WAS_SOLID = 2, MAY_CUT = 4, IS_ONLY = 8, ABOVE = 4 };
enum { UNKNOWN, NOWHERE, FIRST_ROW };

// How the cells of a part of a place are: each for itself, or all of them alike. Above, for how many moves they have been alike, and a bit for each
// cell whose links a scanned surface may cut, and whether only one such surface is near.
enum { MIXED, EMPTY, FILLED, ALIKE = 3, TIMES = 2, MARKS = 4, ALL_MARKS = 255, IS_ALONE = 1 << 12 };

// All shapes, of which some may be met: those of a list, or the first so many. With a list, maybe also the leaves of their trees that are near:
// those of a shape begin where those of the one before it end. Surfaces of the first so many triangles are scanned: each triangle finds the links
// that it meets. Where one of these is alone in a list, `fractions` says where paths meet it.
typedef struct {
    int count;
    const {{ int }} *list, *leaves;
    const {{ int }} *kinds;
    const double *numbers;
    const {{ int }} *tree;
    const double *boxes, *triangles;
    const {{ int }} *meets, *bits, *columns;
    int scanned, is_alone;
} Solids;

// A block and what is around it.
typedef struct {
    const {{ int }} *form, *place;
    int level;
    const {{ int }} *neighbours, *rows, *states;
    const double *fractions;
} Block;

// The places of a level, in a table of all places by a hash of where they are.
typedef struct {
    const {{ int }} *places, *map;
    int entries, from, to;
} Map;

// A link of a cell of a place: the cell, the one that it comes from, its number among all links of places, and where it is in `links`.
typedef struct {
    int of_place, cell, direction;
    Spot here, upwind;
    int number;
    size_t at;
} Link;

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

{{ inline }} int is_same(const Spot a, const Spot b)
{
    return (a.x == b.x) & (a.y == b.y) & (a.z == b.z);
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

// The interval of a range, divided into so many, in which a fraction of it lies; those at the ends reach beyond it.
{{ inline }} int interval_of(const double fraction, const int count)
{
    return (int)fmin(fmax(floor(fraction * (double)count), 0.0), (double)(count - 1));
}

// Whether a point is inside a surface: a ray from it along x leaves more often than it enters, or less often. The triangles that it may
// meet are those of its column, the one that ends last first. In voxels that no triangle comes near it is known.
{{ function }} int surrounds(const Solids solids, const {{ int }} *kinds, const double *numbers, const Point at)
{
    const Point low = point(numbers + 15), high = point(numbers + 18);
    if (!is_between(at, low, high)) return 0;
    const {{ int }} *const columns = solids.columns + kinds[6];
    const double along_x = (at.x - low.x) / (high.x - low.x), along_y = (at.y - low.y) / (high.y - low.y), along_z = (at.z - low.z) / (high.z - low.z);
    const int voxel = interval_of(along_x, columns[2]), of_row = (columns[2] + IN_WORD - 1) / IN_WORD;
    const size_t voxel_row = (size_t)interval_of(along_z, columns[4]) * (size_t)columns[3] + (size_t)interval_of(along_y, columns[3]);
    const int known = columns[(size_t)columns[5] + voxel_row * (size_t)of_row + (size_t)(voxel / IN_WORD)] >> 2 * (voxel % IN_WORD) & 3;
    if (known < UNDECIDED) return known;
    const int row = interval_of(along_y, columns[0]), layer = interval_of(along_z, columns[1]);
    const {{ int }} *const begin = columns + HEAD + layer * columns[0] + row, *const listed = columns + HEAD + 1 + columns[0] * columns[1];
    const int x_at = interval_of(along_x, INTERVALS);
    const unsigned y_at = (unsigned)(interval_of(along_y, OF_COLUMN * columns[0]) - OF_COLUMN * row) % OF_COLUMN;
    const unsigned z_at = (unsigned)(interval_of(along_z, OF_COLUMN * columns[1]) - OF_COLUMN * layer) % OF_COLUMN;
    int windings = 0, is_past = 0;
    for (int number = begin[0]; number < begin[1] && !is_past; number += ABREAST) {
        unsigned near = 0;
        for (int beside = 0; beside < ABREAST; ++beside) {
            const {{ int }} *const entry = listed + ENTRY * (size_t)least(number + beside, begin[1] - 1);
            const unsigned reach = (unsigned)entry[1];
            const int is_there = (y_at >= (reach & 255u)) & (y_at <= (reach >> 8 & 255u)) & (z_at >= (reach >> 16 & 255u)) & (z_at <= reach >> 24);
            // Those that come next end even before this one.
            is_past |= x_at > entry[0];
            near |= (unsigned)(is_there & (x_at <= entry[0]) & (number + beside < begin[1])) << beside;
        }
        for (; near != 0; near &= near - 1) {
            const double *const corners = solids.triangles + TRIANGLE * (size_t)(kinds[7] + listed[ENTRY * (size_t)(number + LOWEST(near)) + 2]);
            // A bit for each corner: whether it is further than the point along x, along y, along z.
            const int x = (corners[0] > at.x) | (corners[3] > at.x) << 1 | (corners[6] > at.x) << 2;
            const int y = (corners[1] > at.y) | (corners[4] > at.y) << 1 | (corners[7] > at.y) << 2;
            const int z = (corners[2] > at.z) | (corners[5] > at.z) << 1 | (corners[8] > at.z) << 2;
            if ((x == 0) | (y == 0) | (y == 7) | (z == 0) | (z == 7)) continue;
            const int leaves = passes(corners, corners + 3, at) + passes(corners + 3, corners + 6, at) + passes(corners + 6, corners, at);
            if (leaves == 0) continue;
            // The ray meets the plane of the triangle ahead of the point, or all of the triangle is ahead.
            const Point normal = point(corners + 9);
            const double over = dot(normal, minus(at, point(corners)));
            if (x == 7 || (normal.x > 0 && over < 0) || (normal.x < 0 && over > 0)) windings += leaves;
        }
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

{{ inline }} int is_scanned(const Solids solids, const int shape)
{
    const {{ int }} *const kinds = solids.kinds + INTS * (size_t)shape;
    return solids.scanned > 0 && kinds[0] == SURFACE && kinds[7] < solids.scanned;
}

// The fraction of a path at which it first meets the surface of a shape, by its number among those that may be met.
{{ within }} double crossing(const Solids solids, const int at, const Point begin, const Point end)
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

// Whether a path from a point in space to one that is next to it along axes and diagonals may meet a shape that is not scanned, by its number among
// those that may be met.
{{ function }} int is_near(const Solids solids, const int at, const Point from, const Point reach)
{
    const int shape = shape_of(solids, at);
    const {{ int }} *const kinds = solids.kinds + INTS * (size_t)shape;
    const double *const numbers = solids.numbers + NUMBERS * (size_t)shape, *const of = numbers + 15;
    if (is_scanned(solids, shape) || !overlap(numbers + 23, along(from, -1, reach), along(from, 1, reach))) return 0;
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
    all.is_alone = near[LISTED - 1] & IS_ALONE;
    return all;
}

// Whether the cells of a part and their links are what they were before the last moves.
{{ inline }} int is_settled(const {{ int }} *near)
{
    return (near[LISTED - 1] >> TIMES & ALIKE) == SETTLED;
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

// The direction with a velocity, -1 if there is none.
{{ inline }} int direction_of(const {{ int }} *form, const int x, const int y, const int z)
{
    return form[DIRECTIONS + 4 * Q + x + 1 + 3 * (y + 1 + 3 * (z + 1))];
}

// Cells of a level along an axis of the grid.
{{ inline }} int cells_along(const Block block, const int axis)
{
    return block.form[5 + axis] << block.level;
}

{{ inline }} int is_mirror(const Block block, const int face)
{
    return block.form[9] >> face & 1;
}

{{ inline }} Spot spot_of(const int cell)
{
    const Spot found = { cell % WIDTH, cell / WIDTH % HEIGHT, cell / (WIDTH * HEIGHT) };
    return found;
}

// The part in which a cell is.
{{ inline }} int part_of(const Spot at)
{
    return at.x / SIDE + PARTS_WIDE * (at.y / SIDE + PARTS_TALL * (at.z / SIDE));
}

// The link with a number among all links of places.
{{ inline }} Link link_with(const int number, const {{ int }} *form, const {{ int }} *places)
{
    const int cell = number % CELLS, direction = number / CELLS % Q, of_place = number / CELLS / Q;
    const {{ int }} *const c = form + DIRECTIONS + 4 * direction;
    const Spot here = spot_of(cell), upwind = { here.x - c[0], here.y - c[1], here.z - c[2] };
    const Link found = {
        of_place, cell, direction, here, upwind, number, ((size_t)places[5 * (size_t)of_place] * Q + (size_t)direction) * CELLS + (size_t)cell
    };
    return found;
}

// The bit of a cell among those of its part.
{{ inline }} int mark_of(const Spot at)
{
    return 1 << (at.x % SIDE + SIDE * (at.y % SIDE + SIDE * (at.z % SIDE)));
}

// The centre of a cell of a level.
{{ inline }} Point middle(const int level, const int x, const int y, const int z)
{
    const double width = 1.0 / (1 << level);
    const Point found = { ((double)x + 0.5) * width, ((double)y + 0.5) * width, DIM == 3 ? ((double)z + 0.5) * width : 0.0 };
    return found;
}

{{ inline }} Point centre(const Block block, const Spot at)
{
    return middle(block.level, block.place[2] + at.x, block.place[3] + at.y, block.place[4] + at.z);
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
        const int side = axis == 0 ? WIDTH : axis == 1 ? HEIGHT : DEPTH, first = block.place[2 + axis], count = cells_along(block, axis);
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
    return row < 0 ? 0 : block.states[(size_t)row * CELLS + (size_t)cell];
}

{{ inline }} int is_in_solid(const int state)
{
    return state >= 0 && (state & IS_SOLID);
}

// Where a path through a symmetry plane meets a shape: it is shorter after reflection.
{{ function }} double crossing_in_mirror(const Solids solids, const Block block, const int at, const Point from, const Point to)
{
    const Point middle = { 0.5 * (from.x + to.x), 0.5 * (from.y + to.y), 0.5 * (from.z + to.z) }, turn = seen(block, middle);
    const double before = crossing(solids, at, seen(block, from), turn);
    return before <= 1 ? 0.5 * before : 0.5 + 0.5 * crossing(solids, at, turn, seen(block, to));
}

// Whether a cell is in the domain, not beyond one of its ends.
{{ inline }} int is_within(const Block block, const Spot at)
{
    int within = 1;
    for (int axis = 0; axis < DIM; ++axis) {
        const int place = block.place[2 + axis] + spot_on(at, axis);
        within &= place >= 0 && place < cells_along(block, axis);
    }
    return within;
}

// The fraction of the path from a cell, of which a state is known, to one next to it at which it first meets the scanned surface that is alone;
// negative where no triangle has said so.
{{ inline }} double scanned_part(const Solids solids, const Block block, const Spot here, const Spot there, const int state)
{
    const int row = state >> ABOVE;
    // Images of a shape, and paths through symmetry planes, are others.
    if (!solids.is_alone || row <= UNKNOWN || !is_within(block, here) || is_beyond(block, there)) return -1;
    if (row == NOWHERE) return NEVER;
    const {{ int }} direction = direction_of(block.form, here.x - there.x, here.y - there.y, here.z - there.z);
    return direction < 0 ? -1 : block.fractions[(size_t)(row - FIRST_ROW) * Q + (size_t)direction];
}

// The surface that is first on the path from one cell, of which a state is known, to another.
{{ within }} Met met(const Solids solids, const Block block, const Spot here, const Spot there, const int state)
{
    const double known = scanned_part(solids, block, here, there, state);
    Met found = { -1, NEVER };
    if (known >= 0 && solids.count == 1) {
        if (known <= 1) found.shape = shape_of(solids, 0), found.part = known;
        return found;
    }
    const Point from = centre(block, here), to = centre(block, there), begin = seen(block, from), end = seen(block, to);
    const Point way = minus(to, from), straight = minus(end, begin);
    const int is_straight = dot(straight, straight) == dot(way, way);
    for (int number = 0; number < solids.count; ++number) {
        const double part = known >= 0 && is_scanned(solids, shape_of(solids, number)) ? known
            : is_straight ? crossing(solids, number, begin, end)
            : crossing_in_mirror(solids, block, number, from, to);
        if (part <= 1 && part < found.part) {
            found.shape = shape_of(solids, number);
            found.part = part;
        }
    }
    return found;
}

// Whether the fluid can flow between a cell and the next one along an axis.
{{ inline }} int is_open(const Solids solids, const Block block, const Spot at, const int axis)
{
    const Spot next = moved(at, axis, 1);
    if (leaves(block, at) || leaves(block, next)) return 0;
    const int state = state_of(block, at), state_of_next = state_of(block, next);
    if (is_in_solid(state) || is_in_solid(state_of_next)) return 0;
    const Met there = met(solids, block, at, next, state);
    if (there.shape < 0) return 1;
    const Met back = met(solids, block, next, at, state_of_next);
    return back.shape < 0 || !(there.part + back.part < 1 - TOUCH);
}

// Ways along the axes from a cell to one next to it: along the edges of the box that both span, or one cell aside. Edges have numbers: those of
// the box, then for each side the one that leads there, those of the box there, and the one that leads back.
typedef struct {
    Spot from, to, step;
    int axes, edges;  // along which the cells differ, and edges of the box
} Ways;

{{ inline }} Ways ways_between(const Spot from, const Spot to)
{
    Ways found = { from, to, { to.x - from.x, to.y - from.y, to.z - from.z }, 0, 0 };
    for (int axis = 0; axis < DIM; ++axis) found.axes += spot_on(found.step, axis) != 0;
    found.edges = found.axes << (found.axes - 1);
    return found;
}

// How many edges there are.
{{ inline }} int edges_of(const Ways ways)
{
    return ways.edges + 2 * (DIM - ways.axes) * (ways.edges + 2);
}

// The axis with a number among those along which the cells differ, or among the others.
{{ inline }} int axis_with(const Ways ways, int number, const int differs)
{
    int found = 0;
    for (int axis = 0; axis < DIM; ++axis) {
        if ((spot_on(ways.step, axis) != 0) == differs && number-- == 0) found = axis;
    }
    return found;
}

// Whether the fluid can flow along an edge.
{{ inline }} int is_way(const Solids solids, const Block block, const Ways ways, const int edge)
{
    const int aside = edge - ways.edges, of_side = aside % (ways.edges + 2), half = ways.axes - 1;
    const int is_aside = aside >= 0, is_across = is_aside && (of_side == 0 || of_side > ways.edges), of_box = is_aside ? of_side - 1 : edge;
    const int beside = axis_with(ways, aside / (ways.edges + 2) / 2, 0), by = aside / (ways.edges + 2) % 2 ? 1 : -1;
    Spot from = is_across && of_side > 0 ? ways.to : ways.from;
    int axis = beside, step = by;
    if (!is_across) {
        if (is_aside) from = moved(from, beside, by);
        // The edges of a box along an axis begin at the corners that are a step along some of the other axes.
        const int number = of_box >> half, others = of_box & ((1 << half) - 1);
        const int corner = (others & ((1 << number) - 1)) | others >> number << (number + 1);
        for (int other = 0; other < ways.axes; ++other) {
            const int along = axis_with(ways, other, 1);
            if (corner >> other & 1) from = moved(from, along, spot_on(ways.step, along));
        }
        axis = axis_with(ways, number, 1), step = spot_on(ways.step, axis);
    }
    return is_open(solids, block, step < 0 ? moved(from, axis, -1) : from, axis);
}

// Whether a shortest way leads through a box, along those of its edges that are open.
{{ inline }} unsigned leads(const Ways ways, const unsigned open)
{
    const unsigned e0 = open, e1 = open >> 1, e2 = open >> 2, e3 = open >> 3;
    if (ways.axes == 1) return e0 & 1;
    if (ways.axes == 2) return ((e0 & e3) | (e2 & e1)) & 1;
    // Those along the second axis, and along the third.
    const unsigned f0 = open >> 4, f1 = open >> 5, f2 = open >> 6, f3 = open >> 7, g0 = open >> 8, g1 = open >> 9, g2 = open >> 10, g3 = open >> 11;
    return ((((e0 & f1) | (f0 & e1)) & g3) | (((e0 & g1) | (g0 & e2)) & f3) | (((f0 & g2) | (g0 & f2)) & e3)) & 1;
}

// Whether a way leads from one cell to the other, along edges that are open: a shortest one or one with a step aside.
{{ inline }} int is_led(const Ways ways, const unsigned open)
{
    unsigned found = leads(ways, open);
    for (int first = ways.edges; first < edges_of(ways); first += ways.edges + 2) {
        found |= open >> first & open >> (first + ways.edges + 1) & leads(ways, open >> (first + 1));
    }
    return (int)found;
}

// Whether a way leads from one cell of a link to the other.
{{ function }} int has_way(const Solids solids, const Block block, const Link link)
{
    const Ways ways = ways_between(link.here, link.upwind);
    unsigned open = 0;
    for (int edge = 0; edge < edges_of(ways) && !is_led(ways, open); ++edge) open |= (unsigned)is_way(solids, block, ways, edge) << edge;
    return is_led(ways, open);
}

// Whether edges that are open, and from bit `MOST_EDGES` on those that are not, say whether a way leads from one cell to the other.
{{ inline }} int is_decided(const Ways ways, const unsigned known)
{
    const unsigned all = (1u << edges_of(ways)) - 1;
    return is_led(ways, known) || ((known | known >> MOST_EDGES) & all) == all;
}

// The surface that is first on the link of a cell from another, of both of which states are known. If it is in doubt whether it cuts the link, `is_cut` is
// 0: if fluid can flow from one cell to the other another way, it does not.
{{ inline }} Met cut_by(const Solids solids, const Block block, const Link link, const int own, const int state, int *is_cut)
{
    Met found = met(solids, block, link.here, link.upwind, own);
    const int is_in = is_in_solid(state);
    *is_cut = 1;
    if (found.shape < 0 && is_in) {
        // A centre on a surface may be inside without a crossing, because of round-off.
        found.shape = shape_at(solids, seen(block, centre(block, link.upwind)));
        found.part = 1;
        if (found.shape < 0) found.shape = 0;
    } else if (found.shape >= 0 && !is_in) {
        // Fluid passes between two cells although the path from one to the other meets a surface.
        if (met(solids, block, link.upwind, link.here, state).shape < 0) found.shape = -1;
        else *is_cut = 0;
    }
    return found;
}

// Whether a solid has left a cell.
{{ inline }} int is_left(const int own)
{
    return !(own & IS_SOLID) && (own & WAS_SOLID);
}

// Nothing cuts a link. If a solid has left the cell, it may be filled from the one that the link comes from.
{{ inline }} void uncut(const Block block, const Link link, const int own, const int state, {{ int }} *beside)
{
    if (is_left(own) && state >= 0 && !(state & (IS_SOLID | WAS_SOLID)) && !is_beyond(block, link.upwind)) beside[link.number] = 1;
}

// Writes a link that a surface cuts. Each link that meets a solid that rotates has a wall of its own, with the local velocity.
{{ inline }} void write_cut(
    const Solids solids, const Block block, const Link link, const Met found, {{ int }} *links, REAL *distances, {{ int }} *wall_rules,
    REAL *wall_values, {{ int }} *owners)
{
    const int surface = block.form[10] + solids.kinds[INTS * (size_t)found.shape + 1], at = solids.kinds[INTS * (size_t)found.shape + 3];
    const double distance = found.part < LEAST_DISTANCE ? LEAST_DISTANCE : found.part;
    const int wall = at < 0 ? surface : block.form[11] + link.number;
    distances[link.at] = (REAL)distance;
    links[link.at] = wall + 1;
    if (at < 0) return;
    const Point from = centre(block, link.here), to = centre(block, link.upwind);
    const double *const rate = solids.numbers + NUMBERS * (size_t)found.shape + 29;
    const Point arm = minus(seen(block, along(from, distance, minus(to, from))), point(rate)), turn = cross(point(rate + 6), arm);
    const double velocity[3] = { rate[3] + turn.x, rate[4] + turn.y, rate[5] + turn.z };
    const size_t stride = (size_t)block.form[12];
    wall_rules[wall] = wall_rules[surface];
    owners[wall] = -(found.shape + 2);
    for (size_t value = 0; value < stride; ++value) wall_values[(size_t)wall * stride + value] = wall_values[(size_t)surface * stride + value];
    for (int axis = 0; axis < DIM; ++axis) wall_values[(size_t)wall * stride + (size_t)(at + axis)] = (REAL)velocity[axis];
}

// ==== triangles =====================================================================================================

{{ inline }} float lowest_of(const float *of)
{
    const float low = of[0] < of[1] ? of[0] : of[1];
    return low < of[2] ? low : of[2];
}

{{ inline }} float highest_of(const float *of)
{
    const float high = of[0] > of[1] ? of[0] : of[1];
    return high > of[2] ? high : of[2];
}

// What is found of the links near scanned triangles: which they are, or marks of their cells, or where paths from these meet triangles.
typedef struct {
    const {{ int }} *form;
    int level;
    Map map;
    {{ int }} *passages, *passed;
    const {{ int }} *listed, *counts;
    int room;
    {{ int }} *marks;
    const {{ int }} *states;
    double *fractions;
} Scan;

// A triangle that is scanned: its shape, its number among all triangles, itself, and the bounding box of its leaf.
typedef struct {
    int shape, number;
    const double *numbers, *corners, *box;
} Triangle;

// The place with a cell of the level, -1 if there is none.
{{ inline }} int place_with(const Map map, const Spot at)
{
    if (at.x < 0 || at.y < 0 || at.z < 0) return -1;
    const Spot block = { at.x / WIDTH, at.y / HEIGHT, at.z / DEPTH };
    for (unsigned entry = {{ hash[0] }}u * (unsigned)block.x ^ {{ hash[1] }}u * (unsigned)block.y ^ {{ hash[2] }}u * (unsigned)block.z;; ++entry) {
        const {{ int }} place = map.map[entry & (unsigned)(map.entries - 1)], *const lowest = map.places + 5 * (size_t)place + 2;
        if (place < 0) return -1;
        const int is_there = (lowest[0] == block.x * WIDTH) & (lowest[1] == block.y * HEIGHT) & (lowest[2] == block.z * DEPTH);
        if (is_there && place >= map.from && place < map.to) return place;
    }
}

// Marks a cell whose link comes near a triangle.
{{ inline }} void mark(const Scan scan, const Spot at)
{
    const int place = place_with(scan.map, at);
    if (place < 0) return;
    const {{ int }} *const lowest = scan.map.places + 5 * (size_t)place + 2;
    const Spot here = { at.x - lowest[0], at.y - lowest[1], at.z - lowest[2] };
    const size_t part = (size_t)place * PARTS + (size_t)part_of(here);
    SET_BITS(scan.marks[part], mark_of(here));
}

// Finds where the path from a cell to one next to it meets a triangle.
{{ inline }} void measure(const Scan scan, const Triangle triangle, const Spot at, const Spot upwind)
{
    const int place = place_with(scan.map, at), direction = direction_of(scan.form, at.x - upwind.x, at.y - upwind.y, at.z - upwind.z);
    if (place < 0 || direction < 0) return;
    const {{ int }} *const of = scan.map.places + 5 * (size_t)place;
    const int cell = at.x - of[2] + WIDTH * (at.y - of[3] + HEIGHT * (at.z - of[4]));
    const int row = scan.states[(size_t)of[0] * CELLS + (size_t)cell] >> ABOVE;
    if (row < FIRST_ROW) return;
    const Point from = in_frame(triangle.numbers, middle(scan.level, at.x, at.y, at.z));
    const Point to = in_frame(triangle.numbers, middle(scan.level, upwind.x, upwind.y, upwind.z));
    const double part = pierces(triangle.corners, from, minus(to, from));
    const Point low = { fmin(from.x, to.x), fmin(from.y, to.y), fmin(from.z, to.z) };
    const Point high = { fmax(from.x, to.x), fmax(from.y, to.y), fmax(from.z, to.z) };
    if (part > 1 || !overlap(triangle.box, low, high)) return;
    // The bits of numbers are in their order only without a sign.
    LEAST_OF(scan.fractions[(size_t)(row - FIRST_ROW) * Q + (size_t)direction], part > 0 ? part : 0);
}

// Looks at a link near a triangle, from its first cell to its second or back.
{{ inline }} void look(const Scan scan, const Triangle triangle, const Spot first, const {{ int }} *c, const int back)
{
    const Spot second = { first.x + c[0], first.y + c[1], first.z + c[2] };
    if (scan.marks) mark(scan, back ? second : first);
    else measure(scan, triangle, back ? second : first, back ? first : second);
}

// Lists a link near a triangle, if one of its cells is in the domain.
{{ inline }} void note(const Scan scan, const Triangle triangle, const Spot first, const {{ int }} *c, const int way, const int list)
{
    for (int axis = 0; axis < DIM; ++axis) {
        const int place = spot_on(first, axis), next = place + c[axis], end = scan.form[5 + axis] << scan.level;
        if ((place < 0 && next < 0) || (place >= end && next >= end)) return;
    }
    const int number = NEXT_OF(scan.passed[APART * list]);
    if (number >= scan.room) {
        // All writers write the same.
        scan.passed[APART * LISTS] = 1;
        return;
    }
    {{ int }} *const passage = scan.passages + 5 * ((size_t)list * (size_t)scan.room + (size_t)number);
    passage[0] = first.x, passage[1] = first.y, passage[2] = first.z;
    passage[3] = triangle.number, passage[4] = triangle.shape * VELOCITIES + way;
}

// The corners of a triangle, in cells of a level relative to one of them.
typedef struct {
    Spot base;
    float x[3], y[3], z[3];
} Corners;

{{ inline }} Point corner_of(const Triangle triangle, const int level, const int corner)
{
    const double *const numbers = triangle.numbers, count = 1 << level;
    const Point off = minus(point(triangle.corners + 3 * corner), point(numbers + 12));
    const Point at = along(along(along(point(numbers + 9), off.x, point(numbers)), off.y, point(numbers + 3)), off.z, point(numbers + 6));
    const Point found = { at.x * count - 0.5, at.y * count - 0.5, at.z * count - 0.5 };
    return found;
}

// Whether cells can be counted where a triangle is; then its corners.
{{ inline }} int are_at_hand(const Triangle triangle, const int level, Corners *found)
{
    const Point first = corner_of(triangle, level, 0);
    if (!(fabs(first.x) + fabs(first.y) + fabs(first.z) < FAR)) return 0;
    const Point base = { floor(first.x), floor(first.y), floor(first.z) };
    found->base.x = (int)base.x, found->base.y = (int)base.y, found->base.z = (int)base.z;
    for (int corner = 0; corner < 3; ++corner) {
        const Point at = minus(corner_of(triangle, level, corner), base);
        found->x[corner] = (float)at.x, found->y[corner] = (float)at.y, found->z[corner] = (float)at.z;
    }
    return 1;
}

// Finds the links along a way, there and back, that come near a triangle; the first component of the way that is not 0 is 1. In two
// coordinates that a displacement along it leaves as they are, the triangle covers points of a grid, each of them a line of cells.
{{ inline }} void scan_along(const Scan scan, const Triangle triangle, const Corners corners, const {{ int }} *c, const int way, const int list)
{
    const int axis = c[0] != 0 ? 0 : c[1] != 0 ? 1 : 2, by_one = axis == 0 ? c[1] : c[0], by_other = axis == 2 ? c[1] : c[2];
    float a[3], b[3], rise[3];
    for (int corner = 0; corner < 3; ++corner) {
        const float x = corners.x[corner], y = corners.y[corner], z = corners.z[corner];
        rise[corner] = axis == 0 ? x : axis == 1 ? y : z;
        a[corner] = (axis == 0 ? y : x) - (float)by_one * rise[corner];
        b[corner] = (axis == 2 ? y : z) - (float)by_other * rise[corner];
    }
    const float low_a = lowest_of(a), high_a = highest_of(a), low_b = lowest_of(b), high_b = highest_of(b);
    const int first_i = (int)ceilf(low_a - WITHIN), last_i = (int)floorf(high_a + WITHIN);
    const int first_j = (int)ceilf(low_b - WITHIN), last_j = (int)floorf(high_b + WITHIN);
    if (first_i > last_i || first_j > last_j) return;
    const int first_k = (int)ceilf(lowest_of(rise) - 1 - WITHIN), last_k = (int)floorf(highest_of(rise) + WITHIN);
    // A normal of the triangle in these coordinates, and how far points may lie beyond its edges and its plane.
    const float to_a[3] = { a[1] - a[0], a[2] - a[1], a[0] - a[2] }, to_b[3] = { b[1] - b[0], b[2] - b[1], b[0] - b[2] };
    const float up = rise[1] - rise[0], down = rise[0] - rise[2];
    const float normal_a = up * to_b[2] - to_b[0] * down, normal_b = to_a[0] * down - up * to_a[2], normal = to_b[0] * to_a[2] - to_a[0] * to_b[2];
    const float sign = normal < 0 ? -1 : 1, beyond = -WITHIN * (high_a - low_a + high_b - low_b);
    const float off = WITHIN * (fabsf(normal_a) + fabsf(normal_b) + fabsf(normal));
    for (int j = first_j; j <= last_j; ++j) {
        for (int i = first_i; i <= last_i; ++i) {
            int is_beside = 0;
            for (int edge = 0; edge < 3; ++edge) {
                is_beside |= sign * (to_a[edge] * ((float)j - b[edge]) - to_b[edge] * ((float)i - a[edge])) < beyond;
            }
            if (is_beside) continue;
            const float level = normal_a * ((float)i - a[0]) + normal_b * ((float)j - b[0]);
            for (int k = first_k; k <= last_k; ++k) {
                const float begin = level + normal * ((float)k - rise[0]), end = begin + normal;
                if ((begin > off && end > off) || (begin < -off && end < -off)) continue;
                const Spot here = {
                    corners.base.x + (axis == 0 ? k : i + c[0] * k), corners.base.y + (axis == 1 ? k : (axis == 0 ? i : j) + c[1] * k),
                    corners.base.z + (axis == 2 ? k : j + c[2] * k)
                };
                if (scan.passages) note(scan, triangle, here, c, way, list);
                else for (int back = 0; back < 2; ++back) look(scan, triangle, here, c, back);
            }
        }
    }
}

{{ inline }} Triangle triangle_of(const Solids solids, const int shape, const int number, const {{ int }} *leaf_of)
{
    const double *const numbers = solids.numbers + NUMBERS * (size_t)shape, *const corners = solids.triangles + TRIANGLE * (size_t)number;
    const int leaf = solids.kinds[INTS * (size_t)shape + 4] + leaf_of[number];
    const Triangle found = { shape, number, numbers, corners, solids.boxes + 6 * (size_t)leaf };
    return found;
}

// Whether paths meet a triangle. Cells may be solid on one side of it alone also where they do not.
{{ inline }} int is_met(const Solids solids, const int shape, const int number)
{
    const {{ int }} *const kinds = solids.kinds + INTS * (size_t)shape;
    return kinds[5] < 0 || solids.meets[(size_t)(kinds[5] + number - kinds[7])];
}

// The part of a worker in a scan of all scanned surfaces. Workers side by side look at triangles side by side, along the same way.
{{ inline }} void scan_all(const Scan scan, const Solids solids, const {{ int }} *leaf_of, const int worker, const int workers)
{
    const {{ int }} *const ways = scan.form + DIRECTIONS + 4 * Q + VELOCITIES;
    for (int shape = 0; shape < solids.count; ++shape) {
        if (!is_scanned(solids, shape)) continue;
        const {{ int }} *const kinds = solids.kinds + INTS * (size_t)shape, count = solids.tree[3 * (size_t)kinds[4] + 1];
        for (int item = worker; item < count * TURNS; item += workers) {
            const int number = kinds[7] + item % count;
            if (scan.fractions && !is_met(solids, shape, number)) continue;
            const Triangle triangle = triangle_of(solids, shape, number, leaf_of);
            Corners corners;
            if (!are_at_hand(triangle, scan.level, &corners)) continue;
            for (int way = item / count; way < ways[0]; way += TURNS) scan_along(scan, triangle, corners, ways + 1 + 3 * way, way, item / ASIDE % LISTS);
        }
    }
}

// The same of the links that are listed near triangles; of all triangles if a list was full.
{{ inline }} void scan_listed(const Scan scan, const Solids solids, const {{ int }} *leaf_of, const int worker, const int workers)
{
    if (scan.counts[APART * LISTS]) {
        const Scan whole = { scan.form, scan.level, scan.map, 0, 0, 0, 0, 0, scan.marks, scan.states, scan.fractions };
        scan_all(whole, solids, leaf_of, worker, workers);
        return;
    }
    const {{ int }} *const ways = scan.form + DIRECTIONS + 4 * Q + VELOCITIES;
    for (int item = worker; item < 2 * scan.room * LISTS; item += workers) {
        const int at = item / 2, list = at / scan.room;
        if (at % scan.room >= scan.counts[APART * list]) continue;
        const {{ int }} *const passage = scan.listed + 5 * (size_t)at;
        const int shape = passage[4] / VELOCITIES, number = passage[3];
        if (scan.fractions && !is_met(solids, shape, number)) continue;
        const Spot first = { passage[0], passage[1], passage[2] };
        look(scan, triangle_of(solids, shape, number, leaf_of), first, ways + 1 + 3 * (passage[4] % VELOCITIES), item % 2);
    }
}

// ==== kernels =======================================================================================================

{% <kernel of={kernel.place}> %}
    const {{ int }} item = items[at], solid = item / RATES, of = item % RATES;
    if (item < shapes * INTS) kinds[item] = all_kinds[(size_t)entry * (size_t)(shapes * INTS) + (size_t)item];
    if (item < shapes * NUMBERS) numbers[item] = all_numbers[(size_t)entry * (size_t)(shapes * NUMBERS) + (size_t)item];
    if (solid < solids && velocities[solid] >= 0) {
        const double rate = all_rates[(size_t)entry * (size_t)(solids * RATES) + (size_t)item];
        if (of < 9) rates[9 * (size_t)solid + (size_t)of] = rate;
        else if (of < 9 + DIM) {
            frames[(size_t)solid * DIM + (size_t)(of - 9)] = rate;
            wall_values[(size_t)velocities[solid] + (size_t)(of - 9)] = (REAL)rate;
        }
    }
{%- </kernel> %}

{% <kernel of={kernel.pass}> %}
    const Solids solids = { shapes, 0, 0, kinds, numbers, tree, boxes, triangles, meets, bits, columns, scanned, 0 };
    const Map nowhere = { 0, 0, 0, 0, 0 };
    const Scan scan = { form, level, nowhere, passages, passed, 0, 0, room, 0, 0, 0 };
    scan_all(scan, solids, leaf_of, items[at], workers);
{%- </kernel> %}

{% <kernel of={kernel.mark}> %}
    const Solids solids = { shapes, 0, 0, kinds, numbers, tree, boxes, triangles, meets, bits, columns, scanned, 0 };
    const Map places_of_level = { places, map, entries, from, to };
    const Scan scan = { form, level, places_of_level, 0, 0, passages, passed, room, marks, 0, 0 };
    scan_listed(scan, solids, leaf_of, items[at], workers);
{%- </kernel> %}

{% <kernel of={kernel.list}> %}
    const {{ int }} item = items[at];
    const int part = item % PARTS;
    {{ int }} *const list = near_shapes + LISTED * (size_t)item, *const leaves = near_leaves + LEAVES * (size_t)item;
    const Solids solids = { shapes, 0, 0, kinds, numbers, tree, boxes, triangles, meets, bits, columns, scanned, 0 };
    const Block block = { form, places + 5 * (size_t)(item / PARTS), level, 0, 0, 0, 0 };
    // The cells of the part and those next to them.
    const Spot from = { part % PARTS_WIDE * SIDE, part / PARTS_WIDE % PARTS_TALL * SIDE, part / (PARTS_WIDE * PARTS_TALL) * SIDE };
    const Spot first = { from.x - 1, from.y - 1, DIM == 3 ? from.z - 1 : 0 };
    const Spot last = { least(from.x + SIDE, WIDTH), least(from.y + SIDE, HEIGHT), DIM == 3 ? least(from.z + SIDE, DEPTH) : 0 };
    const Point low = along(centre(block, first), NEXT - 1, minus(centre(block, first), centre(block, last)));
    const Point high = along(centre(block, last), NEXT - 1, minus(centre(block, last), centre(block, first)));
    if (item == first_part) near_counts[2 * level] = near_counts[2 * level + 1] = 0;
    // The links that this move has listed are read once more; the next one begins anew.
    for (int list = APART * (item - first_part); list < COUNTS; list += APART * parts) passed[COUNTS + list] = passed[list], passed[list] = 0;
    const {{ int }} *const marks_of_place = marks + (size_t)(item / PARTS) * PARTS;
    const int marked = marks[item];
    int found = 0, near = 0, cells = EMPTY, scans = 0, scans_near = 0;
    for (int shape = 0; shape < shapes; ++shape) {
        scans += is_scanned(solids, shape) && overlap(numbers + NUMBERS * (size_t)shape + 23, low, high);
    }
    for (int shape = 0; shape < shapes; ++shape) {
        if (!overlap(numbers + NUMBERS * (size_t)shape + 23, low, high)) continue;
        if (scans == 1 && is_scanned(solids, shape)) {
            if (!marked) {
                // It passes between no two of the cells. Where it passes between none of the whole block, all parts look at the same cell.
                int is_whole = 1;
                for (int other = 0; other < PARTS; ++other) is_whole &= !marks_of_place[other];
                const Spot lowest = { 0, 0, 0 };
                if (contains(solids, shape, seen(block, centre(block, is_whole ? lowest : from)))) cells = FILLED;
                continue;
            }
        } else if (kinds[INTS * (size_t)shape] == SURFACE) {
            const int before = near;
            near = list_leaves(solids, shape, low, high, leaves + 1, before);
            if (near == before && near < LEAVES) {
                // None of its triangles is near: each cell is inside, or none.
                if (contains(solids, shape, along(low, 0.5, minus(high, low)))) cells = FILLED;
                continue;
            }
        }
        scans_near += is_scanned(solids, shape);
        if (found < MOST) list[1 + found] = shape, list[1 + MOST + found] = near;
        ++found;
    }
    list[0] = cells == FILLED ? 0 : found <= MOST ? found : -1;
    // The leaves of a surface that is alone are not listed: the tree has them where they are needed.
    leaves[0] = near < LEAVES && !(scans == 1 && marked) ? near : -1;
    if (cells == EMPTY && found > 0) cells = MIXED;
    const int before = list[LISTED - 1], times = cells != MIXED && (before & ALIKE) == cells ? (before >> TIMES & ALIKE) + 1 : 0;
    list[LISTED - 1] = cells | (times < SETTLED ? times : SETTLED) << TIMES | marked << MARKS | (scans_near == 1 ? IS_ALONE : 0);
{%- </kernel> %}

{% <kernel of={kernel.occupy}> %}
    const {{ int }} item = items[at], of = item / CELLS, cell = item % CELLS, *const place = places + 5 * (size_t)of;
    const Block block = { form, place, level, 0, 0, 0, 0 };
    const Spot at_cell = spot_of(cell);
    const size_t part = (size_t)of * PARTS + (size_t)part_of(at_cell);
    const {{ int }} *const near = near_shapes + LISTED * part;
    // A write of 0 to each mark that is set, by all cells of its part.
    if (near[LISTED - 1] >> MARKS & ALL_MARKS) marks[part] = 0;
    if (is_settled(near)) {{ kernel.occupy.skip }};
    const int alike = near[LISTED - 1] & ALIKE, is_marked = alike == MIXED && (near[LISTED - 1] >> MARKS & mark_of(at_cell));
    int found = alike == FILLED ? IS_SOLID : is_marked ? MAY_CUT : 0;
    if (alike == MIXED) {
        const Solids all = { shapes, 0, 0, kinds, numbers, tree, boxes, triangles, meets, bits, columns, scanned, 0 };
        const Solids solids = those_near(all, near, near_leaves + LEAVES * part);
        const double width = NEXT / (1 << level);
        const Point here = seen(block, centre(block, at_cell)), reach = { width, width, DIM == 3 ? width : 0 };
        if (shape_at(solids, here) >= 0) found = IS_SOLID;
        for (int number = 0; number < solids.count && !found; ++number) found = is_near(solids, number, here, reach) ? MAY_CUT : 0;
    }
    {{ int }} *const state = states + (size_t)place[0] * CELLS + (size_t)cell;
    const int was = *state & IS_SOLID, is_left = was && !(found & IS_SOLID), rows = CELLS / SHARE;
    int row = is_marked && found == MAY_CUT ? UNKNOWN : NOWHERE;
    if (of >= own_from && of < own_to && (found & MAY_CUT || is_left)) {
        const int number = NEXT_OF(near_counts[2 * level]);
        near_cells[(size_t)own_from * CELLS + (size_t)number] = item;
        if (row == UNKNOWN && number < (own_to - own_from) * rows) {
            row = FIRST_ROW + own_from * rows + number;
            for (int direction = 0; direction < Q; ++direction) fractions[(size_t)(row - FIRST_ROW) * Q + (size_t)direction] = NEVER;
        }
    }
    const int is_only = row >= FIRST_ROW && !was && near[0] == 1 && near[LISTED - 1] & IS_ALONE && form[9] == 0;
    *state = found | (was ? WAS_SOLID : 0) | (is_only ? IS_ONLY : 0) | row << ABOVE;
    for (int direction = 0; direction < Q; ++direction) {
        const size_t link = ((size_t)place[0] * Q + (size_t)direction) * CELLS + (size_t)cell;
        links[link] = found & IS_SOLID ? -1 : 0;
        distances[link] = (REAL)0.5;
    }
{%- </kernel> %}

{% <kernel of={kernel.scan}> %}
    const Solids solids = { shapes, 0, 0, kinds, numbers, tree, boxes, triangles, meets, bits, columns, scanned, 0 };
    const Map places_of_level = { places, map, entries, from, to };
    const Scan scan = { form, level, places_of_level, 0, 0, passages, passed + COUNTS, room, 0, states, fractions };
    scan_listed(scan, solids, leaf_of, items[at], workers);
{%- </kernel> %}

{% <kernel of={kernel.cut}> %}
    const int cells_near = near_counts[2 * level], links_near = cells_near * Q;
    for (int number = items[at]; number < links_near; number += workers) {
        // One direction after the other: what cells side by side meet along it is alike.
        const {{ int }} item = near_cells[(size_t)own_from * CELLS + (size_t)(number % cells_near)];
        const Link link = link_with((item / CELLS * Q + number / cells_near) * CELLS + item % CELLS, form, places);
        const {{ int }} *const place = places + 5 * (size_t)link.of_place;
        const int own = states[(size_t)place[0] * CELLS + (size_t)link.cell];
        const Block block = { form, place, level, neighbours, rows, states, fractions };
        const size_t part = (size_t)link.of_place * PARTS + (size_t)part_of(link.here);
        const int state = state_of(block, link.upwind);
        // Most links are met by nothing, or end in the only solid that is near, and where is known.
        const double known = own & IS_ONLY ? fractions[(size_t)((own >> ABOVE) - FIRST_ROW) * Q + (size_t)link.direction] : NEVER;
        if (own & IS_ONLY && !is_in_solid(state) && known > 1) continue;
        if (is_left(own)) beside[link.number] = 0;
        if (leaves(block, link.upwind) || is_same(link.here, link.upwind)) continue;
        const Solids all = { shapes, 0, 0, kinds, numbers, tree, boxes, triangles, meets, bits, columns, scanned, 0 };
        Met found = { -1, NEVER };
        if (known <= 1 && is_in_solid(state)) {
            found.shape = near_shapes[LISTED * part + 1];
            found.part = known;
        } else if (own & MAY_CUT) {
            const Solids solids = those_near(all, near_shapes + LISTED * part, near_leaves + LEAVES * part);
            int is_cut;
            found = cut_by(solids, block, link, own, state, &is_cut);
            const int entry = is_cut ? 0 : NEXT_OF(near_counts[2 * level + 1]);
            if (!is_cut && entry < (own_to - own_from) * CELLS) {
                {{ int }} *const detour = detours + 2 * ((size_t)own_from * CELLS + (size_t)entry);
                detour[0] = link.number, detour[1] = 0;
                continue;
            }
            // More than are listed.
            if (!is_cut && has_way(solids, block, link)) found.shape = -1;
        }
        if (found.shape < 0) uncut(block, link, own, state, beside);
        else write_cut(all, block, link, found, links, distances, wall_rules, wall_values, owners);
    }
{%- </kernel> %}

{% <kernel of={kernel.detour}> %}
    const int listed = least(near_counts[2 * level + 1], (own_to - own_from) * CELLS);
    for (int number = items[at]; number < listed * MOST_EDGES; number += workers) {
        {{ int }} *const detour = detours + 2 * ((size_t)own_from * CELLS + (size_t)(number / MOST_EDGES));
        const Link link = link_with(detour[0], form, places);
        const Ways ways = ways_between(link.here, link.upwind);
        const int edge = number % MOST_EDGES;
        // Those that come later are not needed where others have decided it.
        if (edge >= edges_of(ways) || is_decided(ways, (unsigned)detour[1])) continue;
        const {{ int }} *const place = places + 5 * (size_t)link.of_place;
        const Block block = { form, place, level, neighbours, rows, states, fractions };
        const size_t part = (size_t)link.of_place * PARTS + (size_t)part_of(link.here);
        const Solids all = { shapes, 0, 0, kinds, numbers, tree, boxes, triangles, meets, bits, columns, scanned, 0 };
        const Solids solids = those_near(all, near_shapes + LISTED * part, near_leaves + LEAVES * part);
        // The edge that decides it writes what has been found.
        const unsigned own_bits = is_way(solids, block, ways, edge) ? 1u << edge : 1u << (MOST_EDGES + edge);
        const unsigned before = (unsigned)SET_BITS(detour[1], (int)own_bits), now = before | own_bits;
        if (is_decided(ways, before) || !is_decided(ways, now)) continue;
        const int own = states[(size_t)place[0] * CELLS + (size_t)link.cell];
        if (is_led(ways, now)) uncut(block, link, own, state_of(block, link.upwind), beside);
        else write_cut(all, block, link, met(solids, block, link.here, link.upwind, own), links, distances, wall_rules, wall_values, owners);
    }
{%- </kernel> %}

{% <kernel of={kernel.uncover}> %}
    const int carriers = form[13];
    const {{ int }} item = items[at], *const place = places + 5 * (size_t)(item / CELLS);
    const Solids solids = { shapes, 0, 0, kinds, numbers, tree, boxes, triangles, meets, bits, columns, scanned, 0 };
    const Block block = { form, place, level, 0, 0, 0, 0 };
    const int cell = item % CELLS, own = states[(size_t)place[0] * CELLS + (size_t)cell];
    around[item] = {{ unchanged }};
    if (!(own & IS_SOLID) == !(own & WAS_SOLID)) {{ kernel.uncover.skip }};
    around[item] = 0;
    towards[item] = -1;
    for (int axis = 0; axis < DIM; ++axis) velocities[(size_t)item * DIM + (size_t)axis] = 0;
    // A cell that a solid has entered is at rest.
    const Spot here = spot_of(cell);
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
        const int is_in = beside[((size_t)(item / CELLS) * Q + (size_t)c[3]) * CELLS + (size_t)cell];
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
