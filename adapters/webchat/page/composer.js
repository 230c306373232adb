/** @import { Words } from "./words.js" */

const draftKey = "dale-draft";

/**
 * Where a person writes. Enter sends, Shift+Enter begins a new line.
 *
 * @param {{
 *   form: HTMLFormElement,
 *   onSubmit: (text: string) => void,
 *   storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | undefined,
 * }} options `storage` keeps a draft over a reload of this tab
 */
export function createComposer({ form, onSubmit, storage }) {
  const field = /** @type {HTMLTextAreaElement} */ (form.querySelector("textarea"));
  const send = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  const count = /** @type {HTMLElement} */ (form.querySelector(".count"));
  let longest = Number.POSITIVE_INFINITY;
  /** @type {Words | undefined} */
  let words;

  function grow() {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight}px`;
  }

  function update() {
    const left = longest - field.value.length;
    const blank = field.value.trim() === "";
    send.disabled = blank || left < 0;
    field.setAttribute("aria-invalid", String(left < 0));
    count.textContent = !words || left > longest / 10 ? "" : left < 0 ? words.tooLong(-left) : words.left(left);
    count.classList.toggle("over", left < 0);
    if (blank) storage?.removeItem(draftKey);
    else storage?.setItem(draftKey, field.value.slice(0, longest));
    grow();
  }

  function submit() {
    if (send.disabled) return;
    const text = field.value;
    field.value = "";
    update();
    field.focus();
    onSubmit(text);
  }

  field.value = storage?.getItem(draftKey) ?? "";
  field.addEventListener("input", update);
  field.addEventListener("keydown", (event) => {
    // While an input method composes, Enter belongs to it; Safari says so by the code 229 alone.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    submit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  // Else a phone's keyboard would go away and come back with every message.
  send.addEventListener("mousedown", (event) => event.preventDefault());
  addEventListener("resize", grow);

  return {
    /** @param {Words} given @param {number} maxTextLength */
    label(given, maxTextLength) {
      words = given;
      longest = maxTextLength;
      field.placeholder = words.write;
      field.setAttribute("aria-label", words.write);
      send.setAttribute("aria-label", words.send);
      send.title = words.send;
      update();
    },
    focus: () => field.focus(),
  };
}
