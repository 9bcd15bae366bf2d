{% component recorded_of(@function, @inline, @nan, @recordings) -%}
// ==== recordings ====================================================================================================

// A recording of `first` x `second` points, of which `frames` has `slots` frames, the one with the number k in the slot k % slots; `last` is the number
// of the last one, or -1 where it begins again.
typedef struct {
    int first, second, around_first, around_second, components;
    long long slots, last;
} recording;

// The points beside a place among so many, and how far it is from the lower one.
typedef struct {
    int low, high;
    double way;
} beside;

{{ inline }} beside beside_of(const double place, const int points, const int around)
{
    const double all = points;
    const double at = around ? place - floor(place / all) * all : fmin(fmax(place, 0.0), all - 1.0);
    const int below = (int)floor(at), low = below < points - 1 ? below : points - 1;
    const beside found = {low, low + 1 < points ? low + 1 : around ? 0 : low, at - low};
    return found;
}

// A component between the points of a frame.
{{ inline }} double in_frame(
    const double *frames, const recording plane, const double number, const int component, const beside a, const beside b)
{
    const long long slot = (long long)number % plane.slots;
    const double *const frame = frames + slot * plane.first * plane.second * plane.components + component;
    const double *const low = frame + (long long)b.low * plane.first * plane.components;
    const double *const high = frame + (long long)b.high * plane.first * plane.components;
    const double row_low = (1.0 - a.way) * low[a.low * plane.components] + a.way * low[a.high * plane.components];
    const double row_high = (1.0 - a.way) * high[a.low * plane.components] + a.way * high[a.high * plane.components];
    return (1.0 - b.way) * row_low + b.way * row_high;
}

// A component at a place, in points from the first one, and a time, in frames: linear between points and between frames.
{{ function }} double recorded_at(
    const double *frames, const recording plane, const int component, const double first, const double second, const double at)
{
    if (!(fabs(first) < 1e9 && fabs(second) < 1e9 && fabs(at) < 1e15)) return {{ nan }};
    const double last = (double)plane.last;
    const double time = plane.last < 0 ? fmax(at, 0.0) : fmin(fmax(at, 0.0), last);
    const double begun = floor(time);
    const double after = plane.last < 0 ? begun + 1.0 : fmin(begun + 1.0, last);
    const beside a = beside_of(first, plane.first, plane.around_first);
    const beside b = beside_of(second, plane.second, plane.around_second);
    const double way = time - begun;
    const double one = in_frame(frames, plane, begun, component, a, b);
    const double other = in_frame(frames, plane, after, component, a, b);
    return (1.0 - way) * one + way * other;
}
{% for plane in recordings %}
{{ function }} double recorded_{{ loop.index0 }}(
    const double *frames, const int component, const double first, const double second, const double at)
{
    const recording plane = { {{- plane.first }}, {{ plane.second }}, {{ plane.around_first }}, {{ plane.around_second }}, {{ plane.components }}, {{ plane.slots }}LL, {{ plane.last }}LL};
    return recorded_at(frames + {{ plane.base }}LL, plane, component, first, second, at);
}
{% endfor %}
{%- endcomponent recorded_of %}
