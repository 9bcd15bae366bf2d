// ==== adjoint =======================================================================================================
//
// Derivatives of an objective by populations lie as these do. A step backwards makes those by what becomes of what arrives in a cell to
// those by what arrives, then to those by populations, which each cell takes from the cell that reads them.

// Makes of derivatives by what a cell becomes those by what has arrived in it, f.
{{ inline }} void collide_backwards(
    const {{ real }} *f, const {{ int }} slot, const int cell, {{ stored }} *adjoint, double *by_members{{ param_decls }})
{
    (void)f, (void)by_members;
{%- for line in adjoint.collide.idle %}
    {{ line }}
{%- endfor %}
{%- for input in adjoint.collide.inputs %}
    const {{ real }} {{ input.text }} = f[{{ input.at }} * SLAB];
{%- endfor %}
{%- for input in adjoint.collide.weights %}
    const {{ real }} {{ input.text }} = load(adjoint, slot, {{ input.at }}, cell);
{%- endfor %}
{%- for line in adjoint.collide.body %}
    {{ line }}
{%- endfor %}
{%- for output in adjoint.collide.outputs %}
    store(adjoint, slot, {{ output.at }}, cell, {{ output.text }});
{%- endfor %}
{%- for output in adjoint.collide.by_members %}
    by_members[((size_t)slot * {{ adjoint.members }} + {{ output.at }}) * CELLS + (size_t)cell] += {{ output.text }};
{%- endfor %}
}

{% for rule in adjoint.rules -%}
// Rule {{ rule.code }}, {{ rule.name }}, backwards: of the derivative by what it sends along a direction.
{{ function }} void {{ rule.function }}(
    const int direction, const {{ real }} weight, const {{ stored }} *src, const {{ int }} slot, const int cell,
    const {{ real }} *value, {{ real }} *back, double *by)
{
    (void)weight, (void)src, (void)slot, (void)cell, (void)value, (void)back, (void)by;
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

{% endfor -%}
{% if adjoint.rules -%}
// Of the derivative by what the wall w sends along a direction: adds those by populations of the cell to `back`, and those by values of the
// wall to `by`, if that is no null.
{{ inline }} void wall_backwards(
    const {{ int }} w, const int direction, const {{ real }} weight, const {{ stored }} *src, const {{ int }} slot, const int cell,
    const {{ int }} *wall_rules, const {{ real }} *wall_values, {{ real }} *back, double *by)
{
    {{ walls.values }}
    switch (wall_rules[w]) {
{%- for rule in adjoint.rules %}
    case {{ rule.code }}:
        {{ rule.function }}(direction, weight, src, slot, cell, {% if adjoint.has_values %}value{% else %}0{% endif %}, back, by);
        break;
{%- endfor %}
    default:
        back[direction] = {{ nan }};  // no such rule: NaN stops the run
    }
}

{% endif -%}
{% for kernel in adjoint.streams -%}
{% <kernel of={kernel.signature}> %}
    const {{ int }} *const near = neighbours + (size_t)slot * NEAR;
{%- if kernel.links %}
    const size_t row_at = (size_t)link_rows[slot] * (Q * CELLS);
    const {{ int }} *const of_row = links + row_at;
    (void)distances;
    if (of_row[cell] < 0) {{ kernel.signature.skip }};
{%- endif %}
    const Spot here = spot_of(cell);
    {{ real }} back[Q];
    UNROLL for (int i = 0; i < Q; ++i) {
        const Spot reader = beyond(here, i, 1);
        const {{ int }} from = near[neighbour_of(reader)];
        back[i] = {% if kernel.walls %}from < 0{% if kernel.links %} || of_row[OPPOSITE[i] * CELLS + cell] != 0{% endif %} ? 0 : {% endif %}load(arrived, from, i, index_of(reader));
    }
{%- if kernel.walls %}
    UNROLL for (int i = 0; i < {{ reduce.summed }}; ++i) {
        const {{ int }} beside = near[neighbour_of(beyond(here, i, -1))];
{%- if kernel.links %}
        const {{ int }} link = of_row[i * CELLS + cell], w = link > 0 ? link - 1 : -1 - beside;
{%- else %}
        const {{ int }} w = -1 - beside;
{%- endif %}
        if (w < 0) continue;
        {{ real }} weight = load(arrived, slot, i, cell);
{%- if kernel.links %}
        if (link > 0 && owners[w] >= 0 && i < {{ adjoint.carriers }}) {
            // The force on a solid is that of what goes and of what comes back: see `exchange`.
            double pull = 0;
            for (int axis = 0; axis < DIM; ++axis) pull -= pulls[owners[w] * DIM + axis] * VELOCITY[i][axis];
            weight += ({{ real }})pull;
            back[OPPOSITE[i]] += ({{ real }})pull;
        }
{%- endif %}
        const {{ int }} group = groups[w];
        double *const by = group < 0 ? 0 : by_walls + ((size_t)slot * (size_t)asked + (size_t)group) * ({{ adjoint.stride }} * CELLS) + cell;
        wall_backwards(w, i, weight, src, slot, cell, wall_rules, wall_values, back, by);
    }
{%- endif %}
    UNROLL for (int i = 0; i < Q; ++i) store(adjoint, slot, i, cell, back[i]);
{%- </kernel> %}

{% endfor -%}
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
