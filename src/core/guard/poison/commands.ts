import { isForbidden } from './sentences.ts';

/** Commands that build, test, format or look, and so need nobody's eye. */
const USUAL = [
  /^(?:npm|pnpm|yarn|bun) (?:run [\w:-]+|test|lint|build|check|format|typecheck|dev|start|ci|add|install)\b/u,
  /^(?:(?:npx|pnpm|yarn|bunx|uv run|poetry run|bundle exec|python -m) )?(?:vitest|jest|tsc|eslint|prettier|biome|pytest|ruff|mypy|black|rspec|rubocop)\b/u,
  /^(?:cargo|go|dotnet|mvn|\.?\/?gradlew?|swift) (?:[\w-]+ )?(?:test|build|check|clippy|fmt|vet|format|verify|nextest)\b/u,
  /^(?:make|just|ninja|task|set|uv (?:add|sync))\b/u,
  /^git (?:status|diff|log|show|blame|add|commit|rebase|switch|restore|checkout|fetch|pull|bisect|mv)\b/u,
  /^(?:docker compose (?:up|ps|logs|down)|terraform (?:fmt|validate|plan)|rg|grep|ls|shfmt)\b/u,
];
/** What makes a usual command another one. */
const TURNED =
  /[|<>;&$~@]|:\/|(?:^| )-{1,2}(?:u|y|f|k|yes|force|no-|skip|ignore|allow|unsafe|insecure|privileged|pass-?with|exclude|admin|author|amend|update|registry|index)/u;
/** A program in small letters and what it gets; not `camelCase: value`, a sentence or a list of names. */
const COMMAND =
  /^(?:[a-z_]{2,40}=\S{0,80} )*(?:\.?\/)?[a-z][\w./-]{0,40} +(?:-{1,2}\w|[~./$"'<@\w][^\s,]{0,80}(?: |$))/u;
const SHELL = /^[|>]|\$\(|&& |\|\| | \| |;/u;

const isUnusual = (code: string) =>
  (COMMAND.test(code) || SHELL.test(code)) && !(USUAL.some((one) => one.test(code)) && !TURNED.test(code));

const SPANS = /(?<!```)```[^\n]*\n([\s\S]*?)(?:\n[ \t]*```|$)|`([^`\n]{1,400})`/gu;

/** Whether a sentence has a command that does more than build, test, format or look, and does not forbid it. */
export const hasUnusualCommand = (sentence: string): boolean =>
  FLAG.test(sentence.replace(SPANS, ' ')) ||
  [...sentence.matchAll(SPANS)].some(({ 0: whole, 1: fence, 2: span = '', index }) => {
    const lines = fence?.split('\n') ?? [span];
    return lines.some((code) => isUnusual(code.trim())) && !isForbidden(sentence, index, whole.length);
  });
const FLAG = /\s-{1,2}[a-z]/u;
