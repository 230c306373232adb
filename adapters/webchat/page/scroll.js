const nearEnd = 40;

/**
 * Keeps the newest message in view for whoever is there already, and leaves the others where they read.
 *
 * @param {{ scroller: HTMLElement, content: HTMLElement, pill: HTMLButtonElement, label: (news: number) => string }} options
 */
export function createScroll({ scroller, content, pill, label }) {
  let atEnd = true;
  let news = 0;

  function show() {
    if (atEnd) news = 0;
    pill.hidden = atEnd;
    pill.classList.toggle("news", news > 0);
    const text = pill.querySelector("span");
    if (text) text.textContent = news > 0 ? label(news) : "";
    pill.setAttribute("aria-label", label(news));
  }

  function toEnd() {
    atEnd = true;
    scroller.scrollTop = scroller.scrollHeight;
    show();
  }

  scroller.addEventListener(
    "scroll",
    () => {
      atEnd = scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop < nearEnd;
      show();
    },
    { passive: true },
  );
  pill.addEventListener("click", toEnd);
  // The keyboard of a phone, a turned screen, a line more in the composer.
  const observer = new ResizeObserver(() => {
    if (atEnd) toEnd();
  });
  observer.observe(scroller);
  observer.observe(content);

  return {
    toEnd,
    /** Something was added at the end. @param {boolean} isNews whether the person has to be told of it */
    grown(isNews) {
      if (atEnd) return toEnd();
      if (isNews) news++;
      show();
    },
  };
}
