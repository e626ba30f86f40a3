// Applies the stored theme, density and words before the first paint, then loads the board.
const { glue, wasm, style } = document.currentScript.dataset;
try {
  for (const name of ["theme", "density", "words"]) {
    const value = localStorage.getItem(name);
    if (value) document.documentElement.dataset[name] = value;
  }
} catch {
  // Without storage, the theme of the system, compact cards and plain words apply.
}
// The styles of the other pages. The board sends the event.
addEventListener("first-page-drawn", () => {
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = style;
  document.head.append(link);
}, { once: true });
addEventListener("DOMContentLoaded", async () => {
  try {
    const board = await import(glue);
    await board.default({ module_or_path: wasm });
  } catch (error) {
    const note = document.createElement("p");
    note.className = "boot-failure";
    note.textContent = `The board did not start in this browser (${error}). Reload the page, or use a browser from 2024 or later.`;
    document.body.append(note);
  }
});
