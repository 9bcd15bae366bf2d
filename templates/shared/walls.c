// ==== walls =========================================================================================================

{% for rule in walls.rules -%}
{{<rule of={rule} how={inline} />}}

{% endfor -%}
{% if walls.mirrors -%}
// The wall that decides what comes back along a direction that leaves the block through the wall w: where several walls are
// in the way, one that is no symmetry plane. If all are, `mirrored` is what they return: what left the image of the cell
// that the direction comes from.
{{ function }} {{ int }} meets(
    const {{ int }} w, const int direction, const Spot here, const {{ stored }} *src, const {{ int }} *near,
    const {{ int }} *wall_rules, {{ real }} *mirrored)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    Spot upwind = beyond(here, direction, -1);
    int code = 0;
    for (int axis = 0, step = 1; axis < DIM; step *= 3, ++axis) {
        int c = VELOCITY[direction][axis];
        const int side = upwind.at[axis] < 0 ? -1 : upwind.at[axis] >= width[axis] ? 1 : 0;
        const {{ int }} beside = near[{{ middle }} + side * step];
        if (side != 0 && beside < 0{% if interface %} && beside != COARSER{% endif %}) {
            const {{ int }} rule = wall_rules[-1 - beside];
            if (!({{ walls.mirrors }})) return -1 - beside;
            c = -c, upwind.at[axis] = here.at[axis];
        }
        code += step * (c + 1);
    }
    const {{ int }} from = near[neighbour_of(upwind)];
    if (from >= 0) *mirrored = load(src, from, NUMBER[code], index_of(upwind));
    return w;
}

{% endif -%}
// What the wall `across` a direction returns along it to a cell of the block.
{{ inline }} {{ real }} from_wall(
    const {{ int }} across, const int direction, const Spot here, const {{ stored }} *src, const {{ int }} *near,
    const {{ int }} *wall_rules, const {{ real }} *wall_values)
{
    const {{ int }} slot = near[{{ middle }}];
    const int cell = index_of(here);
{%- if walls.mirrors %}
    {{ real }} mirrored = {{ nan }};
    const {{ int }} w = meets(across, direction, here, src, near, wall_rules, &mirrored);
{%- else %}
    const {{ int }} w = across;
{%- endif %}
    {{ walls.values }}
    switch (wall_rules[w]) {
{%- for rule in walls.rules %}
    case {{ rule.code }}:
        return {{ rule.function }}(direction, src, slot, cell{{ rule.pass }});
{%- endfor %}
    default:
        return {{ nan }};  // {% if walls.nodes %}of nodes: not yet, or {% endif %}no such rule: NaN stops the run
    }
}
