// Applies the stored theme before the first paint, then loads the board.
const { glue, wasm } = document.currentScript.dataset;
try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // Without storage, the system theme applies.
}
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
