#!/usr/bin/env node
// Starts the program of this machine, which npm installed as an optional dependency. It knows nothing else about vibe-relay.
"use strict";

const { spawn } = require("node:child_process");

const name = `@vibe-relay/${process.platform}-${process.arch}`;

function locate() {
  try {
    return require.resolve(`${name}/bin/vibe-relay`);
  } catch {
    const listed = Object.keys(require("./package.json").optionalDependencies);
    const reason = listed.includes(name)
      ? `The package ${name} is missing. Install vibe-relay again without --omit=optional.`
      : `There is no program for this machine, only for ${listed.map((one) => one.split("/")[1]).join(", ")}. Build it from the sources.`;
    process.stderr.write(`vibe-relay: ${reason}\n`);
    process.exit(1);
  }
}

const program = locate();
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  process.stderr.write(`vibe-relay: could not start ${program}: ${error.message}\n`);
  process.exit(1);
});
// A terminal sends its signals to both; one for this process alone is passed on.
for (const signal of ["SIGINT", "SIGQUIT"]) process.on(signal, () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
