// ==== moments in the place of populations ===========================================================================

// Stored of a cell are {{ moments.names }}: sums of its populations, of what these differ by from rest.

{{ inline }} void moments_of(const {{ real }} *f, {{ real }} *m)
{
{%- for line in moments.sums %}
    {{ line }}
{%- endfor %}
}

// Populations after a collision from the moments after it.
{{ inline }} void populations_from(const {{ real }} *m, {{ real }} *f)
{
{%- for input in moments.populations.inputs %}
    const {{ real }} {{ input.text }} = m[{{ input.at }}];
{%- endfor %}
{%- for line in moments.populations.body %}
    {{ line }}
{%- endfor %}

{%- for output in moments.populations.outputs %}
    f[{{ output.at }}] = {{ output.text }};
{%- endfor %}
}

// One of them, as before. Many who need one would otherwise compute all.
{{ inline }} {{ real }} population_from(const {{ real }} *m, const int direction)
{
    switch (direction) {
{%- for one in moments.each %}
    case {{ loop.index0 }}: {
{%- for input in one.inputs %}
        const {{ real }} {{ input.text }} = m[{{ input.at }}];
{%- endfor %}
{%- for line in one.body %}
        {{ line }}
{%- endfor %}
        return {{ one.outputs[0].text }};
    }
{%- endfor %}
    default:
        return 0;
    }
}

{% if half -%}
// The last digits of some moments are those of others, behind their own 11.
{{ inline }} {{ real }} longer(const {{ real }} value, const unsigned digits)
{
    return float_of(bits_of(value) | digits);
}

// The moments of a cell, of which each is `stride` numbers from the one before.
{{ inline }} void widen_moments(const uint16_t *narrow, const int stride, {{ real }} *m)
{
{%- for own in moments.digits %}
    m[{{ loop.index0 }}] = widened(narrow[{{ loop.index0 }} * stride]{% if own.lends > 0 %} & {{ own.kept }}{% endif %});
{%- endfor %}
{%- for lent in moments.lent %}
    m[{{ lent.to }}] = longer(m[{{ lent.to }}], (unsigned)(narrow[{{ lent.from }} * stride] & {{ lent.mask }}) << {{ lent.place }});
{%- endfor %}
}

{% endif -%}
{{ inline }} void load_moments(const {{ stored }} *populations, const {{ int }} slot, const int cell, {{ real }} *m)
{
{%- if moments.groups %}
    uint16_t narrow[K];
{%- for group in moments.groups %}
{%- if group.width == 1 %}
    narrow[{{ group.first }}] = populations[at(slot, {{ group.first }}, cell)];
{%- else %}
    const {{ group.word }} from_{{ group.first }} = *(const {{ group.word }} *)(populations + at(slot, {{ group.first }}, cell));
{%- for word in group.words %}
    narrow[{{ word.first }}] = (uint16_t)from_{{ group.first }}{{ word.part }}, narrow[{{ word.first + 1 }}] = (uint16_t)(from_{{ group.first }}{{ word.part }} >> 16);
{%- endfor %}
{%- endif %}
{%- endfor %}
    widen_moments(narrow, 1, m);
{%- elif half %}
    widen_moments(populations + at(slot, 0, cell), {{ pitch }}, m);
{%- else %}
    for (int number = 0; number < K; ++number) m[number] = populations[at(slot, number, cell)];
{%- endif %}
}

// A population of a cell. Who needs all of them has a better way.
{{ apart }} {{ real }} load(const {{ stored }} *populations, const {{ int }} slot, const int direction, const int cell)
{
    {{ real }} m[K];
    load_moments(populations, slot, cell, m);
    return population_from(m, direction);
}

{% if half -%}
// Adds chance to the last digits of 24, so that it carries into those that stay, leaves these digits out, and multiplies with the power of two.
{{ inline }} unsigned cut(const unsigned bits, const unsigned chance, const int digits)
{
    return (bits + ({{ half_exponent }}u << 23) + (chance >> (32 - digits))) & ~0u << digits;
}

{{<narrowed_cut />}}

// Rounds the moments of a cell up or down by chance, so that they are right on average: in a slow flow they change by less than half of the last
// digit in a step, and to the nearest they would stay what they are. Chance is made of the bits of all of them and of the place of the cell in
// its block, so it is the same whoever computes the cell. Where one moment is no number, or far too large, none will be.
{% if moments.paired -%}
// Words have two moments each.
{{ inline }} void round_moments(const {{ real }} *m, const int cell, unsigned *words)
{% else -%}
// Of a moment to the next it is `stride` values.
{{ inline }} void round_moments(const {{ real }} *m, const int stride, const int cell, uint16_t *narrow)
{% endif -%}
{
    unsigned chance = (unsigned)cell;
    {{ real }} size = 0;
{%- for sum in moments.sums %}
    const unsigned bits_{{ loop.index0 }} = bits_of(m[{{ loop.index0 }}{% if not moments.paired %} * stride{% endif %}]);
    chance = chance * 0x9e3779b1u + bits_{{ loop.index0 }}, size += fabsf(m[{{ loop.index0 }}{% if not moments.paired %} * stride{% endif %}]);
{%- endfor %}
    chance = mixed(chance);
    const {% if moments.paired %}unsigned lost = size < 1e30f ? 0 : 0x7fff7fff{% else %}uint16_t lost = size < 1e30f ? 0 : 0x7fff{% endif %};
{%- for own in moments.digits %}
    const unsigned cut_{{ loop.index0 }} = cut(bits_{{ loop.index0 }}, chance, {{ own.left }});
{%- if not moments.paired %}
    narrow[{{ loop.index0 }} * stride] = narrowed(cut_{{ loop.index0 }}) | lost;
{%- elif loop.index is even or loop.last %}
    words[{{ loop.index0 // 2 }}] = narrowed({% if loop.index is even %}cut_{{ loop.index0 - 1 }}, cut_{{ loop.index0 }}{% else %}cut_{{ loop.index0 }}, 0{% endif %}) | lost;
{%- endif %}
{%- if not loop.last %}
    chance = chance * 0x2c9277b5u + 0xac564b05u;
{%- endif %}
{%- endfor %}
{%- for lent in moments.lent %}
{%- if moments.paired %}
    words[{{ lent.from // 2 }}] = (words[{{ lent.from // 2 }}] & ~({{ lent.mask }}u << {{ lent.half }})) | (cut_{{ lent.to }} >> {{ lent.place }} & {{ lent.mask }}u) << {{ lent.half }};
{%- else %}
    narrow[{{ lent.from }} * stride] = (uint16_t)((narrow[{{ lent.from }} * stride] & ~{{ lent.mask }}u) | (cut_{{ lent.to }} >> {{ lent.place }} & {{ lent.mask }}u));
{%- endif %}
{%- endfor %}
}

{% endif -%}
{{ inline }} void store_moments({{ stored }} *populations, const {{ int }} slot, const int cell, const {{ real }} *m)
{
{%- if half and moments.paired %}
    unsigned words[(K + 1) / 2];
    round_moments(m, cell, words);
{%- for group in moments.groups %}
{%- if group.width == 1 %}
    populations[at(slot, {{ group.first }}, cell)] = (uint16_t)words[{{ group.first // 2 }}];
{%- else %}
    *({{ group.word }} *)(populations + at(slot, {{ group.first }}, cell)) = {{ group.word }}{
{%- for word in group.words -%}
    words[{{ word.first // 2 }}]{% if not loop.last %}, {% endif %}
{%- endfor -%}
    };
{%- endif %}
{%- endfor %}
{%- if not moments.groups %}
    for (int number = 0; number < K; ++number) populations[at(slot, number, cell)] = (uint16_t)(words[number / 2] >> number % 2 * 16);
{%- endif %}
{%- elif half %}
    uint16_t narrow[K];
    round_moments(m, 1, cell, narrow);
    for (int number = 0; number < K; ++number) populations[at(slot, number, cell)] = narrow[number];
{%- else %}
    for (int number = 0; number < K; ++number) populations[at(slot, number, cell)] = m[number];
{%- endif %}
}

// Stores a cell that has these populations.
{{ inline }} void store_cell({{ stored }} *populations, const {{ int }} slot, const int cell, const {{ real }} *f)
{
    {{ real }} m[K];
    moments_of(f, m);
    store_moments(populations, slot, cell, m);
}

