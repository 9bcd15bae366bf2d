// ==== adjoint =======================================================================================================
//
// Derivatives of an objective by populations lie as these do. A step backwards makes those by what becomes of what arrives in a cell to
// those by what arrives, then to those by populations, which each cell takes from the cell that reads them.

{{<collide_backwards />}}

{% for rule in adjoint.rules -%}
// Rule {{ rule.code }}, {{ rule.name }}, backwards: of the derivative by what it sends along a direction.
{{ function }} void {{ rule.function }}(
    const int direction, const {{ real }} weight, const {{ stored }} *src, const {{ int }} slot, const int cell, const {{ real }} distance,
    const {{ real }} *value, {{ real }} *back, double *by)
{
    (void)weight, (void)src, (void)slot, (void)cell, (void)distance, (void)value, (void)back, (void)by;
    switch (direction) {
{%- for link in rule.links %}
    case {{ link.at }}: {
{%- for line in link.lines %}
        {{ line }}
{%- endfor %}
        break;
    }
{%- endfor %}
    default:
        break;
    }
}

{% if rule.streamed -%}
// The same of what arrives in the cell along the opposite direction.
{{ function }} {{ real }} {{ rule.streamed }}(
    const int direction, const {{ real }} weight, const {{ stored }} *src, const {{ int }} slot, const int cell, const {{ real }} distance,
    const {{ real }} *value)
{
    (void)weight, (void)src, (void)slot, (void)cell, (void)distance, (void)value;
    switch (direction) {
{%- for link in rule.links %}
    case {{ link.at }}: {
{%- for line in link.streamed %}
        {{ line }}
{%- endfor %}
    }
{%- endfor %}
    default:
        return 0;
    }
}

{% endif -%}
{% endfor -%}
{% if adjoint.rules -%}
// Of the derivative by what the wall w sends along a direction: adds those by populations of the cell to `back`, and those by values of the
// wall to `by`, if that is no null.
{{ inline }} void wall_backwards(
    const {{ int }} w, const int direction, const {{ real }} weight, const {{ stored }} *src, const {{ int }} slot, const int cell,
    const {{ real }} distance, const {{ int }} *wall_rules, const {{ real }} *wall_values, {{ real }} *back, double *by)
{
    {{ walls.values }}
    switch (wall_rules[w]) {
{%- for rule in adjoint.rules %}
    case {{ rule.code }}:
        {{ rule.function }}(direction, weight, src, slot, cell, distance, {% if adjoint.has_values %}value{% else %}0{% endif %}, back, by);
        break;
{%- endfor %}
    default:
        back[direction * SLAB] = {{ nan }};  // no such rule: NaN stops the run
    }
}

{% if walls.mirrors -%}
// The wall that decides what comes back along a direction, as `meets` says. If it is a mirror, what leaves along the opposite direction is read by the
// image of the cell beyond: `back` gets its derivative.
{{ function }} {{ int }} meets_backwards(
    const {{ int }} w, const int direction, const Spot here, const {{ stored }} *arrived, const {{ int }} *near,
    const {{ int }} *wall_rules, {{ real }} *back)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    Spot reader = beyond(here, direction, -1);
    int code = 0;
    for (int axis = 0, step = 1; axis < DIM; step *= 3, ++axis) {
        int c = -VELOCITY[direction][axis];
        const int side = reader.at[axis] < 0 ? -1 : reader.at[axis] >= width[axis] ? 1 : 0;
        const {{ int }} beside = near[{{ middle }} + side * step];
        if (side != 0 && beside < 0{% if interface %} && beside != COARSER{% endif %}) {
            const {{ int }} rule = wall_rules[-1 - beside];
            if (!({{ walls.mirrors }})) return -1 - beside;
            c = -c, reader.at[axis] = here.at[axis];
        }
        code += step * (c + 1);
    }
    const {{ int }} from = near[neighbour_of(reader)];
    if (from >= 0) back[OPPOSITE[direction] * SLAB] += load(arrived, from, NUMBER[code], index_of(reader));
    return w;
}

{% endif -%}
// Where derivatives by values of the wall w are, those of a cell; null if nothing is derived by them.
{{ inline }} double *by_wall(
    const {{ int }} w, const {{ int }} slot, const int cell, const {{ int }} *groups, const {{ int }} asked, double *by_walls)
{
    const {{ int }} group = groups[w];
    return group < 0 ? 0 : by_walls + ((size_t)slot * (size_t)asked + (size_t)group) * ({{ adjoint.stride }} * CELLS) + cell;
}

{% endif -%}
{% if solids and adjoint.rules -%}
// What the force on a solid adds to the derivatives by what goes to its surface, the wall w, and by what comes back along a direction: see `exchange`.
{{ inline }} {{ real }} pull_of(const {{ int }} w, const int direction, const {{ int }} *owners, const double *pulls)
{
    double pull = 0;
    for (int axis = 0; axis < DIM && owners[w] >= 0 && direction < {{ adjoint.carriers }}; ++axis) {
        pull -= pulls[owners[w] * DIM + axis] * VELOCITY[direction][axis];
    }
    return ({{ real }})pull;
}

{% if adjoint.against -%}
// Of the derivative by what the wall w sends along a direction to a cell: that by what arrives there along the opposite one.
{{ inline }} {{ real }} streamed_backwards(
    const {{ int }} w, const int direction, const {{ real }} weight, const {{ stored }} *src, const {{ int }} slot, const int cell,
    const {{ real }} distance, const {{ int }} *wall_rules, const {{ real }} *wall_values)
{
    {{ walls.values }}
    switch (wall_rules[w]) {
{%- for rule in adjoint.rules %}
{%- if rule.streamed %}
    case {{ rule.code }}:
        return {{ rule.streamed }}(direction, weight, src, slot, cell, distance, {% if adjoint.has_values %}value{% else %}0{% endif %});
{%- endif %}
{%- endfor %}
    default:
        return 0;
    }
}

{% endif -%}
{% endif -%}
{{<stream_functions />}}
{%- for kernel in adjoint.streams -%}
{% <kernel of={kernel.signature}> %}
    const {{ int }} *const near = neighbours + (size_t)slot * NEAR;
{%- if kernel.links %}
    const {{ int }} own_row = link_rows[slot];
    const {{ int }} *const of_row = own_row < 0 ? 0 : links + (size_t)own_row * (Q * CELLS);
{%- endif %}
{{-<stream_backwards of={kernel} />}}
{%- </kernel> %}

{% endfor -%}
{% if adjoint.crossing -%}
// What crosses refinement interfaces is a sum of populations: tables list the shares of each. A value of a place is a direction of a cell.
{% <kernel of={adjoint.crossing.receive}> %}
    const {{ int }} slot = places[2 * (size_t)item], value = places[2 * (size_t)item + 1];
    const {{ real }} weight = load(arrived, slot, value / CELLS, value % CELLS);
    crossed[item] = weight;
    crossed[(size_t)(1 + later) * (size_t)received + (size_t)item] = weight;
{%- </kernel> %}

{% <kernel of={adjoint.crossing.cross}> %}
    const {{ int }} slot = places[2 * (size_t)item], value = places[2 * (size_t)item + 1];
    double sum = 0;
    for ({{ int }} at = begins[item]; at < begins[item + 1]; ++at) sum += factors[at] * (double)crossed[values[at]];
    store(adjoint, slot, value / CELLS, value % CELLS, load(adjoint, slot, value / CELLS, value % CELLS) + ({{ real }})sum);
{%- </kernel> %}

{% if adjoint.crossing.returns -%}
{% <kernel of={adjoint.crossing.returns}> %}
    const {{ int }} slot = places[2 * (size_t)item], cell = places[2 * (size_t)item + 1];
    {{ real }} back[Q * SLAB] = {0};
    for ({{ int }} at = begins[item]; at < begins[item + 1]; ++at) {
        const {{ int }} direction = ways[2 * (size_t)at], w = ways[2 * (size_t)at + 1];
        const {{ real }} weight = ({{ real }})(factors[at] * (double)crossed[values[at]]);
        wall_backwards(w, direction, weight, src, slot, cell, 0, wall_rules, wall_values, back, by_wall(w, slot, cell, groups, asked, by_walls));
        back[OPPOSITE[direction] * SLAB] -= weight;  // what the wall adds to what was sent to it
    }
    for (int i = 0; i < Q; ++i) store(adjoint, slot, i, cell, load(adjoint, slot, i, cell) + back[i * SLAB]);
{%- </kernel> %}

{% endif -%}
{% endif -%}
{% <kernel of={adjoint.macroscopic}> %}
    {{ level }}
    (void)src, (void)by_members;
{%- for line in adjoint.of_fields.idle %}
    {{ line }}
{%- endfor %}
{%- for input in adjoint.of_fields.inputs %}
    const {{ real }} {{ input.text }} = load(src, slot, {{ input.at }}, cell);
{%- endfor %}
{%- for input in adjoint.of_fields.weights %}
    const {{ real }} {{ input.text }} = by_fields[field_at(slot, {{ input.at }}, cell)];
{%- endfor %}
{%- for line in adjoint.of_fields.body %}
    {{ line }}
{%- endfor %}
{%- for output in adjoint.of_fields.outputs %}
    store(adjoint, slot, {{ output.at }}, cell, load(adjoint, slot, {{ output.at }}, cell) + {{ output.text }});
{%- endfor %}
{%- for output in adjoint.of_fields.by_members %}
    by_members[((size_t)slot * {{ adjoint.members }} + {{ output.at }}) * CELLS + (size_t)cell] += {{ output.text }};
{%- endfor %}
{%- </kernel> %}
