// Sorts and filters tables that read just as well without. No storage, no network.
(() => {
  "use strict";
  const text = (cell) => cell.dataset.sort ?? cell.textContent.trim();
  const compare = (kind, left, right) =>
    kind === "number" ? Number(left) - Number(right) : left.localeCompare(right);

  function sort(table, head, button) {
    const down = head.getAttribute("aria-sort") !== "descending";
    const first = head.dataset.key === "text" && !head.hasAttribute("aria-sort");
    const descending = first ? false : down;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const place = head.cellIndex, body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, value: text(row.cells[place]) }));
    rows.sort((a, b) => {
      if ((a.value === "") !== (b.value === "")) return a.value === "" ? 1 : -1;
      const found = compare(head.dataset.key, a.value, b.value);
      return descending ? -found : found;
    });
    body.append(...rows.map((item) => item.row));
    button.focus();
  }

  for (const table of document.querySelectorAll("table[data-sortable]")) {
    for (const head of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, head, button));
    }
  }

  const form = document.getElementById("filters");
  const controls = [...form.querySelectorAll("[data-filter]")];
  function filter() {
    const wanted = Object.fromEntries(
      controls.map((control) => [control.dataset.filter, control.value.trim().toLowerCase()]));
    let shown = 0, all = 0;
    for (const section of document.querySelectorAll("section[data-suite]")) {
      section.hidden = wanted.suite !== "" && section.dataset.suite.toLowerCase() !== wanted.suite;
      let left = 0;
      for (const row of section.querySelector("tbody").rows) {
        const fits = (!wanted.division || row.dataset.division === wanted.division)
          && (!wanted.tier || row.dataset.tier === wanted.tier)
          && row.dataset.words.includes(wanted.words);
        row.hidden = !fits;
        left += fits;
        all += 1;
      }
      section.querySelector(".none").hidden = left > 0;
      shown += section.hidden ? 0 : left;
    }
    document.getElementById("shown").textContent = `${shown} of ${all} rows`;
  }
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
})();
