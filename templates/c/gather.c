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
        // The cells of the row but for the one that is reached through its end, then that one.
        for (int part = 0; part < (cx != 0 ? 2 : 1); ++part) {
            const int first = part ? (cx > 0 ? 0 : BX - 1) : cx > 0, last = part ? first + 1 : BX - (cx < 0);
            const int from = part ? entry - cx : entry, shift = part ? (cx > 0 ? 1 - BX : BX - 1) : cx;
{%- if inbox %}
            if (mask >> from & 1) {
                for (int x = first; x < last; ++x) to[x] = in[inbox_at(i, (Spot){ {x, y{% if deep %}, z{% endif %}} })];
                continue;
            }
{%- endif %}
{%- if walls %}
            if (near[from] < 0) {
                for (int x = first; x < last; ++x) {
                    to[x] = from_wall(-1 - near[from], i, (Spot){ {x, y{% if deep %}, z{% endif %}} }, src, near, wall_rules, wall_values);
                }
                continue;
            }
{%- endif %}
            load_row(to + first, src, near[from], i, row + first - shift, last - first);
        }
    }  // rows
}
{%- endcomponent gather %}
