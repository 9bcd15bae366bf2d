{% for line in banner -%}
// {{ line }}
{% endfor %}
{{<includes />}}

enum {
    CHILDREN = {{ children }},  // children of a node
    NEAR = {{ near }},  // places around a node, its own included
    CHUNK = {{ chunk }},  // list entries that are counted in one go
    MOST = {{ most }},  // classes of nodes, at most
    REFINED = {{ refined }},  // kind of a refined node
};

// What becomes of a node; from 0 on, its class among those that change. What is stuck is not refined for others either.
enum { STUCK_COARSEN = -4, STUCK = -3, COARSEN = -2, KEEP = -1, REFINE = 0, MERGE = 1 };

// What a node may not do, a bit each: change, become coarser.
enum { STAYS = 1, LEAST = 2 };

// Neither a node of the same level nor a wall.
#define NONE (-2147483647 - 1)

// Several threads may store to the same place at once, all of them the same value: atomically, so that this is defined.
{{<store_same />}}

// ==== decisions =====================================================================================================

{{ item.mark }}
{
    int next = KEEP;
    if (child[node] < 0 && bound[node] & STAYS) {
        next = STUCK;
    } else if (child[node] < 0) {
        const int wanted = target[node] < coarsest ? coarsest : target[node] > finest ? finest : target[node];
        next = wanted > level[node] ? REFINE : wanted < level[node] && !(bound[node] & LEAST) ? COARSEN : KEEP;
    }
    mark[node] = next;
}

// Whether what is near is a leaf that is stuck.
{{ inline }} int is_stuck(const int near, const {{ int }} *child, const {{ int }} *mark)
{
    return near >= 0 && child[near] < 0 && mark[near] < COARSEN;
}

{{ item.yield }}
{
    const int first = child[node];
    if (first < 0) return;
    const {{ int }} *const around = near + (size_t)node * NEAR;
{%- for octant in octants %}
    if (child[first + {{ octant.at }}] < 0 && (
{%- for place in octant.outside %}
        {% if not loop.first %}|| {% endif %}is_stuck(around[{{ place.at }}], child, mark)  // {{ place.offset }}
{%- endfor %}
    )) {
        mark[first + {{ octant.at }}] = mark[first + {{ octant.at }}] == COARSEN ? STUCK_COARSEN : STUCK;
    }
{%- endfor %}
}

// Refines what is near if it is a leaf.
{{ inline }} void refine(const int near, const {{ int }} *child, {{ int }} *mark)
{
    if (near >= 0 && child[near] < 0) STORE_SAME(mark[near], REFINE);
}

{{ item.spread }}
{
    const int first = child[node];
    if (first < 0) return;
    const {{ int }} *const around = near + (size_t)node * NEAR;
{%- for octant in octants %}
    if (mark[first + {{ octant.at }}] == REFINE) {
{%- for place in octant.outside %}
        refine(around[{{ place.at }}], child, mark);  // {{ place.offset }}
{%- endfor %}
    }
{%- endfor %}
}

// Whether a node has children that remain, or will have children.
{{ inline }} int finer(const int node, const {{ int }} *child, const {{ int }} *mark)
{
    return mark[node] == REFINE || (child[node] >= 0 && mark[node] != MERGE);
}

{{ item.dissolve }}
{
    const int first = child[node];
    if (first < 0) return;
    for (int octant = 0; octant < CHILDREN; ++octant) {
        const int own = mark[first + octant];
        if (own != COARSEN && own != STUCK_COARSEN) return;  // a leaf has one of these marks, or none
    }
    const {{ int }} *const around = near + (size_t)node * NEAR;
    int beside;
{%- for place in outside %}

    beside = around[{{ place.at }}] < 0 ? -1 : child[around[{{ place.at }}]];  // {{ place.offset }}
    if (beside >= 0) {
{%- for octant in place.octants %}
        if (finer(beside + {{ octant }}, child, mark)) return;
{%- endfor %}
    }
{%- endfor %}

    mark[node] = MERGE;
}

// ==== positions in lists ============================================================================================

// The class of a code, negative if it has none.
{{ inline }} int class_of(const int code, const int classes)
{
    return code < classes ? code : classes - 1;
}

{{ item.tally }}
{
    const int chunks = (size + CHUNK - 1) / CHUNK;
    const int begin = chunk * CHUNK, end = begin + CHUNK < size ? begin + CHUNK : size;
    int sums[MOST] = {0};
    for (int at = begin; at < end; ++at) {
        const int c = class_of(code[order[first + at]], classes);
        if (c >= 0) ++sums[c];
    }
    for (int c = 0; c < classes; ++c) counts[(size_t)c * chunks + chunk] = sums[c];
}

{{ item.rank }}
{
    const int chunks = (size + CHUNK - 1) / CHUNK;
    const int begin = chunk * CHUNK, end = begin + CHUNK < size ? begin + CHUNK : size;
    int sums[MOST];
    for (int c = 0; c < classes; ++c) sums[c] = counts[(size_t)c * chunks + chunk];
    for (int at = begin; at < end; ++at) {
        const int node = order[first + at];
        if (at == 0 || level[order[first + at - 1]] != level[node]) {
            for (int c = 0; c < classes; ++c) begins[level[node] * classes + c] = sums[c];
        }
        const int c = class_of(code[node], classes);
        if (c >= 0) rank[node] = sums[c]++;
    }
}

{{ item.pick }}
{
    if (mark[node] >= 0) picked[rank[node]] = node;
}

{% <kernel of={scan}> %}
    {{<run_of_sums threads={scan.threads} />}}
    for (int at = begin; at < end; ++at) {
        const int own = counts[at];
        counts[at] = sum;
        sum += own;
    }
    if (thread == threads - 1) begins[total] = sum;
{%- </kernel> %}

// ==== changes =======================================================================================================

{{ item.merge }}
{
    const int at = rank[id] - first, first_child = child[id];
    const int own = free_slots[slots - 1 - at];
    slot[id] = own;
    node[own] = id;
    coarse[at] = own;
    for (int octant = 0; octant < CHILDREN; ++octant) {
        child_slots[(size_t)own * CHILDREN + octant] = slot[first_child + octant];
    }
}

{{ item.drop }}
{
    const int at = rank[id] - first, first_child = child[id];
    free_families[families + at] = (first_child - roots) / CHILDREN;
    for (int octant = 0; octant < CHILDREN; ++octant) {
        const int own = slot[first_child + octant];
        free_slots[slots + at * CHILDREN + octant] = own;
        node[own] = -1;
        slot[first_child + octant] = -1;
        parent[first_child + octant] = -1;
    }
    child[id] = -1;
}

{{ item.split }}
{
    const int at = rank[id], own = slot[id];
    const int first_child = roots + free_families[families - 1 - at] * CHILDREN;
    child[id] = first_child;
    coarse[at] = own;
    for (int octant = 0; octant < CHILDREN; ++octant) {
        const int fresh = first_child + octant, own_slot = free_slots[slots - 1 - (at * CHILDREN + octant)];
        child[fresh] = -1;
        parent[fresh] = id;
        level[fresh] = level[id] + 1;
{%- for axis in axes %}
        place[(size_t)fresh * 3 + {{ axis }}] = 2 * place[(size_t)id * 3 + {{ axis }}] + (octant >> {{ axis }} & 1);
{%- endfor %}
        bound[fresh] = 0;
        slot[fresh] = own_slot;
        node[own_slot] = fresh;
        child_slots[(size_t)own * CHILDREN + octant] = own_slot;
    }
}

{{ item.vacate }}
{
    const int own = slot[id];
    free_slots[slots + rank[id]] = own;
    node[own] = -1;
    slot[id] = -1;
}

// ==== links and lists ===============================================================================================

// What a child has near where its parent has `near`: the first child there, or what is there instead.
{{ inline }} int beyond(const int near, const {{ int }} *child)
{
    return near < 0 ? near : child[near] < 0 ? NONE : child[near];
}

// The child with that octant.
{{ inline }} int part(const int first, const int octant)
{
    return first < 0 ? first : first + octant;
}

{{ item.link }}
{
    const int first = child[node];
    if (first < 0) return;
    const {{ int }} *const around = near + (size_t)node * NEAR;
    {{ int }} *const of = near + (size_t)first * NEAR;
    int there;
{%- for place in links %}

    there = beyond(around[{{ place.at }}], child);  // {{ place.offset }}
{%- for link in place.links %}
    of[{{ link.octant }} * NEAR + {{ link.at }}] = part(there, {{ link.part }});
{%- endfor %}
{%- endfor %}
}

{{ item.classify }}
{
    const int own = slot[node];
    if (child[node] >= 0 || own < 0) {
        kind[node] = child[node] >= 0 ? REFINED : -1;
        interface[node] = -1;
        return;
    }
    int walls = 0, at_interface = 0;
    for (int at = 0; at < NEAR; ++at) {
        const int there = near[(size_t)node * NEAR + at];
        const int entry = there < 0 ? there : child[there] < 0 ? slot[there] : NONE;
        neighbours[(size_t)own * NEAR + at] = entry;
        walls |= entry < 0 && entry != NONE;
        at_interface |= entry == NONE;
    }
    kind[node] = walls + 2 * at_interface;
    interface[node] = at_interface - 1;
}

{{ item.number }}
{
    if (slot[node] >= 0) rows[slot[node]] = interface[node] < 0 ? -1 : rank[node];
}

// The slot of a covered node: behind those of leaves, one for each family.
{{ inline }} int covered_slot(const int first_child, const int roots, const int slots)
{
    return slots + (first_child - roots) / CHILDREN;
}

// The slot of a node, refined or not.
{{ inline }} int data_slot(const int node, const {{ int }} *child, const {{ int }} *slot, const int roots, const int slots)
{
    return child[node] < 0 ? slot[node] : covered_slot(child[node], roots, slots);
}

{{ item.expand }}
{
    const int node = order[position];
    if (kind[node] != REFINED) {
        leaves[first_leaf + rank[node]] = slot[node];
        return;
    }
    covered[first_covered + rank[node] - leaf_count] = covered_slot(child[node], roots, slots);
    for (int octant = 0; octant < CHILDREN; ++octant) {
        order[first_next + (rank[node] - leaf_count) * CHILDREN + octant] = child[node] + octant;
    }
}

// ==== data of refined nodes =========================================================================================

{{ item.hold }}
{
    const int first = child[node], own = data_slot(node, child, slot, roots, slots);
    int side = 0, at_interface = 0;
    for (int at = 0; at < NEAR; ++at) {
        const int there = near[(size_t)node * NEAR + at], is_leaf = there >= 0 && child[there] < 0;
        neighbours[(size_t)own * NEAR + at] = there < 0 ? there : data_slot(there, child, slot, roots, slots);
        side |= (first < 0 ? there == NONE : is_leaf) << at;
        at_interface |= there >= 0 && !is_leaf;
    }
    data[node] = own;
    sides[own] = side;
    interface[node] = (side != 0 || (first < 0 && at_interface)) - 1;
    if (parent[node] < 0) uppers[own] = -1;
    for (int octant = 0; first >= 0 && octant < CHILDREN; ++octant) {
        const int under = data_slot(first + octant, child, slot, roots, slots);
        child_slots[(size_t)(own - slots) * CHILDREN + octant] = under;
        uppers[under] = own * CHILDREN + octant;
    }
}

// ==== slots in order ================================================================================================

{{ item.arrange }}
{
    const int own = slot[id], next = rank[id];
    if (own < 0) return;
    from[next] = own;
    slot[id] = next;
    node[next] = id;
}

{{ item.clear }}
{
    node[own] = -1;
    free_slots[all - 1 - own] = own;
}

{{ item.follow }}
{
    const int own = slot[found[position]];
    list[position] = own;
    rows[own] = row[position];
}

// ==== kernels: an item of a list each ===============================================================================

{% for kernel in kernels -%}
{% <kernel of={kernel}> %}
    {{ kernel.call }}
{%- </kernel> %}

{% endfor -%}
{{<called_by_pointers />}}
