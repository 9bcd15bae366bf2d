{# Numbers that are stored in 16 bits. -#}
{% component numbers(of, @inline) -%}
// Numbers of 16 bits (IEEE 754 binary16) that stand for {{ of }} times a power of two, so that most of their range is used.
{{<halves />}}

{{<bits />}}

// The bits of all that is stored of a cell, well mixed: where its chance begins.
{{ inline }} unsigned mixed(unsigned chance)
{
    chance = (chance ^ chance >> 16) * 0x7feb352du;
    chance = (chance ^ chance >> 15) * 0x846ca68bu;
    return chance ^ chance >> 16;
}

{% endcomponent numbers %}

{# Populations: rounding by chance. -#}
{% component chance(@inline, @real, @reduce) -%}
// What is left of a value that is stored and loaded.
{{ inline }} {{ real }} as_stored(const {{ real }} value)
{
    return widened(narrowed(value));
}

// A value that becomes the number of 16 bits below or above it when it is rounded to the nearest, on average itself: 23 bits of chance move it by
// up to half of the distance between such numbers, 2^-10 of the power of two below it.
{{ inline }} {{ real }} moved_by_chance(const {{ real }} value, const unsigned bits)
{
    const {{ real }} power = float_of(bits_of(value) & 0x7f800000u), part = float_of(bits | 0x3a800000u) - 0x1.8p-10f;
    return value + power * part;
}

// Moves the populations of a cell before they are rounded, so that they are right on average: in a slow flow they change by less than half of
// the last digit in a step, and to the nearest they would stay what they are. Chance is made of the bits of all of them and of the place of the
// cell in its block, so it is the same whoever computes the cell; each number of it serves two.
{{ inline }} void move_by_chance({{ real }} *f, const int cell)
{
    unsigned chance = (unsigned)cell;
    UNROLL for (int i = 0; i < {{ reduce.summed }}; i += 2) {
        chance = chance * 0x9e3779b1u + bits_of(f[i]) + (i + 1 < {{ reduce.summed }} ? bits_of(f[i + 1]) << 1 : 0);
    }
    chance = mixed(chance);
    UNROLL for (int i = 0; i < {{ reduce.summed }}; i += 2) {
        f[i] = moved_by_chance(f[i], chance >> 9);
        if (i + 1 < {{ reduce.summed }}) f[i + 1] = moved_by_chance(f[i + 1], chance << 7 & 0x7fffffu);
        chance = chance * 0x2c9277b5u + 0xac564b05u;
    }
}

{% endcomponent chance %}

{% component widen(value) -%}
widened({{ value }})
{%- endcomponent widen %}

{% component narrow(value) -%}
narrowed({{ value }})
{%- endcomponent narrow %}

{# States keep all that they have. -#}
{% component rounded(value, @halves) -%}
{% if halves is number -%}
(i < {{ halves }} ? as_stored({{ value }}) : {{ value }})
{%- else -%}
as_stored({{ value }})
{%- endif %}
{%- endcomponent rounded %}

{% component by_chance(cell) -%}
move_by_chance(f, {{ cell }});
    {% endcomponent by_chance %}

{# A state has the 32 bits that it is computed with, in two rows: the upper half, then the lower one. -#}
{% component load_state(pitch, @halves) -%}
{% if halves is number -%}
if (direction >= {{ halves }}) {
        const size_t upper = at(slot, 2 * direction - {{ halves }}, cell);
        return float_of((unsigned)populations[upper] << 16 | populations[upper + {{ pitch }}]);
    }
    {% endif -%}
{% endcomponent load_state %}

{% component store_state(pitch, @halves) -%}
{% if halves is number -%}
if (direction >= {{ halves }}) {
        const size_t upper = at(slot, 2 * direction - {{ halves }}, cell);
        populations[upper] = (uint16_t)(bits_of(value) >> 16), populations[upper + {{ pitch }}] = (uint16_t)bits_of(value);
        return;
    }
    {% endif -%}
{% endcomponent store_state %}

{# Moments: how they are widened. -#}
{% component digits(@inline, @real, @moments) -%}
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

{% endcomponent digits %}

{# How they are rounded. -#}
{% component rounding(@inline, @real, @moments, @half_exponent) -%}
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
{%- for own in moments.digits %}
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

{% endcomponent rounding %}

{% component load_all(pitch, @moments) -%}
{% if moments.groups -%}
    uint16_t narrow[{{ moments.number }}];
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
{%- else -%}
    widen_moments(populations + at(slot, 0, cell), {{ pitch }}, m);
{%- endif %}
{%- if moments.states > 0 %}
    for (int value = MOMENTS; value < K; ++value) m[value] = load_state(populations, slot, value, cell);
{%- endif %}
{%- endcomponent load_all %}

{% component store_all(@moments) -%}
{% if moments.paired -%}
    unsigned words[({{ moments.number }} + 1) / 2];
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
    for (int number = 0; number < {{ moments.number }}; ++number) populations[at(slot, number, cell)] = (uint16_t)(words[number / 2] >> number % 2 * 16);
{%- endif %}
{%- else -%}
    uint16_t narrow[{{ moments.number }}];
    round_moments(m, 1, cell, narrow);
    for (int number = 0; number < {{ moments.number }}; ++number) populations[at(slot, number, cell)] = narrow[number];
{%- endif %}
{%- if moments.states > 0 %}
    for (int value = MOMENTS; value < K; ++value) store_state(populations, slot, value, cell, m[value]);
{%- endif %}
{%- endcomponent store_all %}

{% component states_in_memory(@inline, @real, @int, @moments) -%}
{% if moments.states > 0 -%}
// The states of a cell, by their numbers among all values. Each has the 32 bits that it is computed with, in two rows: the upper half, then the lower
// one.
{{ inline }} {{ real }} load_state(const uint16_t *populations, const {{ int }} slot, const int value, const int cell)
{
    const int upper = 2 * value - MOMENTS;
    return float_of((unsigned)populations[at(slot, upper, cell)] << 16 | populations[at(slot, upper + 1, cell)]);
}

{{ inline }} void store_state(uint16_t *populations, const {{ int }} slot, const int value, const int cell, const {{ real }} state)
{
    const int upper = 2 * value - MOMENTS;
    populations[at(slot, upper, cell)] = (uint16_t)(bits_of(state) >> 16);
    populations[at(slot, upper + 1, cell)] = (uint16_t)bits_of(state);
}

{% endif -%}
{% endcomponent states_in_memory %}
