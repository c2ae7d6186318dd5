import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { EXIT_CODES, exitCodeOf } from '../../../../src/cli/errors.ts';
import { type ErrorCode, SkillError } from '../../../../src/core/contracts/index.ts';
import { ERROR_MEANINGS } from './error-meanings.ts';

const PAGE = new URL('../../../../docs/errors.md', import.meta.url);

const HEAD = `# Errors by code

Every expected error has a code that does not change, a message (what was expected, what came, where) and usually a hint.

- On the command line: \`error: …\` and \`hint: …\` on stderr; with \`--json\` also \`{ "error": { "code", "message", "hint" } }\` on stdout.
- In code: \`SkillError\` with \`code\`, \`message\` and \`hint\`.

This page is made from \`test/unit/cli/errors/error-meanings.ts\`; \`WRITE_DOCS=1 npx vitest run test/unit/cli/errors/errors-page.test.ts\` writes it.
`;

const OWN = [
  [
    'SYSTEM',
    2,
    'The operating system refused something: missing rights, a full disk, too many open files.',
    'The hint says what to check.',
  ],
  [
    'INTERRUPTED',
    '130, 143, 129',
    'You or the system stopped the command. Nothing is lost.',
    'The same command resumes.',
  ],
  ['BUG', 70, 'An error that we did not expect.', 'Please report it with the output of `SKILLOPT_DEBUG=1`.'],
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
      'These codes exist only on the command line:',
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
