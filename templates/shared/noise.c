{% component noise_of(@function, @inline, @nan) -%}
// ==== noise =========================================================================================================

// A hash of 32 bits.
{{ inline }} unsigned scrambled(unsigned bits)
{
    bits = (bits ^ bits >> 16) * 0x7feb352du;
    bits = (bits ^ bits >> 15) * 0x846ca68bu;
    return bits ^ bits >> 16;
}

// The tile of a coordinate, or that before or after it; after `period` of them the same come again, if it is not 0.
{{ inline }} unsigned tile_of(const double at, const int beside, const int period)
{
    const long long tile = (long long)floor(at) + beside;
    return period == 0 ? (unsigned)tile : (unsigned)((tile % period + period) % period);
}

// Where a coordinate is in its tile.
{{ inline }} int inside_of(const double at)
{
    return (int)((at - floor(at)) * (1 << 19));
}

// 1 less the distance from an eddy in the tile before, of or after that of the point; 0 where it is farther.
{{ inline }} long long near_of(const int inside, const int beside, const unsigned eddy)
{
    const int distance = inside - (beside * (1 << 19) + (int)eddy * 8 + 4);
    const int near = (1 << 19) - (distance < 0 ? -distance : distance);
    return near > 0 ? near : 0;
}

// Noise at a point (x, y, z): of the eddies of the tiles around it, whose places and signs a hash gives. All but a last product is computed in integers,
// so that values are the same everywhere.
{{ function }} double noise_at(
    const unsigned seed,
    const int period_x,
    const int period_y,
    const int period_z,
    const double x,
    const double y,
    const double z)
{
    if (!(fabs(x) < 1e15 && fabs(y) < 1e15 && fabs(z) < 1e15)) return {{ nan }};
    const int inside_x = inside_of(x), inside_y = inside_of(y), inside_z = inside_of(z);
    unsigned tiles_y[3], tiles_z[3];
    for (int beside = -1; beside <= 1; ++beside) {
        tiles_y[beside + 1] = tile_of(y, beside, period_y) * 0x85ebca77u;
        tiles_z[beside + 1] = tile_of(z, beside, period_z) * 0xc2b2ae3du;
    }
    long long sum = 0;
    for (int i = -1; i <= 1; ++i) {
        const unsigned plane = scrambled(seed + tile_of(x, i, period_x) * 0x9e3779b1u);
        for (int j = -1; j <= 1; ++j) {
            const unsigned row = scrambled(plane + tiles_y[j + 1]);
            for (int k = -1; k <= 1; ++k) {
                const unsigned bits = scrambled(row + tiles_z[k + 1]);
                const unsigned more = scrambled(bits + 0x9e3779b9u);
                const long long product = near_of(inside_x, i, bits >> 16) * near_of(inside_y, j, bits & 0xffffu)
                                        * near_of(inside_z, k, more >> 16);
                sum += more & 1 ? -product : product;
            }
        }
    }
    return (double)sum * (1.8371173070873836 / 144115188075855872.0);
}
{%- endcomponent noise_of %}
