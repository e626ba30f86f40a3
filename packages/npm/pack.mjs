#!/usr/bin/env node
// Makes the packages for npm: one with the program for each target of dist-workspace.toml, and `vibe-relay`, which starts that of the machine.
// The version is that of Cargo.toml.
//
// Usage: node packages/npm/pack.mjs PROGRAMS OUT [TARGET…]
// PROGRAMS holds the unpacked archives of a release, as vibe-relay-TARGET/vibe-relay. Without a TARGET, all of them have to exist.
// Prints the files that it wrote to OUT, in the order in which they can be published.

import { execFileSync } from "node:child_process";
import { copyFileSync, chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");

// The words of Node for those of a target.
const CPUS = { x86_64: "x64", aarch64: "arm64" };
const SYSTEMS = { "unknown-linux-musl": "linux", "apple-darwin": "darwin" };

function first(file, pattern) {
  const found = readFileSync(join(root, file), "utf8").match(pattern);
  if (!found) throw new Error(`${file} has no ${pattern}`);
  return found[1];
}

function platform(target) {
  const [, architecture, system] = target.match(/^([^-]+)-(.+)$/) ?? [];
  if (!CPUS[architecture] || !SYSTEMS[system]) throw new Error(`add the words of Node for ${target} to pack.mjs`);
  return { cpu: CPUS[architecture], os: SYSTEMS[system] };
}

function pack(folder, manifest, out) {
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const licence of ["LICENSE-MIT", "LICENSE-APACHE"]) copyFileSync(join(root, licence), join(folder, licence));
  const printed = execFileSync("npm", ["pack", "--silent", "--pack-destination", out, folder], { encoding: "utf8" });
  console.log(join(out, basename(printed.trim())));
}

const [programs, destination, ...chosen] = process.argv.slice(2);
if (!programs || !destination) throw new Error("usage: node packages/npm/pack.mjs PROGRAMS OUT [TARGET…]");
const out = resolve(destination);
mkdirSync(out, { recursive: true });

const version = first("Cargo.toml", /^version = "(.+)"$/m);
const targets = JSON.parse(first("dist-workspace.toml", /^targets = (\[.+\])$/m));
const wrapper = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
const name = ({ cpu, os }) => `@vibe-relay/${os}-${cpu}`;

const work = mkdtempSync(join(tmpdir(), "vibe-relay-npm-"));
try {
  for (const target of targets.filter((one) => chosen.length === 0 || chosen.includes(one))) {
    const { cpu, os } = platform(target);
    const folder = join(work, target);
    mkdirSync(join(folder, "bin"), { recursive: true });
    copyFileSync(join(programs, `vibe-relay-${target}`, "vibe-relay"), join(folder, "bin/vibe-relay"));
    chmodSync(join(folder, "bin/vibe-relay"), 0o755);
    const { license, homepage, repository } = wrapper;
    const description = `The program of vibe-relay for ${os} on ${cpu}; install the package vibe-relay instead`;
    pack(folder, { name: name({ cpu, os }), version, description, license, homepage, repository, os: [os], cpu: [cpu], files: ["bin", "LICENSE-*"] }, out);
  }
  const folder = join(work, "vibe-relay");
  mkdirSync(folder);
  for (const file of ["vibe-relay.js", "README.md"]) copyFileSync(join(here, file), join(folder, file));
  const optionalDependencies = Object.fromEntries(targets.map((target) => [name(platform(target)), version]));
  pack(folder, { ...wrapper, version, optionalDependencies }, out);
} finally {
  rmSync(work, { recursive: true });
}
