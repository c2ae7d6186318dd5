import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { SkillError } from '../core/contracts/index.ts';
import type { ReportData } from '../core/page/index.ts';
import type { CompareReport } from '../report/index.ts';
import { orIfMissing, shownPath } from '../stores/index.ts';
import { readAssets, readIndex } from './page-files.ts';
import { comparisonData, type ReportLimits, reportData } from './report-data.ts';
import { readRange } from './run-files.ts';

export type ReportOptions = ReportLimits & {
  /** The file to write. One that is there and is no report is refused. */
  readonly out: string;
  /** Whether it is overwritten all the same. */
  readonly force?: boolean | undefined;
};

export type WrittenReport = {
  readonly out: string;
  readonly bytes: number;
  /** One sentence for each kind of thing that is left out. */
  readonly leftOut: readonly string[];
};

/** Writes a run as one HTML file, which opens from anywhere and sends no request. */
export async function writeReport(runPath: string, { out, force, ...limits }: ReportOptions): Promise<WrittenReport> {
  if (!force) await refuseForeign(out);
  return writePage(out, await reportData(runPath, limits));
}

/** The same for two skills on the same tasks. */
export const writeComparison = (report: CompareReport, out: string): Promise<WrittenReport> =>
  writePage(out, comparisonData(report, dirname(out)));

/** In the head of every report: by it we know our own. */
const MARK = '<meta name="generator" content="skillopt report">';
const HEAD_BYTES = 4_000;

/** Overwrites nothing but an earlier report: a typing error would cost a skill or its tasks. */
async function refuseForeign(out: string): Promise<void> {
  const head = await orIfMissing(readRange(out, 0, HEAD_BYTES), '');
  if (head === '' || head.includes(MARK)) return;
  throw new SkillError('USAGE', `${shownPath(out)} is there already, and is no report of skillopt`, {
    hint: 'Name another file, or force it to be overwritten.',
  });
}

async function writePage(out: string, data: ReportData): Promise<WrittenReport> {
  const html = await reportHtml(data);
  await writeFile(out, html);
  return { out, bytes: Buffer.byteLength(html), leftOut: data.leftOut };
}

/** Then the data is compressed: a browser unpacks it faster than it reads so much. */
const MOST_PLAIN = 5_000_000;

/** The page with its script, its style and its data inside. */
async function reportHtml(data: ReportData): Promise<string> {
  const [index, assets] = [await readIndex(), await readAssets()];
  const script = inlineScript(assets);
  const style = inlineText(assets, '.css').replaceAll('</style', '<\\/style');
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    ...['img-src data:', "base-uri 'none'", "form-action 'none'"],
  ].join('; ');
  return index
    .replaceAll(/<(?:script\b[^>]*\ssrc=[^>]*><\/script>|link\b[^>]*\srel="(?:stylesheet|modulepreload)"[^>]*>)/g, '')
    .replace('<head>', () => `<head>\n${MARK}\n<meta http-equiv="Content-Security-Policy" content="${policy}">`)
    .replace('</head>', () => `<style>${style}</style>\n</head>`)
    .replace('</body>', () => `${dataElement(data)}\n<script type="module">${script}</script>\n</body>`);
}

type Assets = readonly { readonly name: string; readonly text: string }[];

const inlineText = (assets: Assets, ending: string) =>
  assets
    .filter(({ name }) => name.endsWith(ending))
    .map(({ text }) => text)
    .join('\n');

function inlineScript(assets: Assets): string {
  const scripts = assets.filter(({ name }) => name.endsWith('.js'));
  if (scripts.length === 1) return scripts[0]!.text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
  throw new SkillError('USAGE', `the page must be built as one script, and has ${scripts.length}`, {
    hint: 'Build it again: npm run build',
  });
}

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** As text that cannot end the element that it stands in. */
function dataElement(data: ReportData): string {
  const json = JSON.stringify(data);
  const isLong = json.length > MOST_PLAIN;
  const text = isLong ? gzipSync(json).toString('base64') : json.replace(/[<\u2028\u2029]/g, escaped);
  return `<script type="application/json" id="skillopt-data"${isLong ? ' data-encoding="gzip"' : ''}>${text}</script>`;
}

const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
