import { extname } from 'node:path';
import { z } from 'zod';
import { type ChatImage, type RolloutContext, type RolloutOutput, SkillError } from '../../core/contracts/index.ts';
import { clip, strip } from '../../core/text/index.ts';
import { itemId, loadItems, type Row } from '../../imports/index.ts';
import { answeredOnce, anyOf, ask, firstMessages, MOST_OUTPUT_TOKENS } from '../ask.ts';
import type { Benchmark, RowReader } from '../benchmark.ts';
import type { DataFiles } from '../data/data-files.ts';
import { inSplitOf, rowFiles } from '../data/find-rows.ts';
import { answerIn, scoreAnls } from './anls.ts';
import { readImage } from './image.ts';
import { packedRows } from './packed-rows.ts';
import { readRow } from './read-row.ts';

const FILLED = 'must be non-empty text';
const filledText = z.string(FILLED).refine((text) => strip(text) !== '', FILLED);

/** The distance of two texts costs the product of their lengths. */
const LONGEST_ANSWER = 4_000;
const LONGEST_ANSWERS = 20_000;
const ANSWERS = 'must be a list of at least one answer';
const SHORT_ANSWERS = `may hold ${LONGEST_ANSWERS} characters together`;

const DocVqaItem = z.object(
  {
    id: itemId,
    question: filledText,
    answers: z
      .array(filledText.max(LONGEST_ANSWER, `must have at most ${LONGEST_ANSWER} characters`), ANSWERS)
      .min(1, ANSWERS)
      .refine((answers) => answers.join('').length <= LONGEST_ANSWERS, SHORT_ANSWERS),
    /** The name below the folders of the data. */
    image: filledText,
    imageSha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal'),
    /** The document that the page is of. */
    document: filledText.optional(),
    page: filledText.optional(),
    taskType: filledText.optional(),
  },
  'must be an object',
);
/** A question about a page of a document. */
type DocVqaItem = z.infer<typeof DocVqaItem>;

const Settings = z.object({
  maxCompletionTokens: z.coerce.number().int().positive().default(MOST_OUTPUT_TOKENS),
  /** How closely the model looks. `auto` leaves it to the provider. */
  imageDetail: z
    .preprocess(
      (word) => (typeof word === 'string' ? strip(word).toLowerCase() : word),
      z.enum(['auto', 'low', 'high']),
    )
    .default('auto'),
});
type Settings = z.output<typeof Settings>;

const RULES = `You are shown a page of a document as an image, and asked about it. Pages are typed, printed or written by hand, and
some were scanned badly. Find the place that answers the question, and read it closely.
End with the answer in <answer></answer>: as it stands on the page, with its digits, signs and units, and nothing around it.
Only what stands between these tags is graded, letter by letter; case does not count.`;

export const docvqa: Benchmark<DocVqaItem, Settings> = {
  name: 'docvqa',
  title: 'DocVQA: questions about pages of documents, shown as images',
  source: {
    get: [
      'Get the validation files of lmms-lab/DocVQA from its hub (Parquet: DocVQA/validation-*.parquet, about 1 GB).',
      'Or take the CSV splits that you made for SkillOpt, with the images that they name.',
    ],
    licence: 'cards say Apache-2.0 or MIT, the challenge has terms of its own: treat it as not to be passed on',
  },
  published: { train: 107, val: 53, test: 374 },
  initialSkill: `# Questions about pages of documents

- Answer with what the page shows, not with what is usual.
- Copy the shortest piece of the page that answers: a name, a number, a date, a line.
`,
  settings: Settings,
  item: DocVqaItem,
  hint: 'An item is {"id": "…", "question": "…", "answers": ["…"], "image": "images/page.png"}; the image lies below the folder of the data, or below dataRoot.',
  readRow,
  findRows,
  // If no document is named, questions about one image are still about one page.
  groupsOf: ({ document, page, imageSha256 }) => [
    ...(document === undefined ? [] : [`document ${document}`]),
    page === undefined ? `image ${imageSha256}` : `page ${page}`,
  ],
  questionOf: ({ question, imageSha256 }) => `${question}\n${imageSha256}`,
  goldOf: ({ answers }) => [...answers].sort().join(' | '),
  open: ({ settings, files }) => ({
    rule: 'ANLS of at least 0.999 (hard), ANLS (soft)',
    version: `1, image detail ${settings.imageDetail}, output ${settings.maxCompletionTokens}`,
    prompt: RULES,
    needsImages: true,
    attempt: (context) => attempt(context, { settings, files }),
    probe: ({ answers }) => ({
      right: Math.min(...answers.map((gold) => scoreReply(`<answer>${gold}</answer>`, answers).hard)),
      nothing: scoreReply('', answers).hard,
    }),
  }),
};

/** Beside Parquet files, other files are copies or lists of them. Upstream keeps the answers of the test questions secret. */
async function findRows({ files }: RowReader): Promise<readonly Row[]> {
  const names = await rowFiles(files);
  const packed = names.filter((name) => extname(name).toLowerCase() === '.parquet');
  const rows: Row[] = [];
  for (const name of packed.length > 0 ? packed : names) {
    const path = await files.pathOf(name);
    rows.push(...inSplitOf(name, packed.length > 0 ? await packedRows(path) : await loadItems(path)));
  }
  return rows.filter(({ value }) => (value as { data_split?: unknown } | null)?.data_split !== 'test');
}

/** An answer with this score is right: the rest is rounding. */
const RIGHT = 0.999;

function scoreReply(reply: string, golds: readonly string[]) {
  const predictedAnswer = answerIn(reply);
  const soft = scoreAnls(predictedAnswer, golds);
  return { hard: soft >= RIGHT ? 1 : 0, soft, predictedAnswer };
}

type Place = { readonly settings: Settings; readonly files: DataFiles };

const SHOWN = 500;

async function attempt(
  { item, skill, target, signal }: RolloutContext<DocVqaItem>,
  { settings: { imageDetail, maxCompletionTokens: maxOutputTokens }, files }: Place,
): Promise<RolloutOutput> {
  const { question, answers } = item;
  const image = await chatImage(item, files);
  const images = [imageDetail === 'auto' ? image : { ...image, detail: imageDetail }];
  const messages = firstMessages(skill, { rules: RULES, question, images });
  const reply = await ask(messages, { target, signal, maxOutputTokens });
  const { predictedAnswer, ...score } = scoreReply(reply.text, answers);
  const asked = { role: 'user', content: `${question}\n\n[the page as an image: ${item.image}]` } as const;
  return answeredOnce({
    ...{ question, messages: [asked], reply, score, predictedAnswer },
    referenceText: answers.join(' | '),
    expected: clip(anyOf(answers), SHOWN),
    got: `${clip(JSON.stringify(predictedAnswer), SHOWN)}, ANLS ${score.soft.toFixed(2)}`,
  });
}

/** Throws if the image has changed since the items were read: scores are kept under its old content. */
async function chatImage({ id, image, imageSha256 }: DocVqaItem, files: DataFiles): Promise<ChatImage> {
  const hint = 'Put the image back, or pull the data again: skillopt bench pull docvqa';
  const failed = (problem: string) => new SkillError('TASKS_INVALID', `docvqa: item ${id}: ${problem}`, { hint });
  const { bytes, mediaType, sha256 } = await readImage(files, image).catch((error: Error) =>
    Promise.reject(failed(error.message)),
  );
  if (sha256 !== imageSha256) throw failed(`the image ${image} has changed since the items were read`);
  return { mediaType, base64: Buffer.from(bytes).toString('base64') };
}
