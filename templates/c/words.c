{# What C for a host has words of its own for. -#}
{% component prelude(resident) -%}
{%- endcomponent prelude %}

{% component quotient() -%}
// above / below.
static inline double quotient(const double above, const double below)
{
    return above / below;
}
{%- endcomponent quotient %}

{% component again(@real) -%}
// The value. What is computed from it is computed again, and need not lie in a register since it was first computed.
static inline {{ real }} again(const {{ real }} value)
{
    return value;
}
{%- endcomponent again %}

{% component halves(@inline, @real, @half_scale, @moments) -%}
#ifndef __FLT16_MAX__
#error "numbers in 16 bits need a compiler with _Float16: GCC 12 or clang 15; or take f32"
#endif
{{ inline }} {{ real }} widened(const uint16_t value)
{
    _Float16 half;
    memcpy(&half, &value, sizeof half);
    return ({{ real }})half * (1 / {{ half_scale }});
}
{%- if not moments %}

{{ inline }} uint16_t narrowed(const {{ real }} value)
{
    const _Float16 half = (_Float16)(value * {{ half_scale }});
    uint16_t narrow;
    memcpy(&narrow, &half, sizeof half);
    return narrow;
}
{%- endif %}
{%- endcomponent halves %}

{% component bits() -%}
static inline unsigned bits_of(const float value)
{
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of(const unsigned bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
{%- endcomponent bits %}

{% component narrowed_cut() -%}
// A number that has been cut in 16 bits, without digits beyond these.
static inline uint16_t narrowed(const unsigned bits)
{
    const _Float16 half = (_Float16)float_of(bits & ~0x1fffu);
    uint16_t narrow;
    memcpy(&narrow, &half, sizeof half);
    return narrow;
}
{%- endcomponent narrowed_cut %}

{# What is the work of several threads elsewhere has one. -#}
{% component together() -%}
#define BARRIER
#define LANES_BARRIER
#define SET_BITS(place, bits) ((place) |= (bits))
#define ADD(place, value) ((place) += (value))

enum { LANES = 1 };  // threads that run in step
typedef int Votes;  // a bit for each of them

static inline Votes votes_for(const int vote)
{
    return vote != 0;
}

static inline int votes_before(const Votes votes, const int lane)
{
    return votes & ((1 << lane) - 1);
}

static inline int number_of(const Votes votes)
{
    return votes;
}
{%- endcomponent together %}

{# A row asks for one value at a time. -#}
{% component all_seen_behind() -%}
{%- endcomponent all_seen_behind %}

{% component tables_of_seen(@walls, @inbox) -%}
{%- if walls or inbox %}
{{<shown_of_seen />}}
{%- endif %}
{%- if walls %}

{{<from_of_seen />}}
{%- endif %}
{%- if inbox %}

{{<ways_of_seen />}}
{%- endif %}
{%- endcomponent tables_of_seen %}
