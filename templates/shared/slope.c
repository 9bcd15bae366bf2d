{% component slope(name, array, value, @inline, @real, @int, @middle, @bx, @by, @bz) -%}
{{ inline }} {{ real }} {{ name }}(
    const {{ array }} *values, const int component, const {{ int }} *around, const {{ int }} slot, const int cell, const int axis)
{
    const int width[3] = { {{- bx }}, {{ by }}, {{ bz -}} };
    int step = 1, stride = 1;
    for (int before = 0; before < axis; ++before) step *= 3, stride *= width[before];
    const int along = cell / stride % width[axis];
    {{ real }} side[2];
    int found = 0;
    for (int upper = 0; upper < 2; ++upper) {
        const int to = along + 2 * upper - 1, block = to < 0 ? -1 : to >= width[axis] ? 1 : 0;
        const {{ int }} beside = block == 0 ? slot : around[{{ middle }} + block * step], of = beside < 0 ? slot : beside;
        const int place = beside < 0 ? cell : cell + (to - block * width[axis] - along) * stride;
        side[upper] = {{ value }};
        found += beside >= 0;
    }
    return found == 2 ? (side[1] - side[0]) / 2 : side[1] - side[0];
}
{%- endcomponent slope %}
