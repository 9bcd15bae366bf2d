// Draws the plots of a page, whose tables are in it.
document.querySelectorAll("figure.plot").forEach((figure) => plot(figure, JSON.parse(figure.querySelector("script").textContent)));
