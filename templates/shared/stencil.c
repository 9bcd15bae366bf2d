{% component stencil(of, how, name, from, decl, sample, @real) -%}
// {{ of.doc }}, at a coarse cell along an axis, from the coarse cells of its samples that there are.
{{ how }} {{ real }} {{ name }}(
    {{ decl }}, const Spot cell, const int direction, const int axis)
{
    const int point[] = { {{- of.points -}} };
    {{ real }} v[{{ of.count }}];
    int has[{{ of.count }}];
    for (int at = 0; at < {{ of.count }}; ++at) has[at] = {{ sample }}({{ from }}, cell, axis, point[at], direction, &v[at]);
    {{<weighted sets={of.sets} />}}
}
{%- endcomponent stencil %}

{% component weighted(sets) -%}
{% for set in sets -%}
    if ({{ set.condition }}) {
{%- for line in set.lines %}
        {{ line }}
{%- endfor %}
    }
    {% endfor -%}
    return 0;
{%- endcomponent weighted %}
