// Runs a program for WASI in Node: node wasi.mjs PROGRAM ARGUMENT... Like a program of the system's own, it can open every
// file. The status is that of the program.
import { readFile } from "node:fs/promises";
import { argv, env, exit } from "node:process";
import { WASI } from "node:wasi";

const program = argv.slice(2);
const wasi = new WASI({ version: "preview1", args: program, env, preopens: { "/": "/" } });
const module = await WebAssembly.compile(await readFile(program[0]));
exit(wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject())));
