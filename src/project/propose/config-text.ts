import { Document, isCollection, Scalar, visit } from 'yaml';
import type { ConfigEntry } from './propose.ts';

export const CONFIG_FORMATS = ['yaml', 'json', 'mjs', 'ts'] as const;
export type ConfigFormat = (typeof CONFIG_FORMATS)[number];

const HEAD = [
  'A skillopt project, written by skillopt init. You may change everything.',
  'Every key and its default: skillopt train --help-all',
];

/** The text of a project file with these keys, each with its reason where the format has comments. */
export function configText(entries: readonly ConfigEntry[], format: ConfigFormat): string {
  return writers[format](entries);
}

const writers: Readonly<Record<ConfigFormat, (entries: readonly ConfigEntry[]) => string>> = {
  yaml: (entries) => {
    const blocks = entries.map(({ key, value, example, why }) =>
      value === undefined
        ? `${comment('#', why)}\n# ${key}: ${example}`
        : `${comment('#', why)}\n${yamlOf({ [key]: value })}`,
    );
    return `${[HEAD.map((line) => `# ${line}`).join('\n'), ...blocks].join('\n\n')}\n`;
  },
  json: (entries) => {
    const given = entries.filter(({ value }) => value !== undefined).map(({ key, value }) => [key, value]);
    return `${JSON.stringify(Object.fromEntries(given), null, 2)}\n`;
  },
  mjs: (entries) => `${heading()}\nexport default {\n${members(entries)}};\n`,
  ts: (entries) =>
    `import { defineConfig } from 'skillopt';\n\n${heading()}\nexport default defineConfig({\n${members(entries)}});\n`,
};

const heading = () => HEAD.map((line) => `// ${line}`).join('\n');

function members(entries: readonly ConfigEntry[]): string {
  const blocks = entries.map(({ key, value, example, why }) =>
    value === undefined
      ? `${comment('  //', why)}\n  // ${key}: ${JSON.stringify(/^\d+$/.test(example!) ? Number(example) : example)},\n`
      : `${comment('  //', why)}\n  ${key}: ${JSON.stringify(value)},\n`,
  );
  return blocks.join('\n');
}

/** One key: maps in braces on its line, texts of several lines below it. */
function yamlOf(value: object): string {
  const document = new Document(value);
  visit(document, {
    Map: (at, node) => {
      if (at !== null && isShort(node.toJSON())) node.flow = true;
    },
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && node.value.includes('\n')) node.type = Scalar.BLOCK_LITERAL;
    },
  });
  return document.toString({ lineWidth: 0 }).trimEnd();
}

const isShort = (value: unknown): boolean => !JSON.stringify(value).includes('\\n') && !isCollection(value);

const WIDTH = 100;

/** Wraps a text as a comment. A line break in the text must not end the comment. */
function comment(mark: string, text: string): string {
  const lines: string[] = [];
  for (const word of text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && `${line} ${word}`.length <= WIDTH) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`${mark} ${word}`);
  }
  return lines.join('\n');
}
