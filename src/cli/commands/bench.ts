import { Option } from 'commander';
import { checkData, listBenchmarks, pullData } from '../../app/index.ts';
import {
  type BenchmarkCheck,
  COPY_LINKS,
  describeLeaks,
  type Pulled,
  SPLIT_BY,
  type Unscorable,
} from '../../benchmarks/index.ts';
import { count, groupBy, head, oneLine, plural } from '../../core/text/index.ts';
import { fitRows, nameSome, wrap } from '../../report/index.ts';
import { shownPath } from '../../stores/index.ts';
import { Answered, interruptible } from '../errors.ts';
import { jsonOption, readCount, setOption } from '../flags/flags.ts';
import { withDoing } from '../progress/progress.ts';
import { type DefineCommand, examples, type OptionalFlags } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const define: DefineCommand = (command, terminal) => {
  const part = (name: string, what: string) =>
    command
      .command(name)
      .description(what)
      .allowExcessArguments(false)
      .option('--quiet', 'no progress')
      .addOption(setOption())
      .addOption(jsonOption());
  const list = command
    .command('list')
    .description('the benchmarks, and where their data is')
    .addOption(jsonOption())
    .action(() => listAll(terminal));
  const pull = part('pull <name>', 'read data that you have, check it, and write train, val and test')
    .requiredOption('--from <folder>', 'folder with what you downloaded; nothing in it is changed')
    .option('--out <folder>', 'folder to write (default: bench/NAME)')
    .option('--ids <folder>', 'folder whose train, val and test list the ids of each split')
    .addOption(
      new Option('--split-by <how>', 'as the data says, with what belongs together, or each item by itself').choices(
        SPLIT_BY,
      ),
    )
    .option('--ratio <a:b:c>', 'shares of train, val and test where they are drawn', '2:1:7')
    .option('--seed <n>', 'seed of that draw', readCount, 42)
    .option('--as-published', 'keep items whose score says nothing')
    .action((name: string, flags: PullFlags) => pullOne(name, flags, terminal));
  const check = part('check <name>', 'what cannot be scored, what leaks between splits, what is contradictory')
    .option('--data <folder>', 'folder with train, val and test (default: the project here, or bench/NAME)')
    .option('--config <path>', 'project file (default: the one in this folder, if there is one)')
    .action((name: string, flags: CheckFlags) => checkOne(name, flags, terminal));
  for (const each of [command, list, pull, check]) each.addHelpText('after', EXAMPLES);
};

const EXAMPLES = examples([
  ['skillopt bench list', 'the six benchmarks, and how to get their data'],
  ['skillopt bench pull docvqa --from ~/docvqa', 'into bench/docvqa, no document in two splits'],
  ['skillopt bench pull searchqa --from ~/searchqa --ids ~/SkillOpt/data/searchqa_split', 'the published splits'],
  ['skillopt bench check docvqa', 'exit code 1 if anything stands against a number'],
  ['skillopt eval --env docvqa --set split_dir=bench/docvqa --skill SKILL.md', 'then score a skill'],
]);

type PullFlags = OptionalFlags<'out' | 'ids', 'asPublished' | 'quiet'> & {
  readonly from: string;
  readonly splitBy?: (typeof SPLIT_BY)[number];
  readonly ratio: string;
  readonly seed: number;
  readonly set: readonly string[];
};
type CheckFlags = OptionalFlags<'data' | 'config', 'quiet'> & { readonly set: readonly string[] };

async function listAll(terminal: Terminal): Promise<void> {
  const rows = await listBenchmarks();
  const { bold, dim } = terminal.colors;
  const lines = rows.flatMap(({ name, title, published: { train, val, test }, source }) => [
    ...wrap(`${bold(name)}  ${title}`, terminal.width, '  '),
    ...source.get.flatMap((step) => wrap(`  ${step}`, terminal.width, '  ')),
    ...wrap(dim(`  ${train} train, ${val} val, ${test} test · licence: ${source.licence}`), terminal.width, '  '),
    '',
  ]);
  terminal.answer({ benchmarks: rows }, lines.slice(0, -1));
}

/** Reads and writes, with what is done on a terminal, and an end at Ctrl-C. */
const working = <T>(
  { quiet, stopped }: { readonly quiet?: boolean | undefined; readonly stopped: string },
  terminal: Terminal,
  work: (options: { onProgress: (done: number, total: number) => void; signal: AbortSignal }) => Promise<T>,
) =>
  interruptible({ io: terminal.io, onStop: terminal.say, hint: stopped, ends: 'stopping' }, (signal) =>
    withDoing(terminal, quiet, (onDoing) => {
      onDoing('reading the data');
      return work({
        signal,
        onProgress: (done, total) => onDoing(`trying the scoring: ${done} of ${plural(total, 'item')}`),
      });
    }),
  );

async function pullOne(name: string, flags: PullFlags, terminal: Terminal): Promise<void> {
  const { set: overrides, asPublished: isAsPublished, quiet, ...rest } = flags;
  const cwd = terminal.io.cwd();
  const pulled = await working({ quiet, stopped: 'Nothing was written.' }, terminal, (options) =>
    pullData(name, { ...rest, isAsPublished, overrides, cwd }, options),
  );
  const out = shownPath(pulled.out, cwd);
  terminal.answer({ ...pulled, out }, pullLines({ ...pulled, out, from: flags.from }, terminal));
}

type Shown = Pulled & { readonly out: string; readonly from: string };

function pullLines(pulled: Shown, { colors, width, called }: Terminal): string[] {
  const { out, from, counts, split, excluded, missing, unused, leaks, links, licence, dataSha256, benchmark } = pulled;
  const how =
    split.by === 'given' ? 'as they were given' : `drawn ${split.ratio} with seed ${split.seed}, ${BY[split.by]}`;
  return [
    ...wrap(`${countsText(counts)} in ${out}, ${how}`, width, '  '),
    ...wrap(colors.dim(`licence: ${licence}`), width, '  '),
    ...noteLines([...pulled.warnings, ...(links.length === 0 ? [] : [linksText(links)])], width, colors),
    ...emptyLines(counts, width, colors),
    ...(split.by === 'document' && emptySplits(counts).length > 0
      ? ['  → other shares: --ratio 4:3:3, or each item by itself: --split-by item']
      : []),
    ...itemLines('left out', excluded, width),
    ...(missing.length === 0 ? [] : wrap(missingText(missing), width, '  ')),
    ...(unused === 0 ? [] : [`unused: ${plural(unused, 'item')} of the data in no split`]),
    ...describeLeaks(leaks).flatMap((leak) => wrap(`${colors.yellow('leak')}  ${leak}`, width, '  ')),
    ...(leaks.length > 0 && split.by === 'given'
      ? [called(`  → no such leaks: skillopt bench pull ${benchmark} --from ${from} --out ${out} --split-by document`)]
      : []),
    colors.dim('sha256 of the items:'),
    colors.dim(`  ${dataSha256}`),
  ];
}

const emptySplits = (counts: Pulled['counts']) =>
  (['train', 'val', 'test'] as const).filter((name) => counts[name] === 0);

const emptyLines = (counts: Pulled['counts'], width: number, { yellow }: Terminal['colors']) =>
  emptySplits(counts).flatMap((name) =>
    wrap(`${yellow('empty')}  the ${name} split has no item: a run needs one`, width, '  '),
  );

const noteLines = (notes: readonly string[], width: number, { yellow }: Terminal['colors']) =>
  notes.flatMap((note) => wrap(`${yellow('note')}  ${note}`, width, '  '));

const linksText = (links: readonly string[]) =>
  `${plural(links.length, 'link')} to other files ${links.length === 1 ? 'is' : 'are'} left out: ${named(links)}. ${COPY_LINKS}`;

const missingText = (ids: readonly string[]) =>
  `missing  ${plural(ids.length, 'id')} of the splits ${ids.length === 1 ? 'is' : 'are'} not in the data: ${named(ids)}`;

const BY = { document: 'what belongs together in one split', item: 'each item by itself' } as const;

const countsText = ({ train, val, test }: Pulled['counts']) =>
  `${plural(train + val + test, 'item')}: ${count(train)} train, ${count(val)} val, ${count(test)} test`;

/** A line for each reason: where a program is missing, all items have the same one. */
const itemLines = (what: string, items: readonly Unscorable[], width: number) =>
  groupBy(items, ({ why }) => why).flatMap((same) => {
    const ids = named(same.map(({ id }) => id));
    const who = same.length === 1 ? ids : `${same.length} items (${ids})`;
    return wrap(`${what}  ${who}: ${oneLine(same[0]!.why)}`, width, '  ');
  });

const MOST_NAMED = 5;
const LONGEST_ID = 60;

const named = (ids: readonly string[]) =>
  nameSome(
    ids.map((id) => head(oneLine(id), LONGEST_ID)),
    MOST_NAMED,
  );

async function checkOne(name: string, flags: CheckFlags, terminal: Terminal): Promise<void> {
  const { set: overrides, quiet, data, config } = flags;
  const cwd = terminal.io.cwd();
  const found = await working({ quiet, stopped: 'Nothing was changed.' }, terminal, (options) =>
    checkData(name, { data, config, overrides, cwd }, options),
  );
  const { unscorable, givenAway, leaks, contradictions, flaws } = found;
  const faults = [unscorable, givenAway, leaks, contradictions, flaws];
  const isOk = found.tried > 0 && found.changed === undefined && faults.every((list) => list.length === 0);
  terminal.answer({ benchmark: name, isOk, ...found }, checkLines(found, isOk, terminal));
  if (!isOk) throw new Answered(1);
}

function checkLines(found: BenchmarkCheck, isOk: boolean, { colors, width }: Terminal): string[] {
  const { card, counts, published, tried, unscorable, givenAway, leaks, contradictions, flaws, warnings } = found;
  const all = counts.train + counts.val + counts.test;
  const rows = [
    ['benchmark', card.benchmark],
    ['items', `${countsText(counts)} (published: ${published.train}, ${published.val}, ${published.test})`],
    ['rule', card.rule],
    ['prompt', `sha256 ${card.promptSha256}`],
    ['data', `sha256 ${card.dataSha256}`],
    [
      'tried',
      `${tried - unscorable.length} of ${tried} right answers score 1${tried < all ? `; ${all - tried} items could not be tried` : ''}`,
    ],
  ];
  const { red, green } = colors;
  return [
    ...fitRows(rows.map(([what, text]) => `${what!.padEnd(10)}  ${text}`).join('\n'), width).split('\n'),
    ...noteLines(warnings, width, colors),
    ...emptyLines(counts, width, colors),
    ...itemLines(red('cannot be scored'), unscorable, width),
    ...itemLines(red('given away'), givenAway, width),
    ...(found.changed ? wrap(`${red('changed')}  ${found.changed}`, width, '  ') : []),
    ...flaws.flatMap(({ what, ids }) =>
      wrap(`${red('flaw')}  ${ids.length} of ${all} items ${what}: ${named(ids)}`, width, '  '),
    ),
    ...leaks.flatMap((leak) => wrap(`${red('leak')}  ${describeLeaks([leak])[0]}: ${named(leak.ids)}`, width, '  ')),
    ...contradictions.flatMap((ids) =>
      wrap(`${red('contradiction')}  ${named(ids)} ask the same and have other answers`, width, '  '),
    ),
    '',
    isOk
      ? green('Nothing stands against a number that is measured here.')
      : tried === 0
        ? 'No item could be tried, so nothing is known of how they are scored.'
        : 'A number that is measured here needs a word on the above.',
  ];
}
