// Plays the demo in a browser and takes its pictures, see tests/pictures. It must not know more of the board than its words.
import { spawn } from "node:child_process";
import fs from "node:fs";
import puppeteer from "puppeteer-core";

const { PROGRAM, CHROMIUM, FOLDER, PATH } = process.env;
const target = fs.realpathSync(process.argv[2]);
const CAPTIONS = [
  ["plan", "The plan waits for your Start"],
  ["work", "Coders work in parallel"],
  ["review", "A reviewer judges each change"],
  ["question", "An agent asks you"],
  ["land", "The result is ready to land"],
  ["landed", "Landed on your branch"],
];
const FRAME = { width: 1180, height: 700 };
// The sidebar is the same on all frames, so the strip leaves it out.
const SIDEBAR = 240;
const SHOWN_HEIGHT = 600;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function until(what, condition, seconds = 60) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await pause(100)) {
    const found = await condition();
    if (found) return found;
  }
  throw new Error(`${what} did not happen within ${seconds} s`);
}

const demo = spawn(PROGRAM, ["demo", "--no-open"], { env: { PATH, HOME: `${FOLDER}/home`, TMPDIR: `${FOLDER}/tmp`, LANG: "C.UTF-8", RUST_LOG: "warn" } });
let printed = "";
demo.stdout.on("data", (text) => (printed += text));
demo.stderr.pipe(process.stderr);
const browser = await puppeteer.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--force-color-profile=srgb"] });

try {
  const link = await until("the link", () => printed.match(/http:\/\/\S+/)?.[0]);
  const { origin, port } = new URL(link);
  const demoFolder = fs.readdirSync(`${FOLDER}/tmp`).find((name) => name.startsWith("vibe-relay-demo-"));
  const token = fs.readFileSync(`${FOLDER}/tmp/${demoFolder}/token`, "utf8").trim();
  const call = async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(`http://127.0.0.1:${port}/api/projects/PROJ-001${path}`, { method, headers, body: body && JSON.stringify(body) });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  };
  const board = () => call("GET", "/board");
  // The demo starts its plan at once; here a person starts it.
  await call("PATCH", "", { plan_approval: "ask" });

  const page = await browser.newPage();
  // Without motion, no picture shows half of a transition.
  const theme = (value) =>
    page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }, { name: "prefers-reduced-motion", value: "reduce" }]);
  const open = (path) => page.goto(`${origin}/projects/PROJ-001${path}`);
  const shows = (words) => until(`"${words}" on the page`, () => page.evaluate((words) => document.body.innerText.includes(words), words));
  const press = (start) =>
    page.evaluate((start) => [...document.querySelectorAll("button, a")].find((one) => one.innerText.trim().startsWith(start)).click(), start);
  const take = (name) => page.screenshot({ path: `${FOLDER}/${name}.png` });

  await page.setViewport(FRAME);
  await theme("light");
  await page.goto(link);
  await until("the plan", async () => (await board()).cards.length > 3 && (await board()).cards.every((card) => !card.run));
  // Loads the code of this page, which a review below has no time for.
  await open("/tasks/TASK-001/review");
  await shows("Review");
  await open("/plan");
  await shows("Start 4 tasks");
  await pause(600);
  await take("plan");

  // The board is open before the plan starts, because its coders take only seconds.
  await page.setViewport({ width: 1400, height: 540 });
  await open("");
  await shows("Add the footer");
  await call("POST", "/plan/approve", {});
  // The answers follow the question after a moment.
  await shows("Sea green");
  for (const [scheme, name] of [["light", "board"], ["dark", "board-dark"]]) {
    await theme(scheme);
    await pause(150);
    await page.screenshot({ path: `${target}/${name}.png` });
  }
  await theme("light");
  await page.setViewport(FRAME);
  await pause(150);
  await take("work");

  const inReview = await until("a review", async () => (await board()).cards.find((card) => card.phase === "coder" && card.status === "in_review"));
  await open(`/tasks/${inReview.id}/review`);
  await page.waitForSelector("[data-line]");
  await pause(250);
  await take("review");

  await open("");
  await until("two finished tasks", async () => (await board()).cards.filter((card) => card.status === "done").length >= 3);
  await shows("Which accent colour");
  await pause(500);
  await take("question");
  await press("Sea green");

  await until("the end", async () => (await board()).project.status === "complete" && (await board()).cards.every((card) => !card.run));
  await open("/land");
  await shows("Land on main");
  await pause(500);
  await take("land");
  await press("Land on main");
  await shows("Landed on main at");
  await pause(500);
  await take("landed");

  const shown = FRAME.width - SIDEBAR;
  const figures = CAPTIONS.map(([name, caption], index) => {
    const data = fs.readFileSync(`${FOLDER}/${name}.png`).toString("base64");
    return `<figure><div><img src="data:image/png;base64,${data}"></div><figcaption><b>${index + 1}</b> ${caption}</figcaption></figure>`;
  });
  // A page of its own, because those of the board allow no styles but theirs.
  const strip = await browser.newPage();
  await strip.setViewport({ width: 1800, height: 800 });
  await strip.setContent(`<meta charset="utf-8"><style>
    body { margin: 0; background: #fff; color: #1c2230; font: 600 21px/1.3 system-ui, "Liberation Sans", sans-serif; }
    main { display: grid; grid-template-columns: repeat(3, 1fr); gap: 18px; padding: 14px; }
    figure { margin: 0; } figcaption { padding: 7px 2px 0; } b { color: #0b6e5f; margin-right: 0.6em; }
    div { position: relative; overflow: hidden; aspect-ratio: ${shown} / ${SHOWN_HEIGHT}; border: 1px solid #c9ced8; border-radius: 6px; }
    img { position: absolute; top: 0; width: ${(FRAME.width / shown) * 100}%; left: ${(-SIDEBAR / shown) * 100}%; }
    </style><main>${figures.join("")}</main>`);
  await pause(300);
  await strip.screenshot({ path: `${target}/strip.webp`, type: "webp", quality: 85, fullPage: true });
  console.log(`board.png, board-dark.png and strip.webp are in ${target}`);
} finally {
  await browser.close();
  demo.kill("SIGINT");
  await new Promise((resolve) => demo.once("exit", resolve));
}
