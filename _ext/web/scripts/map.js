/* The map of the course shows the lines of the chapter under the pointer or the focus. */
"use strict";

for (const map of document.querySelectorAll(".course-map")) {
  const lines = [...map.querySelectorAll(".map-lines g")];
  const look = (event) => {
    const row = event.target.closest(".map-chapter"), name = row && row.dataset.name;
    map.classList.toggle("looking", Boolean(name));
    for (const line of lines) line.classList.toggle("lit", line.dataset.of.split(" ").includes(name));
  };
  map.addEventListener("pointerover", look);
  map.addEventListener("focusin", look);
  for (const end of ["pointerleave", "focusout"])
    map.addEventListener(end, () => map.classList.remove("looking"));
}
