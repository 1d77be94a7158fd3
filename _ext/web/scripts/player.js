/* Players: the frames of a run, fetched when their figure is in sight, one shown at a time. Nothing
   moves before the reader presses Play. */
"use strict";

(() => {
  const PACE = 900, found = {}, waiting = {};
  window.bookFrames = (name, film) => { found[name] = film; };

  const fetched = (address) => {
    const name = decodeURIComponent(address).replace(/.*\/|\.frames\.js$/g, "");
    waiting[name] ||= new Promise((done) => {
      const script = document.createElement("script");
      script.src = address;
      script.onload = script.onerror = () => done(found[name]);
      document.head.append(script);
    });
    return waiting[name];
  };

  const button = (name, sign, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.innerHTML = `<span aria-hidden="true">${sign}</span>`;
    made.setAttribute("aria-label", name);
    made.addEventListener("click", act);
    return made;
  };

  const start = async (box) => {
    const film = await fetched(box.dataset.player);
    const bar = box.querySelector(".player-bar"), still = box.closest("figure")?.querySelector("img");
    if (!film || !bar || !still) return; // it did not come, or the figure has been emptied meanwhile
    const say = box.querySelector(".player-say"), last = film.frames.length - 1;
    const picture = document.createElement("div");
    picture.className = "player-picture";
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", still.alt);
    picture.innerHTML = `<svg viewBox="0 0 ${film.size.join(" ")}" width="${film.size[0]}" height="${film.size[1]}">` +
      `<g>${film.ground}</g><g class="player-now"></g></svg>`;
    const now = picture.querySelector(".player-now");

    const slider = document.createElement("input");
    slider.type = "range";
    slider.min = 0;
    slider.max = last;
    slider.setAttribute("aria-label", "Frame");
    const count = document.createElement("output");
    let at = last, clock = 0;

    const show = (place) => {
      at = Math.max(0, Math.min(last, place));
      now.innerHTML = film.frames[at][1];
      say.textContent = film.frames[at][0];
      slider.value = at;
      slider.setAttribute("aria-valuetext", `${at + 1} of ${last + 1}: ${film.frames[at][0]}`);
      count.textContent = `${at + 1} / ${last + 1}`;
      before.disabled = at === 0;
      after.disabled = at === last;
    };
    const playing = (yes) => {
      window.clearInterval(clock);
      clock = yes ? window.setInterval(() => {
        show(at + 1);
        if (at === last) playing(false);
      }, PACE) : 0;
      play.firstChild.textContent = yes ? "❚❚" : "▶";
      play.setAttribute("aria-label", yes ? "Pause" : "Play");
    };
    const step = (way) => () => {
      playing(false);
      show(at + way);
    };
    const play = button("Play", "▶", () => {
      if (!clock && at === last) show(0);
      playing(!clock);
    });
    const before = button("One step back", "‹", step(-1)), after = button("One step on", "›", step(1));
    slider.addEventListener("input", () => {
      playing(false);
      show(Number(slider.value));
    });
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Steps of the run");
    bar.replaceChildren(play, before, slider, after, count);
    show(last);
    still.before(picture);
    box.parentElement.classList.add("plays");
  };

  const seen = new IntersectionObserver((changes) => {
    for (const {target, isIntersecting} of changes) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      start(target);
    }
  }, {rootMargin: "200px"});
  for (const box of document.querySelectorAll("[data-player]")) seen.observe(box);
})();
