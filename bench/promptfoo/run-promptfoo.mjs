// Started in the folder where promptfoo is installed. Reads configs and answers from stdin, and says which tests pass.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.cwd()}/`);
const PACKAGE = 'promptfoo'; // no dependency of this project
const { default: promptfoo } = await import(pathToFileURL(require.resolve(PACKAGE)).href);
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { config, answers } = JSON.parse(text);
const verdicts = [];
for (const output of answers) {
  const suite = { ...config, providers: [async () => ({ output })], writeLatestResults: false };
  const summary = await promptfoo.evaluate(suite, { maxConcurrency: 4, cache: false, showProgressBar: false });
  const results = summary.results.results ?? summary.results;
  verdicts.push(results.toSorted((a, b) => a.testIdx - b.testIdx).map(({ success }) => success));
}
process.stdout.write(`\nVERDICTS ${JSON.stringify(verdicts)}\n`, () => process.exit(0));
