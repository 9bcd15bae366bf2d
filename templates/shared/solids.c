// ==== solids ========================================================================================================
//
// Of a block with solids in it, of_row[direction * CELLS + cell] says where a direction comes from: 0 from a cell, or off a wall
// of the domain, as everywhere; w + 1 off the wall w, the surface of a solid or the part of a face at one cell; -1 where the
// cell is solid.

{% for rule in solids.own -%}
{{<rule of={rule} how={function} />}}

{% endfor -%}
{% if solids.against -%}
// What arrives at a cell along the opposite of a direction from another cell; where none is there, what has left it that way.
{{ function }} {{ real }} against(
    const int direction, const Spot here, const {{ stored }} *src, const {{ int }} *near, const {{ int }} *of_row)
{
    const int other = OPPOSITE[direction], cell = index_of(here);
    const Spot upwind = beyond(here, other, -1);
    const {{ int }} from = of_row[other * CELLS + cell] != 0 ? -1 : near[neighbour_of(upwind)];
    return from < 0 ? load(src, near[{{ middle }}], other, cell) : load(src, from, other, index_of(upwind));
}

{% endif -%}
// What the wall w sends along a direction to a cell of the block.
{{ function }} {{ real }} off_solid(
    const {{ int }} w, const int direction, const Spot here, const {{ stored }} *src, const {{ int }} *near, const {{ int }} *of_row,
    const {{ real }} *distances, const {{ int }} *wall_rules, const {{ real }} *wall_values)
{
    const {{ int }} slot = near[{{ middle }}];
    const int cell = index_of(here);
    {{ walls.values }}
    (void)of_row, (void)distances{% if not solids.rules %}, (void)direction, (void)src, (void)slot, (void)cell{% endif %};
    switch (wall_rules[w]) {
{%- for rule in solids.rules %}
    case {{ rule.code }}:
        return {{ rule.function }}(direction, src, slot, cell{{ rule.pass }});
{%- endfor %}
    default:
        return {{ nan }};  // no boundary condition of solids: NaN stops the run
    }
}

// A link that meets a solid that rotates: the solid, the velocity of its surface there, and where that is from the pivot.
typedef struct {
    int body;
    double velocity[3], arm[3];
} Turned;

// Of the wall of a link of its own, by its number among those; places and shapes as `lbm_bundle::cutting` says.
{{ function }} Turned turned(
    const {{ int }} link, const {{ int }} shape, const double distance, const int level, const {{ int }} *form, const {{ int }} *places,
    const {{ int }} *kinds, const double *numbers)
{
    const int cell = link % CELLS, direction = link / CELLS % Q;
    const {{ int }} *const place = places + 5 * (size_t)(link / (Q * CELLS)), *const c = form + {{ solids.form }} + 4 * direction;
    const double *const rate = numbers + {{ solids.numbers }} * (size_t)shape + 29, width = 1.0 / (1 << level);
    const int at[3] = { cell % form[0], cell / form[0] % form[1], cell / (form[0] * form[1]) };
    Turned found = { kinds[{{ solids.ints }} * (size_t)shape + 1], { 0 }, { 0 } };
    for (int axis = 0; axis < DIM; ++axis) {
        const double end = (double)form[5 + axis];
        double on = ((double)(place[2 + axis] + at[axis]) + 0.5 - distance * c[axis]) * width;
        // Beyond a symmetry plane, seen in the mirror.
        if (on < 0 && (form[9] >> (2 * axis) & 1)) on = -on;
        if (on > end && (form[9] >> (2 * axis + 1) & 1)) on = 2 * end - on;
        found.arm[axis] = on - rate[axis];
    }
    const double *const spin = rate + 6, *const arm = found.arm;
    found.velocity[0] = rate[3] + spin[1] * arm[2] - spin[2] * arm[1];
    found.velocity[1] = rate[4] + spin[2] * arm[0] - spin[0] * arm[2];
    found.velocity[2] = rate[5] + spin[0] * arm[1] - spin[1] * arm[0];
    return found;
}

// Adds to `sum` what the link along a direction gives to the wall it meets, if that is the surface of a solid: the momentum of what goes and of what comes back, as stored: beyond
// that of a fluid at rest, whose pressure is the same from all sides. Both are relative to the velocity that the surface moves with, `frame` for a solid
// that does not rotate: Wen, Zhang, Tu, Wang & Fang, J. Comput. Phys. 266 (2014) 161. Then what each set of populations gets from the walls, and the torque
// on a solid that rotates.
{{ function }} void exchange(
    const {{ int }} body, const {{ int }} *owners, const int i, const int cell, const {{ stored }} *src, const {{ int }} *near,
    const {{ int }} *of_row, const {{ real }} *distances, const {{ int }} *wall_rules, const {{ real }} *wall_values, const double *frame,
    const {{ int }} level, const {{ int }} first, const {{ int }} *form, const {{ int }} *places, const {{ int }} *kinds, const double *numbers, double *sum)
{
    const {{ int }} w = of_row[i * CELLS + cell] - 1;
    if (w < 0) return;
    const {{ int }} owner = owners[w];
    if (owner >= -1 && owner != body) return;
    Turned own = { body, { 0 }, { 0 } };
    for (int axis = 0; axis < DIM; ++axis) own.velocity[axis] = frame[axis];
    if (owner < -1) own = turned(w - first, -(owner + 2), (double)distances[i * CELLS + cell], level, form, places, kinds, numbers);
    if (own.body != body) return;
    const {{ real }} back = off_solid(w, i, spot_of(cell), src, near, of_row, distances, wall_rules, wall_values);
    const double there = (double)load(src, near[{{ middle }}], OPPOSITE[i], cell), through = there + (double)back;
    sum[DIM + SET[i]] += (double)back - there;
    double force[3] = {0};
    for (int axis = 0; axis < DIM && i < {{ solids.carriers }}; ++axis) {
        force[axis] = through * VELOCITY[i][axis] + (there - (double)back) * own.velocity[axis];
        sum[axis] -= force[axis];
    }
    for (int axis = 0; axis < 3 && owner < -1; ++axis) {
        const int one = (axis + 1) % 3, other = (axis + 2) % 3;
        sum[DIM + SETS + axis] -= own.arm[one] * force[other] - own.arm[other] * force[one];
    }
}

// Macroscopic fields of a cell from its populations.
{{ inline }} void fields_of(const {{ real }} *f, {{ real }} *fields{% if params %}, const {{ params.name }} params{% endif %})
{
{%- if params %}
    (void)params;
{%- endif %}
{%- if level is containing(pat="width") %}
    const int level = 0;  // observables alone depend on it, and populations do not follow from them
    {{ level }}
{%- endif %}
{%- for line in macroscopic.unpack %}
    {{ line }}
{%- endfor %}
{%- for input in macroscopic.inputs %}
    const {{ real }} {{ input.text }} = f[{{ input.at }}];
{%- endfor %}
{%- for line in macroscopic.body %}
    {{ line }}
{%- endfor %}

{%- for output in macroscopic.outputs %}
    fields[{{ output.at }}] = {{ output.text }};
{%- endfor %}
}

// Populations of a cell in equilibrium from its macroscopic fields.
{{ function }} void populations_of(const {{ real }} *fields, {{ real }} *f{% if params %}, const {{ params.name }} params{% endif %})
{
{%- if params %}
    (void)params;
{%- endif %}
{%- for line in init.unpack %}
    {{ line }}
{%- endfor %}
{%- for input in init.inputs %}
    const {{ real }} {{ input.text }} = fields[{{ input.at }}];
{%- endfor %}
{%- for line in init.body %}
    {{ line }}
{%- endfor %}

{%- for output in init.outputs %}
    f[{{ output.at }}] = {{ output.text }};
{%- endfor %}
}

// Populations of the next cells along a number of directions that are asked for at once, because a GPU waits long for each answer; of
// the cell itself where there is none.
enum { AT_ONCE = 4 };
{{ inline }} void load_next(
    const {{ int }} *directions, const {{ int }} slot, const int cell, const {{ stored }} *populations, const {{ int }} *near, {{ real }} (*f)[Q])
{
    {{ int }} slots[AT_ONCE], cells[AT_ONCE];
    {{ unroll }}for (int of = 0; of < AT_ONCE; ++of) {
        const Spot there = beyond(spot_of(cell), directions[of] < 0 ? 0 : directions[of], 1);
        slots[of] = directions[of] < 0 ? slot : near[neighbour_of(there)];
        cells[of] = directions[of] < 0 ? cell : index_of(there);
    }
    {{ unroll }}for (int of = 0; of < AT_ONCE; ++of) {
        {{ unroll }}for (int i = 0; i < Q; ++i) f[of][i] = load(populations, slots[of], i, cells[of]);
    }
}

// Fills a cell that a solid has left: in equilibrium at the mean of the fields of those next to it in `around` and at the velocity of the solid,
// with the non-equilibrium of the next cell `towards` a direction. Caiazzo, Prog. Comput. Fluid Dyn. 8 (2008) 3.
{{ function }} void refill_cell(
    const {{ int }} slot, const int cell, const int around, const int towards, const double *velocity,
    const {{ int }} *near, {{ stored }} *populations{% if params %}, const {{ params.name }} params{% endif %})
{
    {{ real }} filled[Q], f[AT_ONCE][Q], equilibrium[Q], fields[FIELDS], mean[FIELDS] = {0};
    {{ int }} directions[AT_ONCE];
    int count = 0;
    for (int first = 0; first < {{ solids.carriers }}; first += AT_ONCE) {
        {{ unroll }}for (int of = 0; of < AT_ONCE; ++of) {
            directions[of] = first + of < {{ solids.carriers }} && (around >> (first + of) & 1) ? first + of : -1;
        }
        load_next(directions, slot, cell, populations, near, f);
        {{ unroll }}for (int of = 0; of < AT_ONCE; ++of) {
            if (directions[of] < 0) continue;
            fields_of(f[of], fields{% if params %}, params{% endif %});
            {{ unroll }}for (int component = 0; component < FIELDS; ++component) mean[component] += fields[component];
            ++count;
        }
    }
    for (int component = 0; component < FIELDS && count > 0; ++component) mean[component] /= ({{ real }})count;
{%- if reduce.density is number %}
    if (count == 0) mean[{{ reduce.density }}] = 1;
{%- endif %}
{%- if reduce.velocity is number %}
    for (int axis = 0; axis < DIM; ++axis) mean[{{ reduce.velocity }} + axis] = ({{ real }})velocity[axis];
{%- else %}
    (void)velocity;
{%- endif %}
    populations_of(mean, filled{% if params %}, params{% endif %});
    if (towards >= 0) {
        const Spot next = beyond(spot_of(cell), towards, 1);
        const {{ int }} slot_of_next = near[neighbour_of(next)];
        {{ unroll }}for (int i = 0; i < Q; ++i) f[0][i] = load(populations, slot_of_next, i, index_of(next));
        fields_of(f[0], fields{% if params %}, params{% endif %});
        populations_of(fields, equilibrium{% if params %}, params{% endif %});
        {{ unroll }}for (int i = 0; i < Q; ++i) filled[i] += f[0][i] - equilibrium[i];
    }
    {{<put_cell to="populations" from="filled" />}}
}

// What links of a body exchange: forces and torques, see `exchange`.
typedef struct {
    double of[DIM + SETS + 3];
} Exchanged;

{{ inline }} void merge_exchanged(Exchanged *exchanged, const Exchanged *other)
{
    for (int of = 0; of < DIM + SETS + 3; ++of) exchanged->of[of] += other->of[of];
}

{% <kernel of={solids.force}> %}
    // Of the links of a cell one after the other, those of all cells of a block, then of the next one.
    const size_t values = DIM + SETS + (size_t)torques, of_block = (size_t)CELLS * {{ reduce.summed }}, links_of_all = (size_t)(end - begin) * of_block;
    for (int entry = firsts[block + chunk]; entry < firsts[block + chunk + 1]; ++entry) {
        const int body = solids[entry];
        Exchanged sum = { {0} };
        for (size_t at = (size_t)thread; at < links_of_all; at += (size_t)threads) {
            const {{ int }} slot = ids[begin + (int)(at / of_block)];
            const int link = (int)(at % of_block), i = link % {{ reduce.summed }}, cell = link / {{ reduce.summed }};
            const size_t row_at = (size_t)link_rows[slot] * (Q * CELLS);
            exchange(body, owners, i, cell, src, neighbours + (size_t)slot * NEAR, links + row_at, distances + row_at, wall_rules, wall_values, frames + body * DIM, level, first, form, places, kinds, numbers, sum.of);
        }
        {{<fold type="Exchanged" name="all" value="sum" merge="merge_exchanged" />}}
        double *const to = exchanged + (size_t)(entry - firsts[block]) * (1 + values);
        for (size_t of = 0; thread == 0 && of < values; ++of) to[1 + of] = all.of[of];
        if (thread == 0) to[0] = (double)body;
    }
{%- </kernel> %}

{% <kernel of={solids.refill}> %}
    if (around[item] < 0) {{ solids.refill.skip }};
    const {{ int }} slot = places[5 * (size_t)(item / CELLS) + 1];
    refill_cell(
        slot, item % CELLS, around[item], towards[item], velocities + (size_t)item * DIM, neighbours + (size_t)slot * NEAR,
        populations{% if params %}, params{% endif %});
{%- </kernel> %}

{% if solids.slide -%}
// ==== surfaces that slide ===========================================================================================
//
// The surface of a solid under a boundary layer that cells do not resolve: see `runtime::solids::slides`.

enum {
    ENTRY_OF = {{ solids.slide.entry }},  // whole numbers of a cell beside a surface
    BESIDE_OF = {{ solids.slide.beside }},  // numbers of it
    OWN_AT = BESIDE_OF - DIM,  // where the velocity of the surface is among them
    SHAPE_OF = {{ solids.slide.shape }},  // numbers of the shape of a patch
    SLIP_OF = {{ solids.slide.state }},  // numbers of its state
    LAW_OF = {{ solids.slide.numbers }},  // numbers of a law
};

// Mass and momentum of the samples of a patch.
typedef struct {
    double mass, momentum[DIM];
} Above;

// What links of a cell or of a patch exchange if their walls move as the surface does: the momentum that the fluid loses, and the mass that it gains; velocities of
// walls of their own, and what links give for a part of these.
typedef struct {
    double lost[DIM], gained, needed[DIM], given[DIM], added;
} Slid;

{{ inline }} void merge_above(Above *above, const Above *other)
{
    above->mass += other->mass;
    for (int axis = 0; axis < DIM; ++axis) above->momentum[axis] += other->momentum[axis];
}

{{ inline }} void merge_slid(Slid *slid, const Slid *other)
{
    slid->gained += other->gained;
    slid->added += other->added;
    for (int axis = 0; axis < DIM; ++axis) {
        slid->lost[axis] += other->lost[axis];
        slid->needed[axis] += other->needed[axis];
        slid->given[axis] += other->given[axis];
    }
}

{{ inline }} double scalar_product(const double *one, const double *other)
{
    double sum = 0;
    for (int axis = 0; axis < DIM; ++axis) sum += one[axis] * other[axis];
    return sum;
}

// A wall is not faster than the fluid above.
{{ inline }} void slow_down(double *slide, const double above)
{
    const double fast = sqrt(scalar_product(slide, slide)), slower = fast > above ? above / fast : 1;
    for (int axis = 0; axis < DIM; ++axis) slide[axis] *= slower;
}

// Mass and momentum of a cell, relative to a velocity.
{{ function }} Above sampled_in(const {{ stored }} *src, const {{ int }} slot, const int cell, const double *own)
{
    Above found = { 0, {0} };
    {{ unroll }}for (int i = 0; i < {{ solids.carriers }}; ++i) {
        const double there = load(src, slot, i, cell);
        found.mass += there + REST[i];
        for (int axis = 0; axis < DIM; ++axis) found.momentum[axis] += there * VELOCITY[i][axis];
    }
    for (int axis = 0; axis < DIM; ++axis) found.momentum[axis] -= found.mass * own[axis];
    return found;
}

// What the links of a cell exchange, those of the directions `off`. The pressure at the height of the samples has no part in it.
{{ function }} Slid exchanged_by(
    const {{ int }} off, const {{ int }} w, const int cell, const double density, const double *weights, const {{ int }} *near, const {{ int }} *of_row,
    const {{ real }} *distances, const {{ stored }} *src, const {{ int }} *wall_rules, const {{ real }} *wall_values)
{
    Slid found = { {0}, 0, {0}, {0}, 0 };
    {{ unroll }}for (int i = 0; i < {{ solids.carriers }}; ++i) {
        if (!(off >> i & 1)) continue;
        const double gone = load(src, near[{{ middle }}], OPPOSITE[i], cell);
        const double back = off_solid(w, i, spot_of(cell), src, near, of_row, distances, wall_rules, wall_values);
        const double through = gone + back + 2 * (REST[i] - weights[i] * density);
        found.gained += back - gone;
        for (int axis = 0; axis < DIM; ++axis) found.lost[axis] -= through * VELOCITY[i][axis];
    }
    return found;
}

// y+ of a height whose Reynolds number with the velocity there is known.
{{ inline }} double height_in_layer(const double *law, const double reynolds)
{
    const double place = (log(reynolds > 1e-30 ? reynolds : 1e-30) - {{ solids.slide.from }}) / {{ solids.slide.step }};
    const double low = place < 0 ? 0 : place > LAW_OF - 2 ? LAW_OF - 2 : floor(place);
    const int at = (int)low;
    return exp(law[at] + (place - low) * (law[at + 1] - law[at]));
}

{% <kernel of={solids.slide}> %}
    const int patch = slot;
    const {{ int }} begin = ranges[2 * patch], end = ranges[2 * patch + 1];
    double *const slid = slips + SLIP_OF * (size_t)patch;
    const double *const normal = shapes + SHAPE_OF * (size_t)patch, *const shape = normal + DIM;
    const double area = shape[0], stiffness = shape[1], weight = shape[2], height = shape[3], viscosity = shape[4];
    double before[DIM + 2];
    for (int at = 0; at < DIM + 2; ++at) before[at] = slid[at];
    const double density = before[DIM + 1], mean_of = 1.0 / (double)(end - begin);
    Above samples = { 0, {0} };
    for ({{ int }} entry = begin + thread; entry < end; entry += threads) {
        const {{ int }} *const of = cells + ENTRY_OF * (size_t)entry;
        const double *const normal_at = normals + BESIDE_OF * (size_t)entry;
        const Above here = sampled_in(src, neighbours[(size_t)cut[of[0]] * NEAR + (size_t)of[2]], of[3], normal_at + OWN_AT);
        // The velocity along the surface. It stands where that of the wall will be.
        const double through = scalar_product(here.momentum, normal_at);
        {{ real }} *const values = wall_values + (size_t)(first + entry) * {{ walls.stride }};
        for (int axis = 0; axis < DIM; ++axis) values[slip + axis] = ({{ real }})((here.momentum[axis] - through * normal_at[axis]) / here.mass);
        merge_above(&samples, &here);
    }
    {{<fold type="Above" name="above" value="samples" merge="merge_above" />}}
    double sampled[DIM], slide[DIM], speed = 0;
    const double through = scalar_product(above.momentum, normal) / above.mass;
    for (int axis = 0; axis < DIM; ++axis) {
        sampled[axis] = above.momentum[axis] / above.mass - through * normal[axis];
        speed += sampled[axis] * sampled[axis];
    }
    speed = sqrt(speed);
    const double layer = height_in_layer(laws + LAW_OF * (size_t)shape[5], speed * height / viscosity), friction = layer * viscosity / height;
    const double stress = friction * friction;
    // The velocity of the wall of each cell with which its links take the stress at its sample.
    Slid those = { {0}, 0, {0}, {0}, 0 };
    for ({{ int }} entry = begin + thread; entry < end; entry += threads) {
        const {{ int }} *const of = cells + ENTRY_OF * (size_t)entry, place = cut[of[0]], *const near = neighbours + (size_t)place * NEAR;
        const size_t row_at = (size_t)link_rows[place] * (Q * CELLS);
        const double *const normal_at = normals + BESIDE_OF * (size_t)entry, *const yields = normal_at + DIM;
        const double area_at = yields[DIM * DIM], part = yields[DIM * DIM + 1], *const gives = yields + DIM * DIM + 2;
        {{ real }} *const values = wall_values + (size_t)(first + entry) * {{ walls.stride }};
        double kept[DIM], alone[DIM], taken[DIM];
        for (int axis = 0; axis < DIM; ++axis) kept[axis] = values[slip + axis], values[slip + axis] = ({{ real }})normal_at[OWN_AT + axis];
        values[source_at] = 0;
        Slid own = exchanged_by(of[4], first + entry, of[1], density, weights, near, links + row_at, distances + row_at, src, wall_rules, wall_values);
        // What the links of the cell take of its momentum along the surface, more than the stress at its sample: they follow what comes towards it.
        const Above beside = sampled_in(src, place, of[1], normal_at + OWN_AT);
        const double towards = scalar_product(beside.momentum, normal_at) / beside.mass;
        for (int axis = 0; axis < DIM; ++axis) {
            const double wanted = speed > 0 ? stress * area_at * kept[axis] / speed : 0;
            alone[axis] = own.lost[axis] - towards * scalar_product(gives + DIM * axis, normal_at) - wanted;
        }
        for (int axis = 0; axis < DIM; ++axis) taken[axis] = scalar_product(alone, yields + DIM * axis);
        slow_down(taken, sqrt(scalar_product(kept, kept)));
        for (int axis = 0; axis < DIM; ++axis) {
            values[slip + axis] = ({{ real }})taken[axis];
            own.needed[axis] = taken[axis];
            own.given[axis] = part * scalar_product(gives + DIM * axis, taken);
        }
        own.added = part * scalar_product(gives + DIM * DIM, taken);
        merge_slid(&those, &own);
    }
    {{<fold type="Slid" name="all" value="those" merge="merge_slid" />}}
    // What links take if the patch slides as it did in the last step: what they give is linear in the velocity and in the source.
    const double *const slides = shape + 6, *const differs = slides + DIM * DIM + DIM, *const sources = differs + DIM * DIM + DIM;
    double needed[DIM], lost[DIM];
    for (int axis = 0; axis < DIM; ++axis) needed[axis] = all.needed[axis] * mean_of;
    for (int axis = 0; axis < DIM; ++axis) {
        const double own = all.given[axis] - scalar_product(differs + DIM * axis, needed);
        lost[axis] = all.lost[axis] - scalar_product(slides + DIM * axis, before) - own - before[DIM] * sources[axis];
    }
    const double added = all.added - scalar_product(differs + DIM * DIM, needed) + scalar_product(slides + DIM * DIM, before);
    const double source = before[DIM] - {{ solids.slide.gain }} * (all.gained + added + before[DIM] * sources[DIM]) / weight;
    const double drag = scalar_product(lost, normal);
    for (int axis = 0; axis < DIM; ++axis) {
        const double wanted = speed > 0 ? stress * area * sampled[axis] / speed : 0;
        // In the first step nothing is known of the density.
        slide[axis] = density > 0 ? before[axis] + (lost[axis] - drag * normal[axis] - wanted) / stiffness : needed[axis];
    }
    // On a patch of few cells pressure may take more than the law says.
    slow_down(slide, speed);
    const double mean = above.mass * mean_of;
    if (thread == 0) {
        for (int axis = 0; axis < DIM; ++axis) slid[axis] = slide[axis], slid[DIM + 2 + axis] = sampled[axis];
        slid[DIM] = source, slid[DIM + 1] = density > 0 ? density + {{ solids.slide.filter }} * (mean - density) : mean;
        slid[2 * DIM + 2] = stress, slid[2 * DIM + 3] = layer;
    }
    // The wall of a cell slides as its patch does, and faster or slower as its own links need another velocity than those of the patch on the mean: a
    // wall with one velocity would stop the eddies.
    for ({{ int }} entry = begin + thread; entry < end; entry += threads) {
        const double *const normal_at = normals + BESIDE_OF * (size_t)entry, part = normal_at[DIM + DIM * DIM + 1];
        {{ real }} *const values = wall_values + (size_t)(first + entry) * {{ walls.stride }};
        double along[DIM];
        for (int axis = 0; axis < DIM; ++axis) along[axis] = slide[axis] - part * needed[axis];
        const double out = scalar_product(along, normal_at);
        for (int axis = 0; axis < DIM; ++axis) {
            values[slip + axis] = ({{ real }})(normal_at[OWN_AT + axis] + along[axis] - out * normal_at[axis] + part * (double)values[slip + axis]);
        }
        values[source_at] = ({{ real }})source;
    }
{%- </kernel> %}

{% endif -%}
