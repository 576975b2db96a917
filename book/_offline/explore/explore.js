// The curves that a reader chooses. Every choice is kept in the address, so that a link leads to the same chart.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const { tier, rounds, lines: held, drawing } = JSON.parse(document.getElementById("explore-data").textContent);
  const lines = held.map((line) => ({ ...line, round: rounds[line.round] }));
  const box = document.getElementById("explore");
  const FIELDS = { paper: "paper", data: "data", users: "users", measure: "measure" };
  const AXES = { log: "logarithmic", linear: "linear" };
  const VALUES = { linear: "linear", log: "logarithmic" };
  const choice = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

  const element = (kind, settings = {}, ...children) => {
    const made = Object.assign(document.createElement(kind), settings);
    made.append(...children);
    return made;
  };
  const form = element("form", { className: "explore-choices" });
  const shown = element("div", { className: "explore-chart" });
  const table = element("table", { className: "table" });
  const caption = element("p", { className: "explore-caption", role: "status" });
  box.replaceChildren(form, shown, caption, element("div", { className: "explore-table" }, table));

  /** A list to choose from; a value that it does not offer gives way to the first. */
  function select(name, values, words = {}) {
    const chosen = values.map(String).includes(choice[name]) ? choice[name] : String(values[0]);
    choice[name] = chosen;
    const list = element("select", { id: `explore-${name}` });
    for (const value of values) list.add(new Option(words[value] ?? value, value, false, String(value) === chosen));
    list.onchange = () => { choice[name] = list.value; draw(list.id); };
    return element("label", { htmlFor: list.id }, `${words.title ?? name} `, list);
  }

  /** A piece of a line as the chart draws it. */
  function sample({ color, dash }) {
    const made = element("span", { className: "explore-sample" });
    made.innerHTML = `<svg width="34" height="10" aria-hidden="true"><line x1="1" y1="5" x2="33" y2="5" stroke="${color}" stroke-width="2.5" stroke-dasharray="${dash.join(" ")}"/></svg>`;
    return made;
  }

  function learners(own) {
    const names = own.map((line) => line.learner);
    const left_out = new Set((choice.without ?? "").split("|"));
    const boxes = own.map((line, i) => {
      const name = line.learner;
      const tick = element("input", { type: "checkbox", id: `explore-learner-${i}`, checked: !left_out.has(name) });
      tick.onchange = () => {
        left_out[tick.checked ? "delete" : "add"](name);
        choice.without = names.filter((each) => left_out.has(each)).join("|");
        draw(tick.id);
      };
      return element("label", { htmlFor: tick.id }, tick, sample(line), ` ${name}`);
    });
    return [element("fieldset", {}, element("legend", { textContent: "learners" }), ...boxes), left_out];
  }

  const number = (value) => (value === null ? "–" : value.toLocaleString("en", { maximumSignificantDigits: 4 }));

  function draw(focus) {
    let own = lines;
    form.replaceChildren();
    for (const [name, field] of Object.entries(FIELDS)) {
      form.append(select(name, [...new Set(own.map((line) => line[field]))]));
      own = own.filter((line) => line[field] === choice[name]);
    }
    const ends = [...new Set(own.flatMap((line) => line.round))].sort((a, b) => b - a).filter((each) => each > 0);
    form.append(select("until", ends, { title: "until round" }), select("axis", Object.keys(AXES), { ...AXES, title: "axis of rounds" }),
      select("values", Object.keys(VALUES), { ...VALUES, title: "axis of values" }));
    const [ticks, left_out] = learners(own);
    form.append(ticks);
    const until = Number(choice.until);
    const drawn = own.filter((line) => !left_out.has(line.learner));

    const fits = (value, axis) => axis !== "log" || value > 0; // only what is above 0 has a place on a logarithmic axis
    const interval = (line, i) => (line.low[i] === null ? "none" : `${number(line.low[i])} to ${number(line.high[i])}`);
    const rows = drawn.flatMap((line) => line.round.map((round, i) => ({
      learner: line.learner, round, mean: line.mean[i], interval: interval(line, i), over: `${line.n} ${line.over}`,
      low: fits(line.low[i], choice.values) ? line.low[i] : null, high: line.high[i],
    }))).filter((row) => row.round <= until && fits(row.round, choice.axis) && fits(row.mean, choice.values));
    const spec = structuredClone(drawing);
    spec.datasets = { lines: rows };
    for (const { encoding } of spec.layer) {
      encoding.x.scale = { type: choice.axis };
      encoding.y.title = choice.measure;
      encoding.y.scale.type = choice.values;
      const domain = drawn.map((line) => line.learner);
      encoding.color.scale = { domain, range: drawn.map((line) => line.color) };
      if (encoding.strokeDash) encoding.strokeDash.scale = { domain, range: drawn.map((line) => (line.dash.length ? line.dash : [1, 0])) };
    }
    vegaEmbed(shown, spec, { actions: false, renderer: "svg" });

    const last = drawn.map((line) => {
      const at = line.round.findLastIndex((round) => round <= until);
      return { line, at, mean: line.mean[at] };
    }).sort((a, b) => b.mean - a.mean);
    caption.textContent = `${choice.paper}, ${choice.data}, ${choice.users} users: ${choice.measure} until round ${number(until)}; `
      + `means with 95 % intervals, ${tier} tier. Below: where each line ends, and over how many runs or queries it is a mean.`;
    table.replaceChildren(
      element("thead", {}, element("tr", {}, ...["learner", "round", "mean", "95 % interval", "over"].map((word) => element("th", { scope: "col", textContent: word })))),
      element("tbody", {}, ...last.map(({ line, at, mean }) => element("tr", {},
        ...[line.learner, number(line.round[at]), number(mean), interval(line, at), `${line.n} ${line.over}`]
          .map((word) => element("td", { textContent: word }))))),
    );
    history.replaceState(null, "", `#${new URLSearchParams(Object.entries(choice).filter(([, value]) => value))}`);
    if (focus) document.getElementById(focus)?.focus();
  }

  addEventListener("hashchange", () => {
    for (const name of Object.keys(choice)) delete choice[name];
    Object.assign(choice, Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
    draw();
  });
  draw();
});
