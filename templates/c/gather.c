{% component gather(name, walls, inbox, @real, @stored, @middle, @deep) -%}
static inline __attribute__((always_inline)) void {{ name }}(
    {{ real }} *restrict to, const {{ stored }} *restrict src, const int32_t *restrict near,
{%- if walls %}
    const int32_t *restrict wall_rules, const {{ real }} *restrict wall_values,
{%- endif %}
{%- if inbox %}
    const int mask, const {{ real }} *restrict in,
{%- endif %}
    const int begin, const int i, const int cx, const int cy, const int cz)
{
    for (int line = begin; line < begin + ROWS; ++line, to += BX) {
        const int y = line % BY, z = line / BY;
        const int dy = y - cy < 0 ? -1 : y - cy >= BY ? 1 : 0, dz = z - cz < 0 ? -1 : z - cz >= BZ ? 1 : 0;
        const int entry = {{ middle }} + 3 * dy{% if deep %} + 9 * dz{% endif %};
        const int row = BX * (y - cy - dy * BY + BY * (z - cz - dz * BZ));
{%- for end in [false, true] %}
{%- if end %}
        // The one that is reached through the end of the row.
        if (cx != 0) {
            const int from = entry - cx, first = cx > 0 ? 0 : BX - 1, last = first + 1, upwind = row + BX - 1 - first;
{%- else %}
        // The cells of the row but for one.
        {
            const int from = entry, first = cx > 0, last = BX - (cx < 0), upwind = row + (cx < 0);
{%- endif %}
{%- if inbox %}
            if (mask >> from & 1) {
                for (int x = first; x < last; ++x) to[x] = in[inbox_at(i, (Spot){ {x, y{% if deep %}, z{% endif %}} })];
            } else
{%- endif %}
{%- if walls %}
            if (near[from] < 0) {
                for (int x = first; x < last; ++x) {
                    to[x] = from_wall(-1 - near[from], i, (Spot){ {x, y{% if deep %}, z{% endif %}} }, src, near, wall_rules, wall_values);
                }
            } else
{%- endif %}
            load_row(to + first, src, near[from], i, upwind, {% if end %}1{% else %}BX - (cx != 0){% endif %});
        }
{%- endfor %}
    }  // rows
}
{%- endcomponent gather %}
