import { Document, isCollection, Scalar, visit } from 'yaml';
import type { ProjectInput } from '../project.ts';

export const CONFIG_FORMATS = ['yaml', 'json', 'mjs', 'ts'] as const;
export type ConfigFormat = (typeof CONFIG_FORMATS)[number];

/** A key of the project file with a comment. Without a value it is a comment with an example. */
export type ConfigEntry = {
  readonly key: string;
  readonly value?: unknown;
  readonly example?: string;
  readonly why: string;
};

const HEAD = [
  'A skillopt project, written by skillopt init. You may change everything.',
  'Every key and its default: skillopt train --help-all',
];

/** The text of a project file with these keys. Each has its reason as a comment, if the format has comments. */
export function configText(entries: readonly ConfigEntry[], format: ConfigFormat): string {
  if (format === 'json') return `${JSON.stringify(settingsOf(entries), null, 2)}\n`;
  if (format === 'yaml') {
    const blocks = entries.map(({ key, value, example, why }) => {
      const line = value === undefined ? `# ${key}: ${example}` : yamlOf({ [key]: value });
      return `${comment('#', why)}\n${line}`;
    });
    return `${[HEAD.map((line) => `# ${line}`).join('\n'), ...blocks].join('\n\n')}\n`;
  }
  const heading = HEAD.map((line) => `// ${line}`).join('\n');
  if (format === 'mjs') return `${heading}\nexport default {\n${members(entries)}};\n`;
  return `import { defineConfig } from 'skillopt';\n\n${heading}\nexport default defineConfig({\n${members(entries)}});\n`;
}

export const settingsOf = (entries: readonly ConfigEntry[]): ProjectInput =>
  Object.fromEntries(entries.filter(({ value }) => value !== undefined).map(({ key, value }) => [key, value]));

function members(entries: readonly ConfigEntry[]): string {
  const blocks = entries.map(({ key, value, example, why }) =>
    value === undefined
      ? `${comment('  //', why)}\n  // ${key}: ${JSON.stringify(/^\d+$/.test(example!) ? Number(example) : example)},\n`
      : `${comment('  //', why)}\n  ${key}: ${JSON.stringify(value)},\n`,
  );
  return blocks.join('\n');
}

/** Short maps are in braces on one line. Texts of several lines are below their key. */
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

const isShort = (value: unknown) => !JSON.stringify(value).includes('\\n') && !isCollection(value);

const WIDTH = 100;

/** Wraps a text as a comment. A line break in the text must not end the comment. */
function comment(mark: string, text: string): string {
  const lines: string[] = [];
  const words = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  for (const word of words.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && `${line} ${word}`.length <= WIDTH) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`${mark} ${word}`);
  }
  return lines.join('\n');
}
