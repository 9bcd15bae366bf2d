{% set mirror_rules = "" %}{% if interface.mirrors %}{% set mirror_rules = ", wall_rules" %}{% endif -%}
{% <kernel of={inbox.masks}> %}
{%- if not interface.mirrors %}
    (void)wall_rules;  // none is a mirror
{%- endif %}
    {{ shared }}Side side;
    {{ shared }}int mask, beside;
    if (thread == 0) side = side_of(0, nodes[slot]), mask = 0, beside = 0;
    BARRIER
    for (int entry = thread; entry < NEAR; entry += threads) look_towards(&side, entry, near, children{{ mirror_rules }});
    BARRIER
    for (int entry = thread; entry < NEAR; entry += threads) {
        if (entering(&side, near, entry) != STREAMS) SET_BITS(mask, 1 << entry);
    }
    for (int cell = thread; side.refined != 0 && cell < CELLS; cell += threads) {
        if (refined_around(side.refined, spot_of(cell)) != 0) ADD(beside, 1);
    }
    BARRIER
    if (thread == 0) masks[rows[slot]] = mask | (side.solid != 0 ? WALLED : 0), counts[rows[slot]] = beside;
{%- </kernel> %}

{% <kernel of={inbox.cells}> %}
    const {{ int }} row = rows[slot], node = nodes[slot];
    const int refined = refined_near(node, near, children);
    for (int at = thread; at < NEAR * CHILDREN; at += threads) {
        set_around(tables + (size_t)row * AROUND, at, node, near, children, slots, rows, masks);
    }
    {{ int }} next = begins[row];
    for (int first = 0; first < CELLS; first += LANES) {
        const int cell = first + thread, mask = cell < CELLS ? refined_around(refined, spot_of(cell)) : 0;
        const Votes votes = votes_for(mask != 0);
        if (cell < CELLS) cell_masks[(size_t)row * CELLS + cell] = mask;
        if (mask != 0) cells[next + votes_before(votes, thread)] = row * CELLS + cell;
        next += number_of(votes);
    }
{%- </kernel> %}

{% for kernel in [inbox.to_fine, inbox.to_coarse] -%}
{% set fine = kernel.symbol == inbox.to_fine.symbol -%}
{% if fine %}{% set ways = "AHEAD" %}{% else %}{% set ways = "BEHIND" %}{% endif -%}
{% <kernel of={kernel}> %}
    const int mask = item < count ? cell_masks[cell] : 0;
    {{<sends_anything ways={ways} />}}
    const {{ int }} *const table = tables + (size_t)(cell / CELLS) * AROUND;
{%- if not fine %}
    if (around_of(table).rows[{{ middle }}] < 0) {{ kernel.skip }};
{%- endif %}
{%- if fine and interface.shared %}
    {{ real }} shared[{{ interface.shared.count }}];
    share_around(table, cell % CELLS, coarse, shared{{ interface.pass }});
{%- endif %}
{%- <each_way ways={ways}> %}
{%- if fine %}
    send_to_fine(table, cell % CELLS, mask, direction, coarse, fine, inbox_0, inbox_1, start ? inbox_0 : inbox_1{% if interface.shared %}, shared{% endif %}{{ interface.pass }});
{%- else %}
    send_to_coarse(table, cell % CELLS, mask, direction, before, after, parts, inbox);
{%- endif %}
{%- </each_way> %}
{%- </kernel> %}

{% endfor -%}
{% if interface.walls -%}
{% for kernel in [inbox.to_fine_walls, inbox.to_coarse_walls] -%}
{% set fine = kernel.symbol == inbox.to_fine_walls.symbol -%}
{% <kernel of={kernel}> %}
    {{ shared }}Side own{% if fine %}, coarser{% endif %};
    {{ shared }}{{ int }} around[SIDES];
    {{ shared }}int from[NEAR];
    const {{ int }} node = nodes[slot]{% if fine %}, parent = parents[node]{% endif %};
{%- if fine %}
    if (parent < 0) {{ kernel.skip }};
{%- endif %}
    if (thread == 0) own = side_of({% if fine %}0{% else %}coarse{% endif %}, node){% if fine %}, coarser = side_of(coarse, parent){% endif %};
    BARRIER
    for (int at = thread; at < SIDES; at += threads) around[at] = slot_around(at, {% if fine %}parent{% else %}node{% endif %}, near, children, slots);
{%- if fine %}
    for (int at = thread; at < 2 * NEAR; at += threads) {
        look_towards(at < NEAR ? &own : &coarser, at % NEAR, near, children{{ mirror_rules }});
    }
{%- else %}
    for (int entry = thread; entry < NEAR; entry += threads) look_towards(&own, entry, near, children{{ mirror_rules }});
{%- endif %}
    if (thread == 0) {% if fine %}coarser{% else %}own{% endif %}.beside = around, {% if fine %}coarser{% else %}own{% endif %}.within = around + NEAR;
    BARRIER
    for (int entry = thread; entry < NEAR; entry += threads) from[entry] = entering(&own, near, entry);
    BARRIER
    // Threads that run in step take a direction at a time, since each has code of its own: first they list the cells that the direction brings something to.
    {{ shared }}unsigned short lists[threads / LANES][CELLS];
    const int lane = thread % LANES;
    unsigned short *const list = lists[thread / LANES];
    const Interface interface = {wall_rules, wall_values, link_rows, links, solids, {% if fine %}fine, fine{% else %}before, after{% endif %}};
    for (int direction = thread / LANES; direction < Q; direction += threads / LANES) {
        int listed = 0;
        for (int first = 0; first < CELLS; first += LANES) {
            const int cell = first + lane, neighbour = neighbour_of(beyond(spot_of(cell), direction, -1));
            const int enters = cell < CELLS && neighbour != {{ middle }} && from[neighbour] == {% if fine %}FROM_COARSER{% else %}FROM_FINER{% endif %};
            const Votes votes = votes_for(enters);
            if (enters) list[listed + votes_before(votes, lane)] = (unsigned short)cell;
            listed += number_of(votes);
        }
        LANES_BARRIER
        {{ real }} *const {% if fine %}first = inbox_0{% else %}to = inbox{% endif %} + (size_t)rows[slot] * ROW{% if fine %}, *const second = inbox_1 + (size_t)rows[slot] * ROW{% endif %};
{%- if fine %}
        for (int at = lane; at < 2 * listed; at += LANES) {
            const int later = at >= listed;
            const Spot here = spot_of(list[later ? at - listed : at]);
            (later ? second : first)[inbox_at(direction, here)] =
                from_coarser(&interface, &coarser, node - children[parent], direction, here, later{{ interface.pass }});
        }
{%- else %}
        {{<sums_of_children share={interface.share} pass={interface.pass} />}}
{%- endif %}
        LANES_BARRIER
    }
{%- </kernel> %}

{% endfor -%}
{% endif -%}
