import type { Patch, UpdateItem } from '../core/edit.ts';
import { isSaidIn } from '../core/is-said.ts';

type Repeated = Pick<UpdateItem, 'op' | 'target' | 'content'>;
type News = { readonly patch: Patch; readonly repeats?: readonly Repeated[] };

/** The patch without edits that add what the skill, or an edit before them, says already. */
export function withoutRepeats(patch: Patch, skill: string): News {
  const repeats: Repeated[] = [];
  let said = skill;
  const edits = patch.edits.filter(({ op, target, content }) => {
    if (op !== 'append' && op !== 'insert_after' && op !== 'replace') return true;
    const rest = op === 'replace' && target !== '' ? said.replace(target, () => '') : said;
    if (isSaidIn(rest, content)) {
      repeats.push({ op, target, content });
      return false;
    }
    said = `${said}\n\n${content}`;
    return true;
  });
  return { patch: { ...patch, edits }, ...(repeats.length > 0 ? { repeats } : {}) };
}
