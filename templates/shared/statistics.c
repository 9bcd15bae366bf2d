{% for line in banner -%}
// {{ line }}
{% endfor %}
{{<includes />}}

enum {
    CELLS = {{ bx }} * {{ by }} * {{ bz }},  // of a block
    NEAR = {{ near }},  // neighbours of a block, itself included
    CHILDREN = {{ children }},  // blocks that refine one
    DIM = {{ dim }},  // axes
    FIELDS = {{ fields }},  // components of the macroscopic fields
{%- if reduce %}
    Q = {{ q }},  // directions of links
    COARSER = -2147483647 - 1,  // in the place of a neighbour: it is coarser, or refined
{%- endif %}
};

{{<field_at />}}

{{<spot />}}

{{<spot_of />}}

{{<part_of />}}

{% if reduce -%}
// ==== slopes of the velocity ========================================================================================

{% include "slopes" -%}
{% endif -%}
{% if tables -%}
{{<tables_of />}}

{% endif -%}
{% if noise -%}
{{<noise_of />}}

{% endif -%}
{% for statistic in statistics -%}
// ==== statistic {{ statistic.number }} ===================================================================================================

// Where an accumulator is.
{{ inline }} size_t at_{{ statistic.number }}(const {{ int }} slot, const int accumulator, const int cell)
{
    return (size_t)slot * ({{ statistic.accumulators }} * CELLS) + (size_t)(accumulator * CELLS + cell);
}

// Slope of a mean along an axis, per cell: central; one-sided where a neighbour of the block is of another level or a wall, and 0 where
// both are.
{{<slope name={statistic.slope} array="double" value={statistic.value} />}}

{% <kernel of={statistic.accumulate}> %}
    const double n = 1.0 + samples;
{%- if statistic.slopes %}
    const Forest forest = {nodes, near, children, parents, slots, fields, rows, cut ? links : NULL};
{%- else %}
    (void)nodes, (void)levels, (void)near, (void)children, (void)parents, (void)slots, (void)cut, (void)rows, (void)links;
{%- endif %}
    double *const own = values + at_{{ statistic.number }}(slot, 0, cell);
{%- for line in statistic.body %}
    {{ line }}
{%- endfor %}
{%- </kernel> %}

{% <kernel of={statistic.average}> %}
    for (int at = 0; at < {{ statistic.accumulators }}; ++at) {
        double sum = 0, least = 0, greatest = 0;
        for (int child = 0; child < CHILDREN; ++child) {
            int octant;
            const int fine = part_of(cell, child, &octant);
            const double value = values[at_{{ statistic.number }}(child_slots[(size_t)slot * CHILDREN + octant], at, fine)];
            sum += value;
            if (child == 0 || value < least) least = value;
            if (child == 0 || value > greatest) greatest = value;
        }
        values[at_{{ statistic.number }}(slot, at, cell)] = at < {{ statistic.extremes }} ? sum / CHILDREN : at < {{ statistic.greatest }} ? least : greatest;
    }
{%- </kernel> %}

{% <kernel of={statistic.fill}> %}
    {{ int }} leaves[NEAR];
    for (int place = 0; place < NEAR; ++place) {
        const {{ int }} beside = neighbours[(size_t)slot * NEAR + place];
        leaves[place] = beside < first_covered ? beside : -1;
    }
    for (int at = 0; at < {{ statistic.accumulators }}; ++at) {
        double slopes[DIM];
        for (int axis = 0; axis < DIM; ++axis) {
            slopes[axis] = at < {{ statistic.means }} ? {{ statistic.slope }}(values, at, leaves, slot, cell, axis) : 0.0;
        }
        const double own = values[at_{{ statistic.number }}(slot, at, cell)];
        for (int child = 0; child < CHILDREN; ++child) {
            double away = 0;
            for (int axis = 0; axis < DIM; ++axis) away += child >> axis & 1 ? slopes[axis] : -slopes[axis];
            int octant;
            const int fine = part_of(cell, child, &octant);
            values[at_{{ statistic.number }}(child_slots[(size_t)slot * CHILDREN + octant], at, fine)] = own + 0.25 * away;
        }
    }
{%- </kernel> %}

{% <kernel of={statistic.relocate}> %}
    {{<copy_accumulators number={statistic.number} accumulators={statistic.accumulators} />}}
{%- </kernel> %}

{% endfor -%}
{{<called_by_pointers />}}
