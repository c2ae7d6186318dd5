import { z } from 'zod';
import { SkillError } from '../../core/contracts/index.ts';
import { PatchFields, type RawPatch, SourceType } from '../../core/document/index.ts';
import { toCamelCase } from '../../core/text/index.ts';

// Loose: what the shared analysts proposed passes through here too, with all it carries.
const Proposal = z.looseObject({
  patch: PatchFields.loose(),
  sourceType: SourceType,
  batchSize: z.number().int().positive().default(1),
});

/** What an adapter proposed, as a proposal, `null` as it is. Throws `ENV_INVALID`; `where` names it. */
export function toRawPatch(dict: unknown, where: string): RawPatch | null {
  if (dict == null) return null;
  const checked = Proposal.safeParse(toCamelCase(dict));
  if (checked.success) return checked.data;
  const problem = z.prettifyError(checked.error).replaceAll('\n', ' ');
  throw new SkillError('ENV_INVALID', `${where} is malformed: ${problem}`, {
    hint: 'A proposal is { patch: { edits: […] }, sourceType: "failure" or "success" }, or null.',
  });
}
