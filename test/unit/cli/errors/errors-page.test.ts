import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { EXIT_CODES, exitCodeOf } from '../../../../src/cli/errors.ts';
import { type ErrorCode, SkillError } from '../../../../src/core/contracts/index.ts';
import { ERROR_MEANINGS } from './error-meanings.ts';

const PAGE = new URL('../../../../docs/errors.md', import.meta.url);

const HEAD = `# Errors by code

Every error that is thrown on purpose has a code that does not change, a message (what was expected, what came, where) and mostly a hint.
On the command line: \`error: …\` and \`hint: …\` on stderr; with \`--json\` also \`{ "error": { "code", "message", "hint" } }\` on stdout.
In code: \`SkillError\` with \`code\`, \`message\`, \`hint\`.

This page is made from \`test/unit/cli/errors/error-meanings.ts\`; \`WRITE_DOCS=1 npx vitest run test/unit/cli/errors/errors-page.test.ts\` writes it.
`;

const OWN = [
  [
    'SYSTEM',
    2,
    'The operating system refused something: no rights, no room, too many open files.',
    'The hint says what to check.',
  ],
  [
    'INTERRUPTED',
    '130, 143, 129',
    'You, or the system, asked it to stop. Nothing is lost.',
    'The same command resumes.',
  ],
  ['BUG', 70, 'Something that nobody foresaw.', 'Please report it, with what `SKILLOPT_DEBUG=1` prints.'],
] as const;

function errorsPage(): string {
  const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  const codes = Object.entries(ERROR_MEANINGS).map(([code, { means, remedy }]) =>
    row([`\`${code}\``, exitCodeOf(new SkillError(code as ErrorCode, '')), means, remedy]),
  );
  const own = OWN.map(([code, ...rest]) => row([`\`${code}\``, ...rest]));
  const exits = Object.entries(EXIT_CODES).map((cells) => row(cells));
  return [
    HEAD,
    ...['| code | exit code | what it means | what to do |', '|---|---|---|---|', ...codes, ''],
    ...[
      'Only the command line says these:',
      '',
      '| code | exit code | what it means | what to do |',
      '|---|---|---|---|',
      ...own,
      '',
    ],
    ...['## Exit codes', '', '| code | meaning |', '|---|---|', ...exits, ''],
  ].join('\n');
}

it('docs/errors.md explains every code of the source', () => {
  if (process.env.WRITE_DOCS) writeFileSync(PAGE, errorsPage());
  expect(readFileSync(PAGE, 'utf8')).toBe(errorsPage());
});
