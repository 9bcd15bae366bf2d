{% include "states" %}
{% if walls -%}
{% include "walls" %}
{% endif -%}
{% if ghosts or walls and walls.inside -%}
{% include "arrives" %}
{% endif -%}
{% if ghosts -%}
{% include "ghosts" %}
{% elif interface -%}
{% include "inbox" %}
{% endif -%}
{% if walls and walls.nodes -%}
{% include "nodes" %}
{% endif -%}
{% if solids -%}
{% include "solids" %}
{% endif -%}
{% if around -%}
{% include "around" %}
{% endif -%}
{% if adjoint -%}
{% include "adjoint" %}
{% endif -%}
{% if in_place -%}
{% include "in_place" %}
{% endif -%}
{% include "gather" %}
{% if remap -%}
{% include "transfer" %}{% include "remap" %}
{% endif -%}
{% if ghosts -%}
{% include "ghost_kernels" %}
{% elif interface -%}
{% include "inbox_kernels" %}
{% endif -%}
{% include "fields" %}
{% include "reduce" -%}
{{<called_by_pointers />}}
