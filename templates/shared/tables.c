{% component tables_of(@function, @table, @tables) -%}
// ==== tables ========================================================================================================
{% for points in tables %}
{{ table }} double table_{{ loop.index0 }}[][2] = {
{%- for line in points %}
    {{ line }}
{%- endfor %}
};
{% endfor %}
// Straight lines between points (x, y), of which x rises; beyond the ends what is there.
{{ function }} double table_at(const double (*points)[2], const int count, const double x)
{
    if (!(x == x)) return x;
    int after = 0, end = count;  // the first point beyond x is among these
    while (after < end) {
        const int middle = (after + end) / 2;
        if (points[middle][0] <= x) after = middle + 1;
        else end = middle;
    }
    if (after == 0) return points[0][1];
    if (after == count) return points[count - 1][1];
    const double from = points[after - 1][0], low = points[after - 1][1];
    return fma((points[after][1] - low) / (points[after][0] - from), x - from, low);
}
{%- endcomponent tables_of %}
