// What a direction brings to a cell of a block: from a cell of the same level{% if walls %}, or off a wall{% endif %}.
{%- if ghosts %} One from a coarser cell is not needed.{% endif %}
{{ inline }} {{ real }} arrives(
    const int direction, const Spot here, const {{ stored }} *src, const {{ int }} *near
    {%- if walls %}, const {{ int }} *wall_rules, const {{ real }} *wall_values{% endif %})
{
    const Spot upwind = beyond(here, direction, -1);
    const {{ int }} from = near[neighbour_of(upwind)];
    if (from >= 0) return load(src, from, direction, index_of(upwind));
{%- if ghosts %}
    if (from == COARSER) return load(src, near[{{ middle }}], direction, index_of(here));
{%- endif %}
{%- if walls %}
    return from_wall(-1 - from, direction, here, src, near, wall_rules, wall_values);
{%- else %}
    return {{ nan }};
{%- endif %}
}

