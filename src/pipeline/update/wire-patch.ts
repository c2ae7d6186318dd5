import { z } from 'zod';
import {
  EditOp,
  type EditPolicy,
  PackageOp,
  type Patch,
  SourceType,
  type UpdateItem,
  type UpdateMode,
} from '../../core/document/index.ts';
import { defined, isObject, memoize, toSnakeCase } from '../../core/text/index.ts';

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const count = z.coerce
  .number()
  .int()
  .nullish()
  .transform((value) => value ?? undefined)
  .catch(undefined);

/** Where a change comes from. Absent and null fields are common, and counts may come as text. */
const provenance = {
  supportCount: count,
  sourceType: SourceType.nullish()
    .transform((value) => value ?? undefined)
    .catch(undefined),
};

/** Lines about what changed. Models also write one line, or none. */
export const ChangeSummary = z
  .preprocess((value) => (Array.isArray(value) ? value : [value ?? '']), z.array(z.coerce.string()))
  .optional()
  .transform((lines = []) => lines.filter((line) => line !== ''));

const WireEdit = z.object({ op: EditOp, content: text, target: text, ...provenance });
const PackageEdit = z.object({ op: PackageOp, file: text, content: text, target: text, ...provenance });

const WireSuggestion = z
  .object({ type: text, title: text, instruction: text, ...provenance })
  .transform(({ type, title, instruction, ...rest }) => {
    return { op: 'suggest' as const, target: type === '' ? title : `${type}: ${title}`, content: instruction, ...rest };
  });

const WireCandidate = z
  .object({ title: text, newSkill: text, changeSummary: ChangeSummary, ...provenance })
  .transform(({ title, newSkill, ...rest }) => ({ op: 'rewrite' as const, target: title, content: newSkill, ...rest }));

const LIST_KEYS = {
  patch: 'edits',
  rewrite_from_suggestions: 'reviseSuggestions',
  full_rewrite_minibatch: 'skillCandidates',
};

/** A patch as models write it, in camelCase: its changes stand under a key of the update mode. */
const patchOf = (mode: UpdateMode, item: z.ZodType<UpdateItem>): z.ZodType<Patch> =>
  z.object({ reasoning: text, [LIST_KEYS[mode]]: z.array(item) }).transform((reply) => {
    const items = reply[LIST_KEYS[mode]] as UpdateItem[];
    return { reasoning: reply.reasoning as string, edits: items.filter(hasContent).map(withoutEmpty) };
  });

const wirePatch: Readonly<Record<UpdateMode, z.ZodType<Patch>>> = {
  patch: patchOf('patch', WireEdit),
  rewrite_from_suggestions: patchOf('rewrite_from_suggestions', WireSuggestion),
  full_rewrite_minibatch: patchOf('full_rewrite_minibatch', WireCandidate),
};
const packagePatch = patchOf('patch', PackageEdit);

/** Only edits of a package name files. */
export const patchSchema = (mode: UpdateMode, policy?: EditPolicy): z.ZodType<Patch> =>
  policy?.isPackage ? packagePatch : wirePatch[mode];

const FailureRow = z
  .object({ failureType: text, count, description: text, taskIds: z.array(z.coerce.string()).catch([]) })
  .catch({ failureType: '', count: undefined, description: '', taskIds: [] });

export type AnalystReply = {
  readonly patch: Patch;
  readonly failureSummary: readonly z.infer<typeof FailureRow>[];
  readonly appendixNotes: readonly string[];
};

/** What an analyst says. Its patch may stand under `patch` or at the top level; reminders alone are an answer too. */
export const analystReply = (mode: UpdateMode, policy?: EditPolicy): z.ZodType<AnalystReply> =>
  (policy?.isPackage ? packageReply : textReply)(mode);

/** Kept by mode: zod compiles each schema again. */
const replyWith = (schemaOf: (mode: UpdateMode) => z.ZodType<Patch>) =>
  memoize((mode: UpdateMode): z.ZodType<AnalystReply> => {
    const shape = z.object({
      batchSize: count, // not read, but a provider that is sent a schema allows no other fields
      failureSummary: list(FailureRow),
      successPatterns: list(z.string()),
      patch: schemaOf(mode),
      appendixNotes: list(z.string()),
    });
    return z.preprocess((value) => (isObject(value) ? withPatch(withNotes(value), mode) : value), shape);
  });

const textReply = replyWith((mode) => wirePatch[mode]);
const packageReply = replyWith(() => packagePatch);

const list = <Entry extends z.ZodType>(entry: Entry) =>
  z
    .array(entry)
    .nullish()
    .transform((value) => value ?? [])
    .catch([]);

type RawReply = Readonly<Record<string, unknown>>;

function withPatch(reply: RawReply, mode: UpdateMode): RawReply {
  if ('patch' in reply) return reply;
  if (LIST_KEYS[mode] in reply) return { ...reply, patch: reply };
  const nothing = { reasoning: '', [LIST_KEYS[mode]]: [] };
  return Array.isArray(reply.appendixNotes) ? { ...reply, patch: nothing } : reply;
}

/** Models write a list of texts, one text, or objects with a `note` or `content`. */
function withNotes({ appendixNotes, ...reply }: RawReply): RawReply {
  if (appendixNotes === undefined || appendixNotes === null) return reply;
  const notes = Array.isArray(appendixNotes) ? appendixNotes : [appendixNotes];
  return { ...reply, appendixNotes: notes.map(noteOf).filter((note) => note !== '') };
}

/** An item in the words in which models are asked to answer. */
export function toWireItem({ op, target, content, ...rest }: UpdateItem): unknown {
  if (op === 'suggest') return toSnakeCase({ ...typeAndTitle(target), instruction: content, ...rest });
  if (op === 'rewrite') return toSnakeCase({ title: target, newSkill: content, ...rest });
  return toSnakeCase({ op, target, content, ...rest });
}

function typeAndTitle(target: string) {
  const [, type, title] = /^(\w+): (.*)$/s.exec(target) ?? [];
  return type === undefined ? { title: target } : { type, title };
}

export const toWirePatch = ({ reasoning, edits }: Patch, mode: UpdateMode) =>
  toSnakeCase({ reasoning, [LIST_KEYS[mode]]: edits.map(toWireItem) });

/** A suggestion or a document without text is none. An edit without content may be a deletion. */
const hasContent = ({ op, content }: UpdateItem) => (op !== 'suggest' && op !== 'rewrite') || content.trim() !== '';

function noteOf(value: unknown): string {
  if (typeof value === 'string') return value.trim();
  const { note, content } = (value ?? {}) as Record<string, unknown>;
  const text = note ?? content;
  return typeof text === 'string' ? text.trim() : '';
}

function withoutEmpty({ changeSummary = [], file = '', ...rest }: UpdateItem): UpdateItem {
  const summary = changeSummary.length > 0 ? { changeSummary } : {};
  return { ...defined(rest), ...(file === '' ? {} : { file }), ...summary };
}
