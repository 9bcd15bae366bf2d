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

// Adds to `sum` what the links of a cell give to the walls that are surfaces of a solid: the momentum of what goes and of what comes back, as stored: beyond
// that of a fluid at rest, whose pressure is the same from all sides. Both are relative to the velocity `frame` that the solid moves with: Wen,
// Zhang, Tu, Wang & Fang, J. Comput. Phys. 266 (2014) 161. Then what each set of populations gets from the walls.
{{ function }} void exchange(
    const {{ int }} body, const {{ int }} *owners, const int cell, const {{ stored }} *src, const {{ int }} *near, const {{ int }} *of_row,
    const {{ real }} *distances, const {{ int }} *wall_rules, const {{ real }} *wall_values, const double *frame, double *sum)
{
    const Spot here = spot_of(cell);
    for (int i = 0; i < {{ reduce.summed }}; ++i) {
        const {{ int }} w = of_row[i * CELLS + cell] - 1;
        if (w < 0 || owners[w] != body) continue;
        const {{ real }} back = off_solid(w, i, here, src, near, of_row, distances, wall_rules, wall_values);
        const double there = (double)load(src, near[{{ middle }}], OPPOSITE[i], cell), through = there + (double)back;
        sum[DIM + SET[i]] += (double)back - there;
        for (int axis = 0; axis < DIM && i < {{ solids.carriers }}; ++axis) {
            sum[axis] -= through * VELOCITY[i][axis] + (there - (double)back) * frame[axis];
        }
    }
}

// Macroscopic fields of a cell from its populations.
{{ function }} void fields_of(const {{ real }} *f, {{ real }} *fields{% if params %}, const {{ params.name }} params{% endif %})
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

// Populations of the next cell along a direction.
{{ inline }} void load_next(
    const int direction, const Spot here, const {{ stored }} *populations, const {{ int }} *near, {{ real }} *f)
{
    const Spot there = beyond(here, direction, 1);
    for (int i = 0; i < Q; ++i) f[i] = load(populations, near[neighbour_of(there)], i, index_of(there));
}

// Fills a cell that a solid has left: in equilibrium at the mean of the fields of those next to it in `around` and at the velocity of the solid,
// with the non-equilibrium of the next cell `towards` a direction. Caiazzo, Prog. Comput. Fluid Dyn. 8 (2008) 3.
{{ function }} void refill_cell(
    const {{ int }} slot, const int cell, const int around, const int towards, const double *velocity,
    const {{ int }} *near, {{ stored }} *populations{% if params %}, const {{ params.name }} params{% endif %})
{
    const Spot here = spot_of(cell);
    {{ real }} filled[Q], f[Q], equilibrium[Q], fields[FIELDS], mean[FIELDS] = {0};
    int count = 0;
    for (int direction = 0; direction < {{ solids.carriers }}; ++direction) {
        if (!(around >> direction & 1)) continue;
        load_next(direction, here, populations, near, f);
        fields_of(f, fields{% if params %}, params{% endif %});
        for (int component = 0; component < FIELDS; ++component) mean[component] += fields[component];
        ++count;
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
        load_next(towards, here, populations, near, f);
        fields_of(f, fields{% if params %}, params{% endif %});
        populations_of(fields, equilibrium{% if params %}, params{% endif %});
        for (int i = 0; i < Q; ++i) filled[i] += f[i] - equilibrium[i];
    }
    {{<put_cell to="populations" from="filled" />}}
}

// What links of a body exchange: forces and torques, see `exchange`.
typedef struct {
    double of[DIM + SETS];
} Exchanged;

{{ inline }} void merge_exchanged(Exchanged *exchanged, const Exchanged *other)
{
    for (int of = 0; of < DIM + SETS; ++of) exchanged->of[of] += other->of[of];
}

{% <kernel of={solids.force}> %}
    for (int body = 0; body < bodies; ++body) {
        Exchanged sum = { {0} };
        for (size_t entry = (size_t)thread; entry < (size_t)(end - begin) * CELLS; entry += (size_t)threads) {
            const {{ int }} slot = ids[begin + (int)(entry / CELLS)];
            const int cell = (int)(entry % CELLS);
            const size_t row_at = (size_t)rows[slot] * (Q * CELLS);
            exchange(body, owners, cell, src, neighbours + (size_t)slot * NEAR, links + row_at, distances + row_at, wall_rules, wall_values, frames + body * DIM, sum.of);
        }
        {{<fold type="Exchanged" name="all" value="sum" merge="merge_exchanged" />}}
        for (int of = 0; thread == 0 && of < DIM + SETS; ++of) exchanged[((size_t)share * (size_t)bodies + (size_t)body) * (DIM + SETS) + (size_t)of] = all.of[of];
    }
{%- </kernel> %}

{% <kernel of={solids.refill}> %}
    const {{ int }} slot = slots[item];
    refill_cell(
        slot, cells[item], around[item], towards[item], velocities + (size_t)item * DIM, neighbours + (size_t)slot * NEAR,
        populations{% if params %}, params{% endif %});
{%- </kernel> %}
